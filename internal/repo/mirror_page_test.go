package repo

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/diff"
	"github.com/oxy-vcs/oxy/internal/oracle"
	"github.com/oxy-vcs/oxy/internal/oracle/tree"
)

// How a mirror tells the definition's texts and trees as the repository does.

// label is what the repository adds to the path of a file that is shown aside.
func (m *mirror) label(x tree.File) string {
	id := m.files[x]
	name := m.r.store.ChangeID(id.Change).String()[:markDigits]
	if id.Ord > 0 {
		name += fmt.Sprintf(".%d", id.Ord)
	}
	return name
}

// block writes a block as the repository does.
func (m *mirror) block(x tree.File, it oracle.Item) string {
	texts, base := it.Block.Texts(), strings.Join(it.Block.Base(), "")
	eol := ""
	for _, s := range append(slices.Clone(texts), it.Block.Base()) {
		if i := strings.IndexByte(strings.Join(s, ""), '\n'); i >= 0 && eol == "" {
			if eol = "\n"; i > 0 && strings.Join(s, "")[i-1] == '\r' {
				eol = "\r\n"
			}
		}
	}
	if eol == "" {
		eol = "\n"
	}
	least := it.Block.Least()
	name := fmt.Sprintf("%s.%d", m.r.store.ChangeID(least.Change).String()[:markDigits], least.Hunk)
	var b strings.Builder
	line := func(text string) {
		if s := b.String(); s != "" && !strings.HasSuffix(s, "\n") {
			b.WriteString(eol)
		}
		b.WriteString(text + eol)
	}
	words := func(i int, of string) string {
		by := it.Block.Sides[i].By
		label := "all together"
		if len(by) > 0 {
			var parts []string
			for _, c := range by {
				parts = append(parts, m.r.store.ChangeID(c).String()[:markDigits]+" "+firstLine(m.r.message(c)))
			}
			label = strings.Join(parts, ", ")
		}
		return fmt.Sprintf("%s %d%s: %s", name, i+1, of, label)
	}
	for i := range texts {
		text := strings.Join(texts[i], "")
		if i == 0 {
			line("<<<<<<< " + words(i, ""))
			b.WriteString(text)
			line("||||||| " + name + " base")
			b.WriteString(base)
			if line("======="); len(texts) == 1 {
				line(">>>>>>> " + name)
			}
			continue
		}
		b.WriteString(text)
		if i < len(texts)-1 {
			line("======= " + words(i, ", above"))
		} else {
			line(">>>>>>> " + words(i, ""))
		}
	}
	return b.String()
}

// alignLines pairs two texts as the repository does, which sees their bytes only: a line without a break and the one behind it are
// one to it.
func alignLines(old, now []string) (lines []string, stays []int) {
	a, b := strings.Join(old, ""), strings.Join(now, "")
	stays = make([]int, len(old))
	var d diff.Differ
	ai, at, bt := 0, 0, 0
	keep := func(to int) {
		for at < to {
			stays[ai] = len(lines)
			lines = append(lines, old[ai])
			at += len(old[ai])
			bt += len(old[ai])
			ai++
		}
	}
	for _, e := range d.Lines([]byte(a), []byte(b), diff.Options{}) {
		keep(e.AOff0)
		for at < e.AOff1 {
			stays[ai] = -1
			at += len(old[ai])
			ai++
		}
		for l := range strings.Lines(b[e.BOff0:e.BOff1]) {
			lines = append(lines, l)
		}
		bt = e.BOff1
	}
	keep(len(a))
	return lines, stays
}

// write makes the working copy what a map says.
func (m *mirror) write(want map[string]tree.Entry, moves tree.Moves) {
	disk := memDisk(m.t, m.w.mem)
	for p, text := range want2disk(want) {
		if disk[p] == text {
			delete(disk, p)
		}
	}
	same := want2disk(want)
	for p := range disk {
		drop(m.t, m.w.mem, p)
		for d := path.Dir(p); d != "."; d = path.Dir(d) {
			if m.w.mem.Remove(filepath.Join(memRoot, d)) != nil { // something is in it
				break
			}
		}
	}
	have := memDisk(m.t, m.w.mem)
	for _, p := range slices.Sorted(maps.Keys(same)) {
		if have[p] == same[p] {
			continue
		}
		if have[p] == "" { // an empty directory may be left there
			check(m.t, m.w.mem.RemoveAll(filepath.Join(memRoot, p)))
		}
		if e := want[p]; e.Kind == change.Link {
			check(m.t, m.w.mem.MkdirAll(filepath.Dir(filepath.Join(memRoot, p)), 0o777))
			d, err := m.w.mem.OpenDir(filepath.Dir(filepath.Join(memRoot, p)))
			check(m.t, err)
			check(m.t, d.Symlink(e.Content, path.Base(p)))
			check(m.t, d.Close())
		} else {
			perm := os.FileMode(0o666)
			if e.Exec {
				perm = 0o777
			}
			putAs(m.t, m.w.mem, p, e.Content, perm)
		}
	}
	p := &pending{}
	for _, from := range slices.Sorted(maps.Keys(moves)) {
		p.Moves = append(p.Moves, move{from, moves[from]})
	}
	check(m.t, m.r.savePending(p))
}

// want2disk tells a map as memDisk does.
func want2disk(want map[string]tree.Entry) map[string]string {
	out := map[string]string{}
	for p, e := range want {
		switch {
		case e.Kind == change.Link:
			out[p] = "link " + e.Content
		case e.Exec:
			out[p] = "exec " + e.Content
		default:
			out[p] = "file " + e.Content
		}
	}
	return out
}
