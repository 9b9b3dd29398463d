package bridge

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/gitbridge/gittest"
	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// file is what a random history has at a path.
type file struct{ mode, data string }

// version is a tree of a random history.
type version map[string]file

// randomGit makes Git histories of every shape.
type randomGit struct {
	rng      *rand.Rand
	git      *gittest.Repo
	versions []version
	out      strings.Builder
	branches int
	idLen    int  // of an id in hex digits
	odd      bool // people, zones and encodings are odd too
}

var oddNames = []string{"a", "b", "a.b", "d/x", "d/y", "d/e/z", "deep/er/still/f", "q\u00e9", "with space", "d", "deep/er", "-x", "tab\tin", "caf\xe9", "UP", "up"}

var (
	oddAuthors = []string{"Ada", "Ada", "Ad\u00e4", "Ad\xe4", "A.", "ada,  the first"}
	oddZones   = []string{"+0100", "+0000", "-0000", "+1400", "-0330", "+0545"}
)

func (g *randomGit) text() string {
	n := g.rng.IntN(12)
	var b strings.Builder
	for range n {
		g.line(&b)
	}
	if n > 0 && g.rng.IntN(6) == 0 {
		b.WriteString("no end")
	}
	return b.String()
}

func (g *randomGit) line(b *strings.Builder) {
	switch g.rng.IntN(12) {
	case 0:
		b.WriteString("\n")
	case 1:
		b.WriteString("=======\n")
	case 2:
		b.WriteString("}\n")
	default:
		fmt.Fprintf(b, "line %d\n", g.rng.IntN(20))
	}
}

// edit changes some lines.
func (g *randomGit) edit(s string) string {
	lines := strings.SplitAfter(s, "\n")
	for range 1 + g.rng.IntN(2) {
		i := g.rng.IntN(len(lines))
		var b strings.Builder
		g.line(&b)
		switch g.rng.IntN(3) {
		case 0:
			lines = slices.Insert(lines, i, b.String())
		case 1:
			lines[i] = b.String()
		default:
			if len(lines) > 1 {
				lines = slices.Delete(lines, i, i+1)
			}
		}
	}
	return strings.Join(lines, "")
}

// put puts a file, and takes away what cannot stand beside it.
func (v version) put(path string, f file) {
	for p := range v {
		if strings.HasPrefix(p, path+"/") || strings.HasPrefix(path, p+"/") {
			delete(v, p)
		}
	}
	v[path] = f
}

// change does something to a version.
func (g *randomGit) change(v version) {
	names := slices.Sorted(maps.Keys(v))
	some := func() string { return names[g.rng.IntN(len(names))] }
	fresh := oddNames[g.rng.IntN(len(oddNames))]
	op := g.rng.IntN(12)
	if len(names) == 0 {
		op = 0
	}
	switch op {
	case 0, 1:
		v.put(fresh, file{"100644", g.text()})
	case 2:
		delete(v, some())
	case 3, 4:
		p := some()
		f := v[p]
		delete(v, p)
		if g.rng.IntN(2) == 0 && f.mode != "120000" && f.mode != "160000" {
			f.data = g.edit(f.data)
		}
		v.put(fresh, f)
	case 5:
		if p := some(); v[p].mode == "100644" {
			v[p] = file{"100755", v[p].data}
		} else if v[p].mode == "100755" {
			v[p] = file{"100644", v[p].data}
		}
	case 6:
		v.put(fresh, file{"120000", fmt.Sprintf("to/%d", g.rng.IntN(3))})
	case 7:
		v.put(fresh, file{"160000", fmt.Sprintf("%0*d", g.idLen, 1+g.rng.IntN(3))})
	case 8:
		v.put(fresh, file{"100644", fmt.Sprintf("bin\x00%d", g.rng.IntN(4))})
	default:
		if p := some(); v[p].mode != "120000" && v[p].mode != "160000" {
			v[p] = file{v[p].mode, g.edit(v[p].data)}
		}
	}
}

// merged is what a merge makes of its parents.
func (g *randomGit) merged(parents []int) version {
	v := version{}
	how := g.rng.IntN(4)
	for i, p := range parents {
		for _, path := range slices.Sorted(maps.Keys(g.versions[p])) {
			f := g.versions[p][path]
			switch {
			case i == 0:
				v[path] = f
			case how == 0: // ours
			case how == 1 || g.rng.IntN(2) == 0:
				v.put(path, f)
			}
		}
	}
	return v
}

