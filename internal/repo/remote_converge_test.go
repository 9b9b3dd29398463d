package repo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReplicasConverge lets three people edit, move, remove and roll back, and pull from and push to each other's common place in
// any order, conflicts and all: once everybody has everything, all have the same state and the same files, and all is sound.
func TestReplicasConverge(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			opt := syncEnv(t)
			r := rand.New(rand.NewPCG(seed, 9))
			hub := newSite(t, "hub", opt)
			hub.put("a", "1\n2\n3\n4\n5\n6\n")
			hub.put("d/b", "x\ny\nz\n")
			hub.record("Begin")
			sites := []*site{hub.clone(opt), hub.clone(opt), hub.clone(opt)}
			for i := range 40 {
				s := sites[r.IntN(len(sites))]
				switch r.IntN(6) {
				case 0, 1, 2:
					s.scribble(r)
					_, _ = s.Commit(context.Background(), CommitOptions{Message: fmt.Sprint("edit ", i)}) // nothing to record, or half a block left: fine
					_, _ = s.Discard(context.Background(), nil, nil)
				case 3:
					if base, err := s.Base(); err == nil && base.Len > 2 {
						_, _ = s.Rollback(context.Background(), fmt.Sprintf("@~%d", r.IntN(2)), RollbackOptions{})
					}
				case 4:
					s.pull()
				case 5:
					if _, err := s.push(); err != nil {
						t.Fatal(err)
					}
				}
			}
			for range 2 {
				for _, s := range sites {
					s.pull()
					if res, err := s.push(); err != nil || res.Refs[0].Refused != "" {
						t.Fatalf("%+v, %v", res, err)
					}
				}
			}
			for _, s := range sites {
				s.pull()
			}
			for _, s := range sites[1:] {
				s.same(sites[0])
				if a, b := s.files(), sites[0].files(); a != b {
					t.Errorf("the files differ:\n%s\n%s", a, b)
				}
			}
			fresh := hub.clone(opt)
			fresh.same(hub)
			if a, b := fresh.files(), sites[0].files(); a != b {
				t.Errorf("a clone has other files:\n%s\n%s", a, b)
			}
		})
	}
}

// scribble does something to the working files.
func (s *site) scribble(r *rand.Rand) {
	var names []string
	for name := range strings.SplitSeq(strings.TrimSpace(s.names()), "\n") {
		names = append(names, name)
	}
	name := names[r.IntN(len(names))]
	at := filepath.Join(s.root, name)
	b, err := os.ReadFile(at)
	if err != nil {
		return
	}
	lines := strings.SplitAfter(string(b), "\n")
	switch r.IntN(8) {
	case 0:
		_ = os.Remove(at)
	case 1:
		s.put(fmt.Sprintf("n%d/f", r.IntN(3)), fmt.Sprintf("new %d\n", r.IntN(100)))
	case 2:
		to := filepath.Join(s.root, fmt.Sprintf("m%d", r.IntN(4)))
		if _, err := os.Stat(to); err != nil {
			_ = os.Rename(at, to)
		}
	default:
		k := r.IntN(len(lines))
		lines[k] = fmt.Sprintf("line %d\n", r.IntN(1000)) + lines[k]
		if r.IntN(2) == 0 && k+1 < len(lines) {
			lines = append(lines[:k+1], lines[k+2:]...)
		}
		_ = os.WriteFile(at, []byte(strings.Join(lines, "")), 0o666)
	}
}

func (s *site) names() string {
	var b strings.Builder
	_ = filepath.WalkDir(s.root, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == DirName {
			return filepath.SkipDir
		}
		if err == nil && d.Type().IsRegular() {
			rel, _ := filepath.Rel(s.root, path)
			b.WriteString(rel + "\n")
		}
		return nil
	})
	return b.String()
}

func (s *site) files() string {
	var b strings.Builder
	for name := range strings.SplitSeq(strings.TrimSpace(s.names()), "\n") {
		text, _ := os.ReadFile(filepath.Join(s.root, name))
		fmt.Fprintf(&b, "%s: %q\n", name, text)
	}
	return b.String()
}
