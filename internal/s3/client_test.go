package s3

import (
	"bytes"
	"errors"
	"net/http"
	"slices"
	"strings"
	gosync "sync"
	"testing"
	"time"
)

func TestObjects(t *testing.T) {
	objects(t, testClient(t, server(t, nil), nil))
}

// objects is what every store has to do.
func objects(t *testing.T, c *Client) {
	t.Helper()
	if _, _, err := c.Whole(background, "missing", 10); !errors.Is(err, ErrNotFound) {
		t.Errorf("a missing object: %v", err)
	}
	data := bytes.Repeat([]byte("0123456789"), 100)
	keys := []string{"a", "dir/b", "dir/with space+plus&and=more", "dir/ü/~.-_", "dir/*!'()$,;:@"}
	for _, key := range keys {
		put, err := c.Put(background, key, data)
		if err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		got, info, err := c.Whole(background, key, 1000)
		if err != nil || !bytes.Equal(got, data) || info.ETag == "" || info.ETag != put.ETag || time.Since(info.Date).Abs() > time.Hour {
			t.Errorf("%s: %d bytes, %+v, %v", key, len(got), info, err)
		}
	}
	if _, _, err := c.Whole(background, "a", 999); !errors.Is(err, ErrTooLarge) {
		t.Errorf("an object of 1000 bytes: %v", err)
	}
	for _, r := range [][2]int64{{0, 1}, {0, 1000}, {999, 1}, {7, 100}} {
		if got, _, err := c.Range(background, "a", r[0], r[1]); err != nil || !bytes.Equal(got, data[r[0]:r[0]+r[1]]) {
			t.Errorf("from %d, %d bytes: %d bytes, %v", r[0], r[1], len(got), err)
		}
	}
	if _, _, err := c.Range(background, "a", 999, 2); err == nil {
		t.Error("more than there is was read")
	}
	listed, err := c.List(background, "dir/")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, l := range listed {
		names = append(names, l.Key)
		if l.Size != 1000 || time.Since(l.Modified).Abs() > time.Hour {
			t.Errorf("%+v", l)
		}
	}
	if slices.Sort(names); !slices.Equal(names, slices.Sorted(slices.Values(keys[1:]))) {
		t.Errorf("%q", names)
	}
	for range 2 { // what is not there is deleted as well
		if err := c.Delete(background, "dir/b", keys[2]); err != nil {
			t.Error(err)
		}
	}
	for _, key := range []string{"dir/b", keys[2]} {
		if _, _, err := c.Whole(background, key, 1000); !errors.Is(err, ErrNotFound) {
			t.Errorf("a deleted object: %v", err)
		}
	}
	if listed, err := c.List(background, ""); err != nil || len(listed) != len(keys)-2 {
		t.Errorf("%d objects are left, %v", len(listed), err)
	}
	conditions(t, c)
}

func conditions(t *testing.T, c *Client) {
	t.Helper()
	one, err := c.PutIf(background, "root", []byte("1"), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, etag := range []string{"", `"00000000000000000000000000000000"`} {
		if _, err := c.PutIf(background, "root", []byte("x"), etag); !errors.Is(err, ErrCondition) {
			t.Errorf("if %q: %v", etag, err)
		}
	}
	if _, err := c.PutIf(background, "nothing", []byte("x"), one.ETag); !errors.Is(err, ErrCondition) {
		t.Errorf("in place of nothing: %v", err)
	}
	two, err := c.PutIf(background, "root", []byte("2"), one.ETag)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.PutIf(background, "root", []byte("x"), one.ETag); !errors.Is(err, ErrCondition) {
		t.Errorf("in place of the first: %v", err)
	}
	if got, info, err := c.Whole(background, "root", 10); err != nil || string(got) != "2" || info.ETag != two.ETag {
		t.Errorf("%q %+v %v", got, info, err)
	}
	// Of many writers one wins.
	var wg gosync.WaitGroup
	var mu gosync.Mutex
	won := 0
	for range 16 {
		wg.Go(func() {
			_, err := c.PutIf(background, "root", []byte("3"), two.ETag)
			if err != nil && !errors.Is(err, ErrCondition) {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won++
			}
		})
	}
	wg.Wait()
	if won != 1 {
		t.Errorf("%d won", won)
	}
}

func TestWho(t *testing.T) {
	url := server(t, nil)
	for name, change := range map[string]func(*Config){
		"a wrong secret": func(c *Config) { c.Credentials = NewCredentials(testID, "wrong", "") },
		"another":        func(c *Config) { c.Credentials = NewCredentials("eve", testSecret, "") },
		"nobody":         func(c *Config) { c.Credentials = Credentials{} },
		"elsewhere":      func(c *Config) { c.Region = "us-west-2" },
	} {
		if _, _, err := testClient(t, url, change).Whole(background, "a", 10); !errors.Is(err, ErrDenied) {
			t.Errorf("%s: %v", name, err)
		}
	}
	token := testClient(t, url, func(c *Config) { c.Credentials = NewCredentials(testID, testSecret, "for a while") })
	if _, err := token.Put(background, "a", nil); err != nil {
		t.Error(err)
	}
	seen := ""
	see := func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			seen = r.Host + r.URL.Path + " " + r.Header.Get("X-Amz-Security-Token") + r.Header.Get("Authorization")
			w.Header().Set("ETag", `"1"`)
		})
	}
	nobody := testClient(t, server(t, see), func(c *Config) { c.Credentials = Credentials{} })
	if _, _, err := nobody.Whole(background, "a", 10); err != nil || !strings.HasSuffix(seen, "/team/a ") {
		t.Errorf("%q %v", seen, err)
	}
}

// TestVirtual: with the bucket in the host's name it is no part of the path.
func TestVirtual(t *testing.T) {
	seen := ""
	c := testClient(t, "http://store.example:81/", func(c *Config) {
		c.Virtual = true
		c.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			seen = r.URL.String()
			return answer(r, 200, "", nil), nil
		})
	})
	if _, _, err := c.Whole(background, "dir/a b", 10); err != nil || seen != "http://team.store.example:81/dir/a%20b" {
		t.Errorf("%s %v", seen, err)
	}
	c, err := New(Config{Bucket: "team", Region: "eu-west-3", Virtual: true})
	if err != nil || c.base.String() != "https://team.s3.eu-west-3.amazonaws.com" {
		t.Errorf("%v %v", c.base, err)
	}
	for _, bad := range []string{"store", "ftp://store", "http://", "http://ada:engine@store", "http://store?a=b", "http://store#a", "http://st ore"} {
		if _, err := New(Config{Bucket: "team", Endpoint: bad}); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}
