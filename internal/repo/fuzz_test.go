package repo

import (
	"bytes"
	"slices"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// FuzzPromises: a list of promised contents is found again in full, and grows as it should.
func FuzzPromises(f *testing.F) {
	f.Add([]byte(promises(nil).with([]change.Hash{{1}, {2}, {2, 1}})), []byte{2, 3, 9})
	f.Add(make([]byte, 33), []byte{})
	f.Fuzz(func(t *testing.T, b, more []byte) {
		p, err := decodePromises(b)
		if err != nil {
			return
		}
		var add []change.Hash
		for _, m := range more {
			add = append(add, change.Hash{m})
		}
		next, err := decodePromises(p.with(slices.Clone(add)))
		if err != nil {
			t.Fatal(err)
		}
		for i := range p.len() {
			if !p.has(p.at(i)) || !next.has(p.at(i)) {
				t.Fatalf("%x is not found", p.at(i))
			}
		}
		for _, h := range add {
			if !next.has(h) {
				t.Fatalf("%x is not found", h)
			}
		}
	})
}

// FuzzSettings: what a repository's files of settings and rules say is read or refused, and chooses no program that a person did not.
func FuzzSettings(f *testing.F) {
	f.Add([]byte("[user]\nname = \"Ada\"\n[remote.origin]\nurl = \"/x\"\n"))
	f.Add([]byte("[hooks]\nbefore = [\"/bin/true\"]\ntime = \"3s\"\n[[protect]]\nnames = [\"main\"]\n"))
	f.Add([]byte("merge.tool = 'x'\na.b.c = [1, 2]\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if rules, err := parseRules(b); err == nil {
			if err := rules.check(); err != nil {
				t.Errorf("taken, and then: %v", err)
			}
		}
		mem := vfs.NewMem()
		if err := vfs.WriteFileAtomic(mem, "/config", b, false); err != nil {
			t.Fatal(err)
		}
		tree, err := readConfig(mem, "/config")
		if err != nil {
			return
		}
		out := map[string][2]string{}
		flatten(out, "", tree, "x")
	})
}

// FuzzKept: what a view keeps of moves, discarded files and of a clone's origin is read or passed over.
func FuzzKept(f *testing.F) {
	f.Add([]byte("a\x00b\x00c\x00d"))
	f.Add([]byte(`[{"Path":"YQ==","Hash":"AAAA"}]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if moves := keptMovesOf(b); len(moves) > bytes.Count(b, []byte{0}) {
			t.Errorf("%d moves of %q", len(moves), b)
		}
		_, _ = decodeAside(b)
		_, _ = signedHashes(b)
	})
}
