package bridge

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/oxy-vcs/oxy/internal/hgbridge"
	"github.com/oxy-vcs/oxy/revlog"
)

// texts keeps the manifests that were read last: those of a changeset and its parents, and of the next ones.
type texts struct {
	kept []manifestText // the last used one last
}

type manifestText struct {
	node revlog.Node
	text []byte
}

// keptTexts is how many manifests are kept: three for a changeset, as many for another line of history.
const keptTexts = 6

// of gives the text of a flat manifest, valid until four others were asked for.
func (t *texts) of(hg *hgbridge.Repo, node revlog.Node) ([]byte, error) {
	if node == revlog.NullNode {
		return nil, nil
	}
	for i := range t.kept {
		if m := t.kept[i]; m.node == node {
			t.kept = append(append(t.kept[:i], t.kept[i+1:]...), m)
			return m.text, nil
		}
	}
	text, err := hg.Manifest(node)
	if err != nil {
		return nil, err
	}
	m := manifestText{node: node}
	if len(t.kept) == keptTexts {
		m.text = t.kept[0].text[:0]
		t.kept = append(t.kept[:0], t.kept[1:]...)
	}
	m.text = append(m.text, text...)
	t.kept = append(t.kept, m)
	return m.text, nil
}

// logs keeps the histories of files that were read last.
type logs struct {
	young, old map[string]*filelog
}

// keptLogs is half of how many histories are open at once: systems let a process have 256 files and more.
const keptLogs = 64

// filelog is the history of a file.
type filelog struct {
	file   *hgbridge.File
	log    *revlog.Log
	reader *revlog.Reader
}

func (l *logs) of(hg *hgbridge.Repo, path string) (*filelog, error) {
	f := l.young[path]
	if f != nil {
		return f, nil
	}
	if f = l.old[path]; f == nil {
		file, err := hg.File(path)
		if err != nil {
			return nil, err
		}
		f = &filelog{file, file.Log, file.Log.Reader()}
	}
	delete(l.old, path)
	if len(l.young) >= keptLogs {
		err := closeLogs(l.old)
		l.old, l.young = l.young, nil
		if err != nil {
			return nil, err
		}
	}
	if l.young == nil {
		l.young = map[string]*filelog{}
	}
	l.young[path] = f
	return f, nil
}

func (l *logs) close() error {
	return errors.Join(closeLogs(l.young), closeLogs(l.old))
}

func closeLogs(m map[string]*filelog) error {
	var errs []error
	for _, f := range m {
		f.reader.Close()
		errs = append(errs, f.file.Close())
	}
	return errors.Join(errs...)
}

// revision is a revision of a file.
type revision struct {
	contents []byte // valid until the next one is read
	before   []byte // what stands before them
	source   string // the path it was copied from, empty for none
	p1, p2   revlog.Node
	lacks    error // why the contents are not there
}

// read reads a revision.
func (l *filelog) read(node revlog.Node) (r revision, err error) {
	rev, err := l.log.Rev(node)
	if err != nil {
		return r, err
	}
	e, err := l.log.Entry(rev)
	if err != nil {
		return r, err
	}
	var err1, err2 error
	r.p1, err1 = l.log.Node(e.P1)
	r.p2, err2 = l.log.Node(e.P2)
	if err := errors.Join(err1, err2); err != nil {
		return r, err
	}
	text, err := l.reader.Text(rev)
	switch {
	case errors.Is(err, revlog.ErrExternal):
		r.lacks = err
		r.contents, err = l.reader.Raw(rev)
		return r, err
	case errors.Is(err, revlog.ErrCensored):
		r.lacks = err
		return r, nil
	case err != nil:
		return r, err
	case e.Flags&revlog.FlagEllipsis != 0:
		r.lacks = fmt.Errorf("a narrow clone cut its history")
	}
	m, contents, err := revlog.SplitFile(text)
	if err != nil {
		// What stands there is no metadata: Mercurial takes it for the file, and so does the proof.
		r.contents, r.before = text, nil
		return r, nil
	}
	r.contents, r.before, r.source = contents, text[:len(text)-len(contents)], m.CopySource
	return r, nil
}

// alike tells whether two revisions have the same contents. One may be null.
func (l *filelog) alike(a, b revlog.Node) (bool, error) {
	if a == revlog.NullNode || b == revlog.NullNode {
		return a == b, nil
	}
	sizes := [2]int32{}
	plain := true // neither can have metadata: only what has no first parent can
	for i, n := range [2]revlog.Node{a, b} {
		rev, err := l.log.Rev(n)
		if err != nil {
			return false, err
		}
		e, err := l.log.Entry(rev)
		if err != nil {
			return false, err
		}
		sizes[i] = e.Size
		plain = plain && e.P1 != revlog.Null && e.Size >= 0 && e.Flags == 0
	}
	if plain && sizes[0] != sizes[1] {
		return false, nil
	}
	ra, err := l.read(a)
	if err != nil {
		return false, err
	}
	if ra.lacks != nil {
		return false, nil
	}
	first := bytes.Clone(ra.contents)
	rb, err := l.read(b)
	if err != nil || rb.lacks != nil {
		return false, err
	}
	return bytes.Equal(first, rb.contents), nil
}
