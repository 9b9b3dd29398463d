package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/diff"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/vfs"
	"github.com/oxy-vcs/oxy/internal/weave"
	"github.com/oxy-vcs/oxy/internal/worktree"
)

var errNoFile = errors.New("not in the tree")

// fileAt finds a file of a state.
func (r *Repo) fileAt(s StateRef, path string) (*state.Entry, error) {
	t, err := r.tree(s.Num)
	if err != nil {
		return nil, err
	}
	e, ok, err := t.Get(path)
	if err != nil {
		return nil, err
	}
	if !ok {
		if dir, err := t.Under(path); err != nil {
			return nil, err
		} else if dir {
			return nil, &Error{Text: safepath.Quote(path) + " is a directory", Next: "Name a file in it."}
		}
		return nil, &Error{Text: "there is no file " + safepath.Quote(path) + " in that state", Next: "See which there are with: oxy files", Err: errNoFile}
	}
	return &e, nil
}

// Cat writes a file as a state has it.
func (r *Repo) Cat(w io.Writer, s StateRef, path string) error {
	_, err := mended(r, func() (struct{}, error) {
		e, err := r.fileAt(s, path)
		if err != nil {
			return struct{}{}, err
		}
		return struct{}{}, r.writeContent(w, e)
	})
	return err
}

// Files lists the files of a state beneath path, in order.
func (r *Repo) Files(s StateRef, path string, fn func(*Side) error) error {
	told := 0
	_, err := mended(r, func() (struct{}, error) {
		t, err := r.tree(s.Num)
		if err != nil {
			return struct{}{}, err
		}
		n := 0
		return struct{}{}, t.Walk(path, func(e *state.Entry) error {
			if n++; n <= told { // before the trees had to be made again
				return nil
			}
			told++
			return fn(entrySide(e))
		})
	})
	return err
}

// Blame tells who wrote each line of a file.
func (r *Repo) Blame(ctx context.Context, path string, opt BlameOptions) ([]BlameRun, error) {
	return mended(r, func() ([]BlameRun, error) { return r.blame(ctx, path, opt) })
}

func (r *Repo) blame(ctx context.Context, path string, opt BlameOptions) ([]BlameRun, error) {
	s := opt.State
	if s == nil {
		base, err := r.Base()
		if err != nil {
			return nil, err
		}
		s = &base
	}
	e, err := r.fileAt(*s, path)
	if err != nil {
		if opt.State == nil && errors.Is(err, errNoFile) {
			if there, _ := r.exists(path); there {
				return nil, &Error{Text: safepath.Quote(path) + " was never recorded", Next: "Record it with: oxy commit"}
			}
		}
		return nil, err
	}
	if e.Kind != change.Text {
		return nil, &Error{Text: fmt.Sprintf("%s has no lines: it is a %s file", safepath.Quote(path), e.Kind)}
	}
	l, err := r.loadWeave(e)
	if err != nil {
		return nil, err
	}
	b := &blamer{r: r, l: l, t: texts{r: r, l: l}, infos: map[uint32]*ChangeInfo{}, opt: opt}
	done := r.opt.Timings.Phase("blame")
	defer done(int64(e.Size))
	if len(l.w.Open()) > 0 {
		err = b.pageRuns(e)
	} else {
		err = b.runs()
	}
	if err != nil {
		return nil, err
	}
	if opt.State == nil {
		if err := b.working(path, e); err != nil {
			return nil, err
		}
	}
	return b.finish()
}

type blamer struct {
	r     *Repo
	l     *loaded
	t     texts
	infos map[uint32]*ChangeInfo
	opt   BlameOptions
	out   []BlameRun
	shown []byte // the whole text, where nothing that is gone is told between
}

func (b *blamer) info(n uint32) (*ChangeInfo, error) {
	if c, ok := b.infos[n]; ok {
		return c, nil
	}
	c, err := b.r.Info(n)
	b.infos[n] = c
	return c, err
}

// tells reports whether a run is told of: what shows, and what is gone when that is asked for. A twin that another is shown in
// the stead of is neither.
func (b *blamer) tells(run *weave.Run) bool {
	return run.Shown() || b.opt.Deleted && run.Dead != 0
}

// runs gives the runs that show, and those that are gone when asked for, joined where nothing tells them apart.
func (b *blamer) runs() error {
	// One buffer for all that is told: neighbours are joined in it by telling a longer piece, without a copy for each.
	size := 0
	for i := range b.l.w.Runs {
		if run := &b.l.w.Runs[i]; b.tells(run) {
			size += int(run.Len)
		}
	}
	all := make([]byte, 0, size)
	for i := range b.l.w.Runs {
		run := &b.l.w.Runs[i]
		if !b.tells(run) {
			continue
		}
		text, err := b.t.run(run)
		if err != nil {
			return err
		}
		c, err := b.info(run.Change)
		if err != nil {
			return err
		}
		var by []*ChangeInfo
		for _, d := range b.l.w.Members(run.Dead) {
			if run.Shown() { // deleted, and taken back
				break
			}
			who, err := b.info(d)
			if err != nil {
				return err
			}
			by = append(by, who)
		}
		at := len(all)
		all = append(all, text...)
		if k := len(b.out) - 1; k >= 0 && b.out[k].Change == c && slices.Equal(b.out[k].DeletedBy, by) {
			b.out[k].Text = all[at-len(b.out[k].Text) : len(all) : len(all)]
			continue
		}
		b.out = append(b.out, BlameRun{Change: c, Text: all[at:len(all):len(all)], DeletedBy: by})
	}
	if !b.opt.Deleted {
		b.shown = all
	}
	return nil
}

