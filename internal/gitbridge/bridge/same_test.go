package bridge

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/gitbridge/gittest"
	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// idsOf is a hash of all bookmarks and tags with the ids of their states, which say all that an import made.
func idsOf(t *testing.T, r *repo.Repo) string {
	t.Helper()
	bookmarks, err := r.Bookmarks()
	if err != nil {
		t.Fatal(err)
	}
	tags, err := r.Tags()
	if err != nil {
		t.Fatal(err)
	}
	h := sha256.New()
	for _, n := range slices.Concat(bookmarks, tags) {
		fmt.Fprintf(h, "%s %x\n", n.Name, n.State.ID)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:16])
}

// What a history is imported as is fixed: other repositories hold changes with these ids. However an import is made faster, the same
// commits become the same changes.
func TestSameChanges(t *testing.T) {
	for _, c := range []struct {
		name, want string
		make       func(git *gittest.Repo)
	}{
		{"shapes", "81b7afa94b5f1d6ea8f156a21b3fa4af", func(git *gittest.Repo) {
			g := &randomGit{rng: rand.New(rand.NewPCG(11, 12)), git: git, idLen: 40}
			for range 150 {
				g.commit()
			}
			g.feed()
		}},
		{"lines", "883545ae25d1bb6e7c5546d12f7e97df", func(git *gittest.Repo) { longBranches(git, 300) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			git := gittest.New(t)
			c.make(git)
			r, err := repo.Init(t.TempDir(), repo.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			rep, err := Import(context.Background(), r, git.Dir, Options{FS: vfs.OS(), Progress: silent{}})
			if err != nil {
				t.Fatal(err)
			}
			if rep.Merges < 20 || rep.Settled < 3 {
				t.Fatalf("a history to try this needs more: %+v", rep)
			}
			if got := idsOf(t, r); got != c.want {
				t.Errorf("imported as %s, not %s", got, c.want)
			}
			v, err := Verify(context.Background(), r, nil, silent{})
			if err != nil || len(v.Faults) > 0 {
				t.Errorf("%+v, %v", v, err)
			}
		})
	}
}

// longBranches makes branches that edit three long files side by side and merge each other, also from far back.
func longBranches(git *gittest.Repo, commits int) {
	rng := rand.New(rand.NewPCG(1, 2))
	type at struct {
		mark  int
		files [3][]string
	}
	var first at
	for k := range first.files {
		for i := range []int{40, 900, 5000}[k] {
			first.files[k] = append(first.files[k], fmt.Sprintf("%d.%d\n", k, i))
		}
	}
	var out strings.Builder
	mark := 0
	put := func(branch int, v *at, parents ...int) {
		mark++
		v.mark = mark
		fmt.Fprintf(&out, "commit refs/heads/b%d\nmark :%d\ncommitter Bob <bob@example.com> %d +0000\ndata 2\nm\n", branch, mark, 1_000_000_000+mark)
		for i, p := range parents {
			fmt.Fprintf(&out, "%s :%d\n", []string{"from", "merge"}[min(i, 1)], p)
		}
		for k, f := range v.files {
			text := strings.Join(f, "")
			fmt.Fprintf(&out, "M 100644 inline f%d\ndata %d\n%s\n", k, len(text), text)
		}
	}
	put(0, &first)
	tips := []at{first, first, first}
	var past []at
	edit := func(v *at) {
		k := rng.IntN(3)
		f := slices.Clone(v.files[k])
		n := 1 + rng.IntN(3)
		if rng.IntN(12) == 0 {
			n = 40
		}
		for range n {
			i := rng.IntN(len(f))
			switch rng.IntN(4) {
			case 0:
				f = slices.Delete(f, i, min(i+1+rng.IntN(3), len(f)-1))
			case 1:
				f[i] = fmt.Sprintf("again %d\n", rng.IntN(50))
			default:
				f = slices.Insert(f, i, fmt.Sprintf("new %d\n", rng.IntN(50)), "}\n")
			}
		}
		v.files[k] = f
	}
	for len(past) < commits {
		b := rng.IntN(len(tips))
		v := tips[b]
		from := v.mark
		switch rng.IntN(5) {
		case 0: // a merge, which takes whole files of the one or the other
			other := tips[rng.IntN(len(tips))]
			if other.mark == from {
				continue
			}
			for k := range v.files {
				if rng.IntN(2) == 0 {
					v.files[k] = other.files[k]
				}
			}
			put(b, &v, from, other.mark)
		case 1: // one begins anew, far back
			if len(past) > 0 && rng.IntN(4) == 0 {
				v = past[rng.IntN(len(past))]
				from = v.mark
			}
			fallthrough
		default:
			edit(&v)
			put(b, &v, from)
		}
		tips[b] = v
		past = append(past, v)
	}
	git.In(out.String(), "-c", "fastimport.unpackLimit=1", "fast-import", "--quiet", "--force")
}
