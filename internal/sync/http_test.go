package sync

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// TestSilentServer: a server that begins to answer and says nothing more is given up.
func TestSilentServer(t *testing.T) {
	done := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out, _ := NewWriter(w, Raw)
		_ = out.Reply()
		_ = http.NewResponseController(w).Flush()
		<-done
	}))
	defer s.Close()
	defer close(done)
	a, err := ParseAddress(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	p, err := DialHTTP(a, HTTPClient{Idle: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	err = p.Do(context.Background(), func(w *Writer) error { return w.Request(&Request{Verb: List}) }, func(in *Reader) error {
		if err := in.Reply(); err != nil {
			return err
		}
		_, err := in.Refs()
		return err
	})
	if !errors.Is(err, ErrCut) {
		t.Errorf("%v", err)
	}
}
