package cli

import (
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/rogpeppe/go-internal/testscript"
)

// storyStore starts object storage with the buckets that are named, for whoever has the key ada or build. STORE is its address.
func storyStore(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: store BUCKET...")
	}
	backend := s3mem.New()
	for _, name := range args {
		ts.Check(backend.CreateBucket(name))
	}
	h := gofakes3.New(backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, _, _ := strings.Cut(strings.TrimPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential="), "/")
		if who != "ada" && (who != "build" || r.Header.Get("X-Amz-Security-Token") == "") {
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte("<Error><Code>AccessDenied</Code><Message>Access Denied.</Message></Error>"))
			return
		}
		h.ServeHTTP(w, r)
	}))
	ts.Defer(s.Close)
	ts.Setenv("STORE", s.URL)
}