// commit adds one more commit to the stream.
func (g *randomGit) commit() {
	n := len(g.versions)
	var parents []int
	if n > 0 && g.rng.IntN(25) > 0 {
		count := 1
		switch k := g.rng.IntN(20); {
		case k == 0:
			count = 4
		case k < 3:
			count = 3
		case k < 8:
			count = 2
		}
		recent := min(n, 7)
		for _, back := range g.rng.Perm(recent)[:min(count, recent)] {
			parents = append(parents, n-1-back)
		}
	}
	v := version{}
	switch {
	case len(parents) == 1:
		v = maps.Clone(g.versions[parents[0]])
	case len(parents) > 1:
		v = g.merged(parents)
	}
	for range g.rng.IntN(4) {
		g.change(v)
	}
	g.versions = append(g.versions, v)
	message := fmt.Sprintf("commit %d", n)
	if g.rng.IntN(3) > 0 {
		message += "\n"
	}
	author, zone := "Ada", "+0100"
	if g.odd {
		author, zone = oddAuthors[g.rng.IntN(len(oddAuthors))], oddZones[g.rng.IntN(len(oddZones))]
	}
	fmt.Fprintf(&g.out, "commit refs/heads/b%d\nmark :%d\nauthor %s <ada@example.com> %d %s\ncommitter Bob <bob@example.com> %d -0330\n",
		g.rng.IntN(8), n+1, author, 1e9+n, zone, 1e9+n+g.rng.IntN(3))
	if g.odd && g.rng.IntN(5) == 0 {
		g.out.WriteString("encoding ISO-8859-1\n")
		message += "caf\xe9\n"
	}
	fmt.Fprintf(&g.out, "data %d\n%s\n", len(message), message)
	for i, p := range parents {
		fmt.Fprintf(&g.out, "%s :%d\n", []string{"from", "merge"}[min(i, 1)], p+1)
	}
	if len(parents) == 0 { // else fast-import goes on from the branch's tip
		s := g.out.String()
		at := strings.LastIndex(s, "commit refs/heads/")
		g.out.Reset()
		g.out.WriteString(s[:at])
		_, rest, _ := strings.Cut(s[at:], "\n")
		g.branches++
		fmt.Fprintf(&g.out, "commit refs/heads/root%d\n%s", g.branches, rest)
	}
	g.out.WriteString("deleteall\n")
	for _, path := range slices.Sorted(maps.Keys(v)) {
		f := v[path]
		quoted := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(path) + `"`
		if f.mode == "160000" {
			fmt.Fprintf(&g.out, "M 160000 %s %s\n", f.data, quoted)
			continue
		}
		fmt.Fprintf(&g.out, "M %s inline %s\ndata %d\n%s\n", f.mode, quoted, len(f.data), f.data)
	}
	g.out.WriteString("\n")
}

// feed gives the commits to git.
func (g *randomGit) feed() {
	g.git.In(g.out.String(), "-c", "fastimport.unpackLimit=1", "fast-import", "--quiet", "--force")
	g.out.Reset()
}

type silent struct{}

func (silent) Begin(string, int64, bool) {}
func (silent) Add(int64)                 {}
func (silent) End()                      {}

// take imports and proves, and tells how many commits came.
func take(t *testing.T, r *repo.Repo, git *gittest.Repo) int {
	t.Helper()
	rep, err := Import(context.Background(), r, git.Dir, Options{FS: vfs.OS(), Progress: silent{}})
	if err != nil {
		t.Fatal(err)
	}
	v, err := Verify(context.Background(), r, nil, silent{})
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Faults) > 0 {
		t.Fatalf("%+v", v.Faults)
	}
	if want := len(strings.Fields(git.Git("rev-list", "--all"))); v.Commits < want {
		t.Fatalf("%d commits were proved of %d", v.Commits, want)
	}
	recalled(t, r, git.Dir)
	return rep.Commits
}

// recalled: what an import kept of which commits there are is what all changes say.
func recalled(t *testing.T, r *repo.Repo, at string) {
	t.Helper()
	db, err := open(vfs.OS(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	read, err := loadKnown(r, db.Format)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := recallKnown(r, db.Format)
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(kept.states, read.states) || !maps.Equal(kept.lacked, read.lacked) || !maps.Equal(kept.given, read.given) {
		t.Fatalf("of %d commits %d are kept, of %d lacking blobs %d", len(read.states), len(kept.states), len(read.lacked), len(kept.lacked))
	}
	if kept.until >= keptEvery && kept.until-kept.kept >= keptEvery && len(read.lacked) == 0 {
		t.Fatalf("of %d states %d are kept", kept.until, kept.kept)
	}
}

func TestRandomHistories(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			g := &randomGit{rng: rand.New(rand.NewPCG(seed, 4)), git: gittest.New(t), idLen: 40, odd: true}
			if seed%4 == 3 {
				g.git, g.idLen = gittest.New(t, "--object-format=sha256"), 64
			}
			r, err := repo.Init(t.TempDir(), repo.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			total := 0
			for round := range 3 {
				for range 40 {
					g.commit()
				}
				// Marks do not outlive a stream: each round has a history of its own beside.
				g.feed()
				g.git.Git("tag", "-a", "-m", fmt.Sprint("round ", round), fmt.Sprint("t", round), "b0")
				total += take(t, r, g.git)
				if n := take(t, r, g.git); n != 0 {
					t.Fatalf("%d commits came again", n)
				}
				g.versions = nil
			}
			giveBack(t, r, g.git)
		})
	}
}

// giveBack exports to nothing and to where all came from, and imports again.
func giveBack(t *testing.T, r *repo.Repo, git *gittest.Repo) {
	t.Helper()
	ctx := context.Background()
	to := &gittest.Repo{TB: t, Dir: filepath.Join(t.TempDir(), "out.git")}
	out, err := Export(ctx, r, to.Dir, ExportOptions{FS: vfs.OS(), Progress: silent{}})
	if err != nil {
		t.Fatal(err)
	}
	if out.New > 0 || len(out.Left) > 0 || !out.Created {
		t.Fatalf("%+v", out)
	}
	const format = "--format=%(objectname) %(refname)"
	if got, want := to.Git("for-each-ref", format), git.Git("for-each-ref", format); got != want {
		t.Fatalf("refs\n%s\nwant\n%s", got, want)
	}
	to.Git("fsck", "--full", "--strict", "--no-dangling")
	for range 2 {
		again, err := Export(ctx, r, to.Dir, ExportOptions{FS: vfs.OS(), Progress: silent{}})
		if err != nil || again.Commits > 0 || len(again.Refs) > 0 {
			t.Fatalf("%+v, %v", again, err)
		}
		if n := take(t, r, git); n > 0 {
			t.Fatalf("%d commits came again", n)
		}
	}
}
