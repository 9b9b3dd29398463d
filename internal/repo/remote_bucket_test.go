package repo

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/oxy-vcs/oxy/internal/s3/s3test"
)

// bucketServer is a store in this process, with a bucket called team. through may stand before it.
func bucketServer(t testing.TB, through func(http.Handler) http.Handler) string {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("team"); err != nil {
		t.Fatal(err)
	}
	h := gofakes3.New(backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server()
	if through != nil {
		h = through(h)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// bucketEnv is syncEnv with a key for a store.
func bucketEnv(t *testing.T, endpoint string) Options {
	opt := syncEnv(t)
	plain := opt.Env
	opt.Env = func(k string) string {
		switch k {
		case "AWS_ACCESS_KEY_ID":
			return s3test.ID
		case "AWS_SECRET_ACCESS_KEY":
			return s3test.Secret
		case "AWS_REGION":
			return s3test.Region
		case "AWS_ENDPOINT_URL":
			return endpoint
		}
		return plain(k)
	}
	return opt
}

const bucketAddress = "s3://team/project"

func cloneBucket(t *testing.T, opt Options, name string) *site {
	t.Helper()
	r, _, err := Clone(context.Background(), bucketAddress, filepath.Join(t.TempDir(), name), opt, SyncOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return &site{t, r}
}

func TestBucket(t *testing.T) { bucketDay(t, bucketEnv(t, bucketServer(t, nil))) }

// TestBucketRealServer is TestBucket with a server that others run in earnest.
func TestBucketRealServer(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "team"), 0o755); err != nil {
		t.Fatal(err)
	}
	bucketDay(t, bucketEnv(t, s3test.Real(t, dir)))
}

// bucketDay has two people push and pull by turns.
func bucketDay(t *testing.T, opt Options) {
	t.Helper()
	a := newSite(t, "a", opt)
	if err := a.AddRemote(Origin, bucketAddress, a.root); err != nil {
		t.Fatal(err)
	}
	a.put("code", "1\n2\n3\n4\n5\n6\n7\n8\n9\n")
	a.put("dir/notes", "notes\n")
	a.put("large", string(make([]byte, 20_000)))
	a.record("Begin")
	if res := must(a.push())(t); res.Sent != 1 || !res.Refs[0].Fresh || res.Refs[0].Refused != "" {
		t.Fatalf("%+v", res)
	}
	b := cloneBucket(t, opt, "b")
	b.same(a)
	if res := must(a.push())(t); !res.Refs[0].Same {
		t.Errorf("%+v", res)
	}
	// Enough pushes that packs are merged, by turns, each pulling what the other pushed.
	for i := range 40 {
		from, to := a, b
		if i%2 == 1 {
			from, to = b, a
		}
		from.put(fmt.Sprintf("dir/file%d", i%5), fmt.Sprintf("%d\n", i))
		from.record(fmt.Sprintf("Change %d", i))
		if i%3 == 2 {
			from.put("code", fmt.Sprintf("%d\n2\n3\n4\n5\n6\n7\n8\n9\n", i))
			from.record("And another")
		}
		if res := must(from.push())(t); res.Refs[0].Refused != "" {
			t.Fatalf("push %d: %+v", i, res.Refs[0])
		}
		to.pull()
		to.same(from)
	}
	cloneBucket(t, opt, "c").same(a)

	// Who is behind is told to pull.
	a.put("code", "one\n2\n3\n4\n5\n6\n7\n8\n9\n")
	a.record("One")
	must(a.push())(t)
	b.put("dir/notes", "more notes\n")
	b.record("Notes")
	if res := must(b.push())(t); !res.Refs[0].Pull || res.Refs[0].Refused == "" {
		t.Errorf("%+v", res.Refs[0])
	}
	b.pull()
	if res := must(b.push())(t); res.Refs[0].Refused != "" {
		t.Errorf("%+v", res.Refs[0])
	}
	a.pull()
	a.same(b)
	a.sound()
	b.sound()
}
