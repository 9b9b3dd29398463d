package cli

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/diff"
	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/ui"
)

// patchOptions say how a difference is written.
type patchOptions struct {
	diff    diff.Options
	unified diff.Unified
	words   bool
	bold    string // of file headers
	reset   string
}

func newPatchOptions(context int, p *ui.Palette) patchOptions {
	o := patchOptions{unified: diff.Unified{Context: context}, bold: p.Bold, reset: p.Reset}
	if p.Reset != "" {
		o.unified.Palette = &diff.Palette{
			Hunk: p.Cyan, Old: p.Red, New: p.Green, OldMoved: p.Magenta, NewMoved: p.Blue, Reset: p.Reset,
		}
		o.unified.Moved = true
	}
	return o
}

// binarySniff is how far a NUL is looked for where nobody has read the file yet to tell whether it is text; the same as
// Git's.
const binarySniff = 8000

func isBinary(side *repo.Side, content []byte) bool {
	if side == nil || side.Kind == change.Link || side.Kind == change.Subrepo {
		return false
	}
	return side.Kind == change.Binary || bytes.IndexByte(content[:min(len(content), binarySniff)], 0) >= 0
}

// mode is a file's mode as Git writes it.
func mode(s *repo.Side) string {
	switch {
	case s.Kind == change.Link:
		return "120000"
	case s.Kind == change.Subrepo:
		return "160000"
	case s.Exec:
		return "100755"
	}
	return "100644"
}

// contents gives both sides of a file that differs: a repo.DiffSet.
type contents interface {
	Old(dst []byte, i int) ([]byte, error)
	New(dst []byte, i int) ([]byte, error)
}

// patcher writes the patches of files, one at a time; it keeps its memory between them.
type patcher struct {
	files  []repo.FileChange
	sides  contents
	opt    patchOptions
	differ diff.Differ
	a, b   []byte
	huge   bool // the contents were not read
}

func isHuge(s *repo.Side) bool { return s != nil && s.Size > change.MaxText }

func sizeOf(s *repo.Side) int64 {
	if s == nil {
		return 0
	}
	return s.Size
}

// read loads both sides of file i.
func (p *patcher) read(i int) (err error) {
	p.a, p.b, p.huge = p.a[:0], p.b[:0], false
	f := &p.files[i]
	if f.Old != nil && f.New != nil && f.What == repo.ModeChanged {
		return nil // alike
	}
	if p.huge = isHuge(f.Old) || isHuge(f.New); p.huge {
		return nil // no text is that large: it is only said to differ
	}
	if p.a, err = p.sides.Old(p.a, i); err == nil {
		p.b, err = p.sides.New(p.b, i)
	}
	if _, told := errors.AsType[*repo.Error](err); err != nil && !told {
		err = fmt.Errorf("read %s: %w", f.Path(), err)
	}
	return err
}

// appendPatch appends the patch of file i in Git's format.
func (p *patcher) appendPatch(dst []byte, i int) ([]byte, error) {
	if err := p.read(i); err != nil {
		return dst, err
	}
	f := &p.files[i]
	if f.Old != nil && f.New != nil && (mode(f.Old)[0:3] != mode(f.New)[0:3]) {
		// A file that became a link, or back, is one that went and one that came: no line of either is the other's.
		dst = p.appendSides(dst, f.Old, nil, f, p.a, nil)
		return p.appendSides(dst, nil, f.New, f, nil, p.b), nil
	}
	return p.appendSides(dst, f.Old, f.New, f, p.a, p.b), nil
}