// holds tells whether a file has exactly this content, in little memory. What keeps it from being told is a no.
func holds(dir vfs.Dir, name string, text []byte) bool {
	f, err := dir.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	var st vfs.Stat
	if err := f.Stat(&st); err != nil || st.Kind != vfs.KindFile || st.Size != int64(len(text)) {
		return false
	}
	buf := make([]byte, min(len(text), 64<<10))
	for len(text) > 0 {
		n, err := io.ReadFull(f, buf[:min(len(buf), len(text))])
		if err != nil || !bytes.Equal(buf[:n], text[:n]) {
			return false
		}
		text = text[n:]
	}
	return true
}

// working weaves the working file's unrecorded edits in.
func (b *blamer) working(path string, e *state.Entry) error {
	root, err := b.r.openRoot()
	if err != nil {
		return err
	}
	defer root.Close()
	// To compare the file is cheaper than to load the manifest, which would only say that it need not be read.
	rd := &reader{root: root}
	defer rd.close()
	dir, name, err := rd.open(path)
	var now []byte
	var st vfs.Stat
	if err == nil {
		if b.shown != nil && holds(dir, name, b.shown) {
			return nil
		}
		now, st, err = worktree.ReadFile(dir, name, nil, change.MaxText)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil // deleted and not recorded: the recorded one is told
	}
	if err != nil {
		return readError(safepath.Quote(path), err)
	}
	if st.Kind != vfs.KindFile || hashOf(now) == e.Hash || worktree.IsBinary(now) {
		return nil
	}
	var before []byte
	for i := range b.out {
		if b.out[i].DeletedBy == nil {
			before = append(before, b.out[i].Text...)
		}
	}
	var d diff.Differ
	old := b.out
	b.out = nil
	at, i, used := 0, 0, 0 // at: byte of before; used: bytes taken of old[i]
	copyTo := func(to int, gone bool) {
		for i < len(old) && (at < to || old[i].DeletedBy != nil && (used == 0 || at == to)) {
			run := old[i]
			if run.DeletedBy != nil {
				b.out = append(b.out, run)
				i++
				continue
			}
			n := min(len(run.Text)-used, to-at)
			if n == 0 {
				break
			}
			if !gone {
				b.out = append(b.out, BlameRun{Change: run.Change, Mark: run.Mark, Text: run.Text[used : used+n]})
			}
			at += n
			if used += n; used == len(run.Text) {
				i, used = i+1, 0
			}
		}
	}
	for _, ed := range d.Lines(before, now, diff.Options{}) {
		copyTo(ed.AOff0, false)
		if ed.BOff1 > ed.BOff0 {
			b.out = append(b.out, BlameRun{Text: now[ed.BOff0:ed.BOff1]})
		}
		copyTo(ed.AOff1, true)
	}
	copyTo(len(before), false)
	return nil
}

// finish numbers the lines and cuts the range that was asked for.
func (b *blamer) finish() ([]BlameRun, error) {
	line := 1
	var out []BlameRun
	for _, run := range b.out {
		if run.DeletedBy != nil {
			if line >= max(b.opt.From, 1) && (b.opt.To == 0 || line <= b.opt.To+1) {
				out = append(out, run)
			}
			continue
		}
		n := bytes.Count(run.Text, []byte{'\n'})
		if len(run.Text) > 0 && run.Text[len(run.Text)-1] != '\n' {
			n++
		}
		run.Line = line
		line += n
		if run, ok := cutRun(run, n, b.opt.From, b.opt.To); ok {
			out = append(out, run)
		}
	}
	if b.opt.From >= line && b.opt.From > 1 {
		return nil, &Error{Text: fmt.Sprintf("the file has only %d lines", line-1)}
	}
	return out, nil
}

// cutRun leaves of a run of n lines those from line from to line to; 0 is no bound.
func cutRun(run BlameRun, n, from, to int) (BlameRun, bool) {
	if from > run.Line+n-1 || to != 0 && to < run.Line {
		return run, false
	}
	if to != 0 && to < run.Line+n-1 {
		run.Text = run.Text[:lineEnd(run.Text, to-run.Line+1)]
	}
	if from > run.Line {
		run.Text = run.Text[lineEnd(run.Text, from-run.Line):]
		run.Line = from
	}
	return run, true
}

// lineEnd is where the n-th line of text ends.
func lineEnd(text []byte, n int) (at int) {
	for range n {
		i := bytes.IndexByte(text[at:], '\n')
		if i < 0 {
			return len(text)
		}
		at += i + 1
	}
	return at
}
