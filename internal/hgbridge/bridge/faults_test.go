package bridge

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/hgbridge"
	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/vfs"
	"github.com/oxy-vcs/oxy/revlog"
)

// TestEveryFaultIsFound imports a history with one thing in it that is not as Mercurial has it, and wants the proof to say so.
func TestEveryFaultIsFound(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "theirs")
	hg(t, ".", "init", dir)
	hg(t, dir, "oxymake", "--revisions", "25", "--seed", "3")
	field := func(x *gathered, key string, alter func(string) string) bool {
		for i := range x.to.Extra {
			if f := &x.to.Extra[i]; f.Key == key {
				f.Value = alter(f.Value)
				return true
			}
		}
		return false
	}
	for name, alter := range map[string]func(x *gathered) bool{
		"nothing": func(*gathered) bool { return false },
		"message": func(x *gathered) bool { x.to.Message += "."; return true },
		"author":  func(x *gathered) bool { x.to.Author.Name += "."; return true },
		"time":    func(x *gathered) bool { x.to.Time.Sec++; return true },
		"zone":    func(x *gathered) bool { x.to.Time.Zone++; return true },
		"extra": func(x *gathered) bool {
			return field(x, fieldExtra, func(s string) string { return s + "x" })
		},
		"records": func(x *gathered) bool {
			return field(x, fieldFiles, func(string) string { return "" })
		},
		"contents": func(x *gathered) bool {
			for i := range x.to.Files {
				if f := &x.to.Files[i]; len(f.Data) > 0 {
					f.Data[len(f.Data)-1] ^= 1
					return true
				}
			}
			return false
		},
		"executable": func(x *gathered) bool {
			for i := range x.to.Files {
				if f := &x.to.Files[i]; f.Data != nil && f.Kind == change.Text {
					f.Exec = !f.Exec
					return true
				}
			}
			return false
		},
		"more": func(x *gathered) bool {
			x.to.Files = append(x.to.Files, repo.ImportedFile{Path: "zzz", Data: []byte("more\n")})
			return true
		},
		"less": func(x *gathered) bool {
			for i := range x.to.Files {
				if x.to.Files[i].Data != nil {
					x.to.Files = append(x.to.Files[:i], x.to.Files[i+1:]...)
					return true
				}
			}
			return false
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, err := hgbridge.Open(vfs.OS(), dir)
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			r := begin(t)
			in := &importer{hg: h, opt: Options{Progress: silent{}}, rep: &Report{}, uses: map[revlog.Rev]int{}, known: known{}}
			if err := in.scan(); err != nil {
				t.Fatal(err)
			}
			todo := make([]bool, len(in.sets))
			for i := range todo {
				todo[i] = true
			}
			read := make(chan *gathered, len(in.sets)+1)
			in.read(context.Background(), 0, todo, read)
			// The last one that can be altered: so nothing stands upon it that fails for its sake.
			var all []*gathered
			for x := range read {
				all = append(all, x)
			}
			node := ""
			for i := len(all) - 1; i >= 0 && node == ""; i-- {
				if in.sets[i].p2 == revlog.Null && alter(all[i]) {
					node = in.sets[i].node.String()
					all = all[:i+1]
				}
			}
			again := make(chan *gathered, len(all))
			for _, x := range all {
				again <- x
			}
			close(again)
			if in.im, err = r.NewImporter(context.Background()); err != nil {
				t.Fatal(err)
			}
			for i := range in.sets {
				in.uses[revlog.Rev(i)] = 2
			}
			if err := in.record(again); err != nil {
				t.Fatal(err)
			}
			if err := in.im.Commit(importKind); err != nil {
				t.Fatal(err)
			}
			if err := in.im.Close(); err != nil {
				t.Fatal(err)
			}
			v, err := Verify(context.Background(), r, silent{})
			if err != nil {
				t.Fatal(err)
			}
			if name == "nothing" {
				if len(v.Faults) > 0 {
					t.Errorf("%+v", v.Faults)
				}
				return
			}
			if len(v.Faults) != 1 || v.Faults[0].Name != node {
				t.Errorf("%s altered, and found is %+v", node, v.Faults)
			}
		})
	}
}
