package repo

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/sync"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// A syncSite is a line of the product that syncs a file or a directory, or that has package vfs write a file so that it lasts: file and text, so that
// it stays the same when lines move.
type syncSite string

// lineOf reads a line of a source file.
func lineOf(t testing.TB, file string, line int) string {
	t.Helper()
	b, err := os.ReadFile(file)
	check(t, err)
	return string(bytes.TrimSpace(bytes.Split(b, []byte("\n"))[line-1]))
}

// withoutSite passes over the syncs of one site: a build that leaves the call out.
type withoutSite struct {
	t    testing.TB
	skip syncSite
	seen map[syncSite]int
}

// passOver finds out from where it was called: in package vfs that is whoever called that.
func (s *withoutSite) passOver(string, string) bool {
	pc := make([]uintptr, 32)
	frames := runtime.CallersFrames(pc[:runtime.Callers(3, pc)])
	for {
		f, more := frames.Next()
		dir := filepath.Base(filepath.Dir(f.File))
		if !strings.HasSuffix(f.File, "_test.go") && dir != "vfs" && strings.Contains(f.File, "/internal/") {
			at := syncSite(dir + "/" + filepath.Base(f.File) + ": " + lineOf(s.t, f.File, f.Line))
			s.seen[at]++
			return at == s.skip
		}
		if !more {
			return false
		}
	}
}

