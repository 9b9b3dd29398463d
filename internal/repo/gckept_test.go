package repo

import (
	"context"
	"strings"
	"testing"
)

// Where a remote's bookmarks were stays right through dropping; what gc does not know keeps it from dropping anything.
func TestDroppingKeepsWhatViewsKeep(t *testing.T) {
	w := strayed(t, 2)
	var ids []string
	w.with(t, func(r *Repo) error {
		base, err := r.Base()
		check(t, err)
		older, err := r.ResolveState("@~1")
		check(t, err)
		for _, s := range []StateRef{base, older} {
			ids = append(ids, string(s.ID[:]))
		}
		_, err = transact(r, func(t *tx) (struct{}, error) {
			t.track("origin", "main", base)
			t.track("origin", "older", older)
			return struct{}{}, t.commit("fetch")
		})
		check(t, err)
		im, err := r.NewImporter(context.Background())
		check(t, err)
		check(t, im.Keep(keptGitRefs, []byte("refs of Git")))
		check(t, im.Commit("git import"))
		return im.Close()
	})
	res, err := gcWith(t, w.mem, GCOptions{Prune: true})
	check(t, err)
	if !res.Dropped.Any() {
		t.Errorf("%+v", res)
	}
	w.with(t, func(r *Repo) error {
		list, err := r.Tracking()
		check(t, err)
		if len(list) != 2 || string(list[0].State.ID[:]) != ids[0] || string(list[1].State.ID[:]) != ids[1] {
			t.Errorf("%+v", list)
		}
		b, err := r.Kept(keptGitRefs)
		if string(b) != "refs of Git" {
			t.Errorf("%q", b)
		}
		return err
	})
	fine(t, w.mem)
	put(t, w.mem, "a", "replaced\n")
	w.commit(t, "more")
	w.with(t, func(r *Repo) error { return undo(context.Background(), r) })
	w.with(t, func(r *Repo) error {
		im, err := r.NewImporter(context.Background())
		check(t, err)
		check(t, im.Keep("of a later oxy", []byte("numbers")))
		check(t, im.Commit("git export"))
		return im.Close()
	})
	res, err = gcWith(t, w.mem, GCOptions{Prune: true})
	check(t, err)
	if res.Dropped.Any() || !strings.Contains(res.Why, "of a later oxy") {
		t.Errorf("%+v", res)
	}
	fine(t, w.mem)
}

// What an export of an earlier oxy kept, by numbers, ends dropping; not once it is kept otherwise, whatever the operations before have.
func TestWhatWasGivenToGitByNumbers(t *testing.T) {
	w := settled(t)
	export := func(fn func(im *Importer) error) {
		w.with(t, func(r *Repo) error {
			im, err := r.NewImporter(context.Background())
			check(t, err)
			check(t, fn(im))
			check(t, im.Commit("git export"))
			return im.Close()
		})
	}
	export(func(im *Importer) error { return im.Keep(keptGitExported, []byte("numbers")) })
	put(t, w.mem, "a", "stray\n")
	w.commit(t, "stray")
	w.with(t, func(r *Repo) error {
		_, err := r.Unrecord(context.Background(), []string{"main"}, UnrecordOptions{})
		return err
	})
	res, err := gcWith(t, w.mem, GCOptions{Prune: true})
	check(t, err)
	if res.Dropped.Any() || !strings.Contains(res.Why, "export once more") {
		t.Errorf("%+v", res)
	}
	export(func(im *Importer) error {
		im.KeepNone(keptGitExported)
		return im.Keep(keptGitGiven, []byte("ids"))
	})
	put(t, w.mem, "d/b", "since\n")
	w.commit(t, "since")
	res, err = gcWith(t, w.mem, GCOptions{Prune: true})
	check(t, err)
	if res.Dropped.Changes != 1 || res.Why != "" {
		t.Errorf("%+v", res)
	}
	w.with(t, func(r *Repo) error {
		b, err := r.Kept(keptGitGiven)
		if string(b) != "ids" {
			t.Errorf("%q is kept", b)
		}
		return err
	})
	fine(t, w.mem)
}
