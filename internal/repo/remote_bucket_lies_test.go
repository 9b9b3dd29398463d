package repo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// TestBucketLies alters objects of a bucket, and has somebody pull from it who knows a part. Whatever it says, they have what they had, or what was pushed; and can
// pull from an honest one after.
func TestBucketLies(t *testing.T) {
	url := bucketServer(t, nil)
	opt := bucketEnv(t, url)
	a := newSite(t, "a", opt)
	if err := a.AddRemote(Origin, bucketAddress, a.root); err != nil {
		t.Fatal(err)
	}
	a.put("code", "1\n2\n3\n")
	a.record("Begin")
	must(a.push())(t)
	b := cloneBucket(t, opt, "b")
	old := b.mainID()
	for i := range 4 {
		a.put("code", fmt.Sprintf("%d\n2\n3\n", i))
		a.put(fmt.Sprint("file", i), strings.Repeat(fmt.Sprintln("line", i), 900*i))
		a.record(fmt.Sprint("Change ", i))
		must(a.push())(t)
	}
	ctx := context.Background()
	list, err := bucketClient(t, url, nil).List(ctx, "project/")
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(11, 1))
	took, refused := 0, 0
	for i := range 40 {
		url := copyBucket(t, url)
		c := bucketClient(t, url, nil)
		name := list[i%len(list)].Key
		data, _, err := c.Whole(ctx, name, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		what := ""
		switch data = slices.Clone(data); i / len(list) % 5 {
		case 0:
			what = "flipped"
			data[rnd.IntN(len(data))] ^= 1 << rnd.IntN(8)
		case 1:
			what = "cut"
			data = data[:rnd.IntN(len(data))]
		case 2:
			what = "another"
			data, _, err = c.Whole(ctx, list[rnd.IntN(len(list))].Key, 1<<20)
		case 3:
			what = "noise"
			for i := range data {
				data[i] = byte(rnd.Uint32())
			}
		case 4:
			what = "lost"
			err = c.Delete(ctx, name)
			data = nil
		}
		if err == nil && data != nil {
			_, err = c.Put(ctx, name, data)
		}
		if err != nil {
			t.Fatal(err)
		}
		s := copyRepo(t, b.root, opt)
		l := s.through(url, http.DefaultTransport)
		err = errors.Join(s.pullThrough(l), l.Close())
		switch id := s.mainID(); {
		case id == a.mainID():
			took++
		case id == old:
			refused++
		default:
			t.Errorf("%s %s: main is something else (%v)", name, what, err)
		}
		s.sound()
		l = s.through(bucketServerOf(opt), http.DefaultTransport)
		if err := errors.Join(s.pullThrough(l), l.Close()); err != nil || s.mainID() != a.mainID() {
			t.Errorf("%s %s: and then an honest one: %v", name, what, err)
		}
	}
	t.Logf("%d were refused, %d did not matter", refused, took)
	if refused < 15 {
		t.Errorf("%d were refused", refused)
	}
}

// bucketServerOf is where an environment says that the store is.
func bucketServerOf(opt Options) string { return opt.Env("AWS_ENDPOINT_URL") }