// sitesOf lists the sites in the sources.
func sitesOf(t testing.TB) (out []syncSite) {
	t.Helper()
	syncs := regexp.MustCompile(`\.Sync\(\)|\.SyncDir\(|WriteFileAtomic\(.*, true\)|WriteFileAtomicFrom\(|vfs\.Share\(`)
	for _, dir := range []string{".", "../store", "../state", "../worktree"} {
		names, err := filepath.Glob(filepath.Join(dir, "*.go"))
		check(t, err)
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			b, err := os.ReadFile(name)
			check(t, err)
			abs, err := filepath.Abs(name)
			check(t, err)
			for line := range strings.Lines(string(b)) {
				line = strings.TrimSpace(line)
				if syncs.MatchString(line) && !strings.HasPrefix(line, "//") {
					out = append(out, syncSite(filepath.Base(filepath.Dir(abs))+"/"+filepath.Base(name)+": "+line))
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// sparedSites are those whose loss no power cut shows in these stories, and why.
var sparedSites = map[syncSite]string{
	`store/adopt.go: way, err = vfs.Share(fsys, f, filepath.Join(a.dir, "log", filepath.Base(name)), size, link, a.progress)`:   "of the last segment, which the clone's first operation syncs again; only a copied one before it needs this, and these logs have one segment",
	"repo/fsckaside.go: _, err = vfs.Share(r.fs, f, to, st.Size, true, func(int64) error { return nil })":                       "of what a repair puts aside: TestGivingUpFails cuts the power at each call of that",
	"store/adopt.go: if err := s.fsys.SyncDir(s.dir); err != nil {":                                                             "of .oxy, which is synced again once format is there: only a cut between the two, of a clone that nobody was told of, would see it",
	"store/commit.go: err := w.file.Sync()":                                                                                     "of a large transaction, so that the last sync has less to do: that one syncs all",
	"store/format.go: err = f.Sync()":                                                                                           "of the first segment: the first operation syncs it again",
	"store/repack_write.go: if err := w.s.fsys.SyncDir(dir); err != nil { // the segments after the first":                      "of log/ before a base gets its name: only one of several segments needs it, and these have one; TestRepackCrash of package store has several",
	"store/listing.go: if err := s.fsys.SyncDir(filepath.Join(s.dir, \"log\")); err != nil {":                                   "of a base whose maker died before its name was durable: nobody dies here",
	"store/packer.go: if err := tx.s.fsys.SyncDir(filepath.Join(tx.s.dir, \"log\")); err != nil {":                              "of a second segment: these logs are too small for one; TestCrash of package store has segments of 700 bytes",
	"repo/unfinished.go: if err := vfs.WriteFileAtomic(r.fs, r.unfinishedFile(what), []byte(text+\"\\n\"), true); err != nil {": "without the file all comes again, and nothing else is lost",
	"repo/fsckaside.go: err = out.Sync()":                                                                                       "of what a repair puts aside: TestGivingUpFails cuts the power at each call of that",
	"repo/fsckaside.go: return errors.Join(r.fs.SyncDir(dir), r.fs.SyncDir(filepath.Dir(dir)), r.fs.SyncDir(r.dir))":            "the same",
	"repo/fsckaside.go: err = errors.Join(r.fs.SyncDir(at), r.asideDurable(dir))":                                               "the same",
	"repo/fsckaside.go: return errors.Join(err, r.fs.SyncDir(to))":                                                              "the same",
}

// siteStory is what some commands do, and what must be there after a power cut once they are through.
type siteStory struct {
	name string
	run  func(t testing.TB, fsys vfs.FS)
	ops  func(t testing.TB, r *Repo) bool // whether what was promised is there; nil: all operations are
	at   string                           // the repository that is looked at; "": memRoot
}

func onRepo(t testing.TB, fsys vfs.FS, fn func(r *Repo) error) {
	t.Helper()
	r, err := Open(memRoot, memOptions(fsys))
	check(t, err)
	check(t, fn(r))
	check(t, r.Close())
}

func begunThere(t testing.TB, fsys vfs.FS) {
	t.Helper()
	check(t, fsys.MkdirAll(filepath.Dir(memRoot), 0o777))
	r, err := Init(memRoot, memOptions(fsys))
	check(t, err)
	check(t, r.Close())
	check(t, vfs.WriteFileAtomic(fsys, filepath.Join(memRoot, "a"), []byte(lines(0, 300)), true))
	check(t, fsys.MkdirAll(filepath.Join(memRoot, "d"), 0o777))
	check(t, vfs.WriteFileAtomic(fsys, filepath.Join(memRoot, "d/b"), []byte("b\n"), true))
	onRepo(t, fsys, func(r *Repo) error { return commitAll(context.Background(), r) })
}

var siteStories = []siteStory{
	{name: "init in a new directory", run: begunThere},
	{name: "packing", run: func(t testing.TB, fsys vfs.FS) {
		begunThere(t, fsys)
		onRepo(t, fsys, func(r *Repo) error { _, err := r.GC(context.Background(), GCOptions{KeepAll: true}); return err })
	}},
	{name: "dropping", run: func(t testing.TB, fsys vfs.FS) {
		begunThere(t, fsys)
		check(t, vfs.WriteFileAtomic(fsys, filepath.Join(memRoot, "a"), []byte("2\n"), false))
		onRepo(t, fsys, func(r *Repo) error {
			_, err := r.Commit(context.Background(), CommitOptions{Message: "instead", Amend: true})
			return err
		})
		onRepo(t, fsys, func(r *Repo) error { _, err := r.GC(context.Background(), GCOptions{Prune: true}); return err })
	}},
	{name: "a noted move", run: func(t testing.TB, fsys vfs.FS) {
		begunThere(t, fsys)
		onRepo(t, fsys, func(r *Repo) error { return r.Move(context.Background(), "a", "c") })
	}, ops: func(t testing.TB, r *Repo) bool {
		p, err := r.loadPending()
		check(t, err)
		return len(p.Moves) == 1
	}},
	{name: "a setting", run: func(t testing.TB, fsys vfs.FS) {
		begunThere(t, fsys)
		onRepo(t, fsys, func(r *Repo) error { return r.ConfigSet("receive.current", "update", false) })
	}, ops: func(t testing.TB, r *Repo) bool {
		v, _, err := r.ConfigGet("receive.current")
		check(t, err)
		return v == "update"
	}},
	{name: "a sparse working copy", run: func(t testing.TB, fsys vfs.FS) {
		begunThere(t, fsys)
		onRepo(t, fsys, func(r *Repo) error { _, err := r.SetSparse(context.Background(), []string{"d"}); return err })
	}, ops: func(t testing.TB, r *Repo) bool {
		var st vfs.Stat
		return r.fs.Lstat(filepath.Join(r.dir, sparseFile), &st) == nil
	}},
	{name: "a whole working copy again", run: func(t testing.TB, fsys vfs.FS) {
		begunThere(t, fsys)
		onRepo(t, fsys, func(r *Repo) error { _, err := r.SetSparse(context.Background(), []string{"d"}); return err })
		onRepo(t, fsys, func(r *Repo) error { _, err := r.EndSparse(context.Background()); return err })
	}, ops: func(t testing.TB, r *Repo) bool {
		var st vfs.Stat
		return r.fs.Lstat(filepath.Join(r.dir, sparseFile), &st) != nil
	}},
	{name: "a clone of a path", at: "/copy", run: func(t testing.TB, fsys vfs.FS) {
		begunThere(t, fsys)
		r, _, err := Clone(context.Background(), memRoot, "/copy", memOptions(fsys), SyncOptions{Dir: "/"})
		check(t, err)
		check(t, r.Close())
	}},
	{name: "a clone in pieces", at: "/copy", run: func(t testing.TB, fsys vfs.FS) {
		begunThere(t, fsys)
		r, err := Init("/copy", memOptions(fsys))
		check(t, err)
		r.opt.Batch = 1
		s, err := NewServer(memRoot, ServeOptions{Options: memOptions(fsys)})
		check(t, err)
		l := &link{Peer: sync.Local(context.Background(), s, func() error { return nil }), name: Origin, shown: "there"}
		_, _, err = r.fetch(context.Background(), l, false, nil)
		check(t, err)
		check(t, l.Close())
		check(t, r.Close())
	}},
	{name: "a bundle", run: func(t testing.TB, fsys vfs.FS) {
		begunThere(t, fsys)
		onRepo(t, fsys, func(r *Repo) error {
			_, err := r.CreateBundle(context.Background(), "/work.oxb", nil, "")
			return err
		})
	}, ops: func(t testing.TB, r *Repo) bool {
		_, err := r.ListBundle("/work.oxb")
		return err == nil
	}},
	{name: "an upgrade", run: func(t testing.TB, fsys vfs.FS) {
		begunThere(t, fsys)
		onRepo(t, fsys, func(r *Repo) error { _, _, err := r.Upgrade(); return err })
	}},
}

// lostBy tells what of a story a power cut after it could take away.
func (s *siteStory) lostBy(t testing.TB, mem *vfs.Mem, ops uint32) string {
	at := s.at
	if at == "" {
		at = memRoot
	}
	found := []*vfs.Mem{mem.CrashWorst()}
	for seed := range uint64(12) {
		found = append(found, mem.Crash(rand.New(rand.NewPCG(seed, 13))))
	}
	for _, m := range found {
		r, err := Open(at, memOptions(m))
		if err != nil {
			return err.Error()
		}
		n := r.store.NumOps()
		res, err := r.Fsck(context.Background(), FsckOptions{})
		kept := err == nil && (s.ops == nil || s.ops(t, r))
		_ = r.Close()
		switch {
		case err != nil:
			return err.Error()
		case n < ops:
			return fmt.Sprintf("%d operations of %d", n, ops)
		case !kept:
			return "what was promised is not there"
		}
		for _, p := range res.Problems {
			if !p.Derived {
				return p.Text
			}
		}
	}
	return ""
}

// without runs a story on a build without a site, and says what a power cut after it would lose.
func (s *siteStory) without(t testing.TB, skip syncSite) (seen map[syncSite]int, what string) {
	f := &withoutSite{t: t, skip: skip, seen: map[syncSite]int{}}
	fsys := &syncless{newMem(), f.passOver}
	s.run(t, fsys)
	at := s.at
	if at == "" {
		at = memRoot
	}
	r, err := Open(at, memOptions(fsys.Mem))
	check(t, err)
	ops := r.store.NumOps()
	check(t, r.Close())
	return f.seen, s.lostBy(t, fsys.Mem, ops)
}

// Each line that syncs, left out of the build, is missed after a power cut by one of the stories, or stands in the list with why not. So
// is each line that has package vfs write a file that lasts.
func TestEverySyncSiteIsCaught(t *testing.T) {
	where := map[syncSite][]*siteStory{}
	for i := range siteStories {
		s := &siteStories[i]
		seen, what := s.without(t, "")
		if what != "" {
			t.Fatalf("%s: nothing is left out, and yet: %s", s.name, what)
		}
		for at := range seen {
			where[at] = append(where[at], s)
		}
	}
	caught := 0
	all := sitesOf(t)
	for at := range where {
		if !slices.Contains(all, at) {
			t.Errorf("%s syncs and is not found in the sources", at)
		}
	}
	for _, at := range all {
		by := ""
		for _, s := range where[at] {
			if _, what := s.without(t, at); what != "" {
				by = s.name + ": " + what
				break
			}
		}
		why, spared := sparedSites[at]
		switch {
		case by == "" && !spared:
			t.Errorf("%s is left out, and none of %d stories finds out", at, len(where[at]))
		case by != "" && spared:
			t.Errorf("%s: %s; and yet %s", at, why, by)
		case by != "":
			caught++
			t.Logf("%s: %s", at, by)
		}
	}
	for at := range sparedSites {
		if !slices.Contains(all, at) {
			t.Errorf("%s stands in the list, and not in the sources", at)
		}
	}
	t.Logf("%d of %d sites", caught, len(all))
}
