package bucket

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	gosync "sync"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/sync"
)

func signedBy(n int) sync.Signed {
	s := sync.Signed{Change: change.ID{byte(n), byte(n >> 8)}}
	s.Entry.Kind, s.Entry.Bytes = 9, []byte("someone")
	return s
}

func give(ctx context.Context, p sync.Peer, list ...sync.Signed) (given *sync.Given, err error) {
	err = p.Do(ctx, func(w *sync.Writer) error { return w.Request(&sync.Request{Verb: sync.GiveSigned, Signed: list}) },
		func(r *sync.Reader) error {
			if err := r.Reply(); err != nil {
				return err
			}
			given, err = r.Given(len(list))
			return err
		})
	return given, err
}

func marked(ctx context.Context, p sync.Peer) (l sync.Listing, err error) {
	err = p.Do(ctx, func(w *sync.Writer) error { return w.Request(&sync.Request{Verb: sync.List, Marked: true}) },
		func(r *sync.Reader) error {
			if err := r.Reply(); err != nil {
				return err
			}
			l, err = r.Listing()
			return err
		})
	return l, err
}

// signedThere reads all signatures of a bucket, as who has none.
func signedThere(t *testing.T, s Store) (n int) {
	t.Helper()
	ctx := context.Background()
	_, peer := newClient(s).dial(ctx)
	defer peer.Close()
	_, theirs, err := sync.NewIDSet(nil).Apart(func(say []sync.Range) (answers []sync.Range, err error) {
		err = peer.Do(ctx, func(w *sync.Writer) error { return w.Request(&sync.Request{Verb: sync.SignedSets, Ranges: say}) }, func(r *sync.Reader) error {
			if err := r.Reply(); err != nil {
				return err
			}
			answers, err = r.RangesReply()
			return err
		})
		return answers, err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = peer.Do(ctx, func(w *sync.Writer) error { return w.Request(&sync.Request{Verb: sync.TakeSigned, IDs: theirs}) }, func(r *sync.Reader) error {
		if err := r.Reply(); err != nil {
			return err
		}
		list, err := r.SignedList()
		n = len(list)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// begun is a bucket with one change.
func begun(t *testing.T) *memory {
	t.Helper()
	m := newMemory()
	if a, err := newClient(m).push(context.Background(), pushOne{kind: sync.Bookmark, name: "main", log: []change.ID{newChange("first")}}); err != nil || !a[0].Done {
		t.Fatal(a, err)
	}
	return m
}

// Signatures are added, none is lost to who adds others at the same time, and the root tells of them.
func TestSignaturesOfABucket(t *testing.T) {
	ctx := context.Background()
	empty := newMemory()
	_, peer := newClient(empty).dial(ctx)
	if given, err := give(ctx, peer, signedBy(1)); err != nil || given.Has[0] || len(empty.objects) > 0 {
		t.Errorf("where nothing is: %+v, %v, %d objects", given, err, len(empty.objects))
	}
	_ = peer.Close()

	m := begun(t)
	var wg gosync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			_, peer := newClient(m).dial(ctx)
			defer peer.Close()
			for k := range 5 {
				if given, err := give(ctx, peer, signedBy(i*5+k), signedBy(99)); err != nil || slices.Contains(given.Has, false) {
					t.Errorf("%+v, %v", given, err)
				}
				if _, err := list(ctx, peer); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := signedThere(t, m); n != 31 {
		t.Errorf("%d signatures of 31", n)
	}

	// Who lists reads the root alone; what is there already is written by nobody.
	_, peer = newClient(m).dial(ctx)
	defer peer.Close()
	m.log = nil
	was, err := marked(ctx, peer)
	if err != nil || was.Mark == nil || !slices.Equal(m.log, []string{"GET project/root"}) {
		t.Errorf("%+v, %v: %v", was, err, m.log)
	}
	given, err := give(ctx, peer, signedBy(3))
	if err != nil || given.Before != given.After || given.Before != *was.Mark || slices.ContainsFunc(m.log, func(s string) bool { return strings.HasPrefix(s, "PUT") }) {
		t.Errorf("%+v, %v: %v", given, err, m.log)
	}
	given, err = give(ctx, peer, signedBy(200))
	if err != nil || given.Before != *was.Mark || given.After == given.Before {
		t.Errorf("%+v, %v", given, err)
	}
	if now, err := marked(ctx, peer); err != nil || *now.Mark != given.After {
		t.Errorf("%+v, %v", now, err)
	}
	// A push after it is told by the root that it listed.
	if a, err := newClient(m).push(ctx, pushOne{kind: sync.Bookmark, name: "other", log: []change.ID{newChange("other")}}); err != nil || !a[0].Done {
		t.Error(a, err)
	}
}

// Each request may be lost, before it is done and after: what was said to be there is there, and the bucket can be read.
func TestSignaturesOfABucketAndFaults(t *testing.T) {
	ctx := context.Background()
	whole := begun(t)
	for n := range 12 {
		for _, f := range []fault{before, after} {
			t.Run(fmt.Sprint(n, f), func(t *testing.T) {
				m := whole.copy()
				m.fault = func(i int) fault {
					if i == n {
						return f
					}
					return none
				}
				_, peer := newClient(m).dial(ctx)
				given, err := give(ctx, peer, signedBy(1), signedBy(2))
				_ = peer.Close()
				m.fault = func(int) fault { return none }
				there := signedThere(t, m)
				if err == nil && (slices.Contains(given.Has, false) || there != 2) {
					t.Errorf("%+v, %d are there", given, there)
				}
				if _, err := DecodeRoot(m.objects["project/root"].data); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// FuzzSignatures: the object of a bucket that anybody may have written.
func FuzzSignatures(f *testing.F) {
	b, err := encodeSignatures([]sync.Signed{signedBy(1), signedBy(2)})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := decodeSignatures(b)
		if err != nil {
			return
		}
		again, err := encodeSignatures(list)
		if err != nil {
			t.Fatal(err)
		}
		back, err := decodeSignatures(again)
		if err != nil || len(back) != len(list) || len(list) > 0 && !bytes.Equal(back[0].Append(nil), list[0].Append(nil)) {
			t.Error("another list comes back")
		}
	})
}