func (p *patcher) appendSides(dst []byte, old, new *repo.Side, f *repo.FileChange, a, b []byte) []byte {
	oldPath, newPath := f.Path(), f.Path()
	if old != nil && new != nil {
		oldPath = old.Path
	} else if old != nil {
		oldPath, newPath = old.Path, old.Path
	}
	h := header{dst: dst, bold: p.opt.bold, reset: p.opt.reset}
	h.line("diff --git ", prefixed("a/", oldPath), " ", prefixed("b/", newPath))
	switch {
	case old == nil:
		h.line("new file mode ", mode(new))
	case new == nil:
		h.line("deleted file mode ", mode(old))
	default:
		if mode(old) != mode(new) {
			h.line("old mode ", mode(old))
			h.line("new mode ", mode(new))
		}
		if oldPath != newPath {
			if same := bytes.Equal(a, b) && !p.huge; same || f.Similar > 0 {
				like := f.Similar
				if same {
					like = 100
				}
				h.line("similarity index ", strconv.Itoa(like), "%")
			}
			h.line("rename from ", string(appendQuoted(nil, oldPath)))
			h.line("rename to ", string(appendQuoted(nil, newPath)))
		}
	}
	if bytes.Equal(a, b) && !p.huge {
		return h.dst
	}
	from, to := prefixed("a/", oldPath), prefixed("b/", newPath)
	if old == nil {
		from = "/dev/null"
	}
	if new == nil {
		to = "/dev/null"
	}
	if p.huge || isBinary(old, a) || isBinary(new, b) {
		h.bold, h.reset = "", ""
		h.line("Binary files ", from, " and ", to, " differ")
		return h.dst
	}
	edits := p.differ.Lines(a, b, p.opt.diff)
	if len(edits) == 0 {
		return h.dst
	}
	h.line("--- ", ended(from))
	h.line("+++ ", ended(to))
	if p.opt.words {
		return diff.AppendWordDiff(h.dst, a, b, edits, p.opt.unified)
	}
	return diff.AppendUnified(h.dst, a, b, edits, p.opt.unified)
}

// header writes the lines before the hunks.
type header struct {
	dst         []byte
	bold, reset string
}

func (h *header) line(parts ...string) {
	h.dst = append(h.dst, h.bold...)
	for _, s := range parts {
		h.dst = append(h.dst, s...)
	}
	h.dst = append(h.dst, h.reset...)
	h.dst = append(h.dst, '\n')
}

func prefixed(prefix, path string) string { return string(appendQuoted(nil, prefix+path)) }

// ended closes a name with spaces by a tab, or patch takes what follows the space for a date.
func ended(name string) string {
	if strings.Contains(name, " ") {
		return name + "\t"
	}
	return name
}

// stat counts the lines of file i.
func (p *patcher) stat(i int) (diff.FileStat, error) {
	if err := p.read(i); err != nil {
		return diff.FileStat{}, err
	}
	f := &p.files[i]
	s := diff.FileStat{Path: string(appendQuoted(nil, f.Path()))}
	if f.What == repo.Moved {
		s.OldPath = string(appendQuoted(nil, f.Old.Path))
	}
	if p.huge || isBinary(f.Old, p.a) || isBinary(f.New, p.b) {
		if s.Binary = true; p.huge || !bytes.Equal(p.a, p.b) {
			s.OldSize, s.NewSize = sizeOf(f.Old), sizeOf(f.New)
		}
		return s, nil
	}
	s.Added, s.Deleted = diff.Count(p.differ.Lines(p.a, p.b, p.opt.diff))
	return s, nil
}

// json is file i with its hunks.
func (p *patcher) json(i int, hunks bool) (jsonFile, error) {
	f := &p.files[i]
	j := newFile(f)
	if err := p.read(i); err != nil {
		return j, err
	}
	if j.Binary = p.huge || isBinary(f.Old, p.a) || isBinary(f.New, p.b); j.Binary {
		return j, nil
	}
	edits := p.differ.Lines(p.a, p.b, p.opt.diff)
	added, deleted := diff.Count(edits)
	j.Added, j.Deleted = &added, &deleted
	if !hunks {
		return j, nil
	}
	for i := range edits {
		e := &edits[i]
		if e.Blank {
			continue
		}
		j.Hunks = append(j.Hunks, jsonHunk{
			OldStart: e.A0 + 1, NewStart: e.B0 + 1,
			Old: lines(p.a[e.AOff0:e.AOff1]), New: lines(p.b[e.BOff0:e.BOff1]),
		})
	}
	return j, nil
}

// lines cuts text, each line with its end.
func lines(text []byte) []string {
	out := []string{}
	for line := range bytes.Lines(text) {
		out = append(out, string(line))
	}
	return out
}
