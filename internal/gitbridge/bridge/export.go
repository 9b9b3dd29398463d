package bridge

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
	"github.com/oxy-vcs/oxy/internal/gitbridge/odb"
	"github.com/oxy-vcs/oxy/internal/gitbridge/tree"
	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

type ExportOptions struct {
	FS        vfs.FS
	Bookmarks []string // none: all, and all tags
	Force     bool     // also move what is no descendant of what Git has
	Progress  repo.Progress
}

type Exported struct {
	Commits int // written
	New     int // of these, ones that never came from Git
	Refs    []string
	Left    []Left
	Created bool // the Git repository
}

func Export(ctx context.Context, r *repo.Repo, at string, opt ExportOptions) (_ *Exported, err error) {
	x, err := newExporter(r, "Exporting", opt.Progress)
	if err != nil {
		return nil, err
	}
	x.opt = opt
	if x.db, err = x.openOrCreate(at); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, x.db.Close()) }()
	if x.db.Format != x.f {
		return nil, &repo.Error{Text: fmt.Sprintf("the Git repository names objects by %s, and what came from Git here by %s", x.db.Format, x.f)}
	}
	refs, err := x.choose()
	if err != nil {
		return nil, err
	}
	refs, tips, err := x.closed(refs)
	if err != nil {
		return nil, err
	}
	if err := x.write(ctx, tips); err != nil {
		return nil, err
	}
	return x.out, x.finish(ctx, refs)
}

func (x *exporter) openOrCreate(at string) (*odb.DB, error) {
	db, err := odb.Open(x.opt.FS, at, odb.Options{Detect: detector})
	if err == nil || !errors.Is(err, odb.ErrNotGit) {
		return db, err
	}
	if list, err := x.opt.FS.ReadDir(at); err == nil && len(list) > 0 {
		return nil, &repo.Error{Text: "neither a Git repository nor an empty directory: " + at, Next: "Name another place.", Err: err}
	}
	for _, dir := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags"} {
		if err := x.opt.FS.MkdirAll(filepath.Join(at, filepath.FromSlash(dir)), 0o777); err != nil {
			return nil, err
		}
	}
	config := "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n"
	if x.f == object.SHA256 {
		config = "[core]\n\trepositoryformatversion = 1\n\tfilemode = true\n\tbare = true\n[extensions]\n\tobjectformat = sha256\n"
	}
	for name, text := range map[string]string{"config": config, "HEAD": "ref: refs/heads/main\n"} {
		if err := vfs.WriteFileAtomic(x.opt.FS, filepath.Join(at, name), []byte(text), true); err != nil {
			return nil, err
		}
	}
	x.out.Created = true
	return odb.Open(x.opt.FS, at, odb.Options{Detect: detector})
}

type want struct {
	ref   string
	state uint32
}

func (x *exporter) choose() ([]want, error) {
	bookmarks, tags, err := x.r.NamedStates()
	if err != nil {
		return nil, err
	}
	var out []want
	for _, b := range x.opt.Bookmarks {
		s, ok := bookmarks[b]
		if !ok {
			return nil, &repo.Error{Text: fmt.Sprintf("no bookmark %q", b), Next: "See them with: oxy bookmark"}
		}
		out = append(out, want{"refs/heads/" + b, s})
	}
	if len(x.opt.Bookmarks) == 0 {
		for b, s := range bookmarks {
			if strings.HasPrefix(b, asideBookmark) {
				continue
			}
			out = append(out, want{"refs/heads/" + b, s})
		}
		for t, s := range tags {
			out = append(out, want{"refs/tags/" + t, s})
		}
	}
	out = slices.DeleteFunc(out, func(w want) bool { return w.state == repo.NoState })
	slices.SortFunc(out, func(a, b want) int { return slices.Compare([]byte(a.ref), []byte(b.ref)) })
	return out, nil
}

func (x *exporter) closed(refs []want) (out []want, tips []uint32, err error) {
	for _, w := range refs {
		n, err := x.node(w.state)
		if err != nil {
			return nil, nil, err
		}
		if n.open {
			x.out.Left = append(x.out.Left, Left{w.ref, errors.New("conflicts are open in it: settle them first")})
			continue
		}
		out, tips = append(out, w), append(tips, w.state)
	}
	return out, tips, nil
}

func (x *exporter) write(ctx context.Context, tips []uint32) (err error) {
	todo, onOld, err := x.todo(tips)
	if err != nil {
		return err
	}
	reader := x.db.NewReader()
	x.load = func(id object.ID) ([]byte, error) {
		kind, raw, err := reader.Read(id, nil)
		if err == nil && kind != object.TreeKind {
			err = tree.ErrNotTree
		}
		return raw, err
	}
	if x.pack, err = odb.NewPackWriter(x.db); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.pack.Abort()) }()
	if err := x.commits(ctx, todo, onOld, reader); err != nil {
		return err
	}
	if err := x.tagObjects(); err != nil {
		return err
	}
	_, err = x.pack.Finish()
	return err
}

func (x *exporter) tagObjects() error {
	s, err := loadSeen(x.r, x.f)
	if err != nil {
		return err
	}
	for id, h := range s.tags {
		if x.db.Has(id) {
			continue
		}
		raw, err := x.r.Content(h)
		if repo.Lost(err) {
			return lostKept("tag "+id.String(), err)
		}
		if err != nil {
			return err
		}
		if err := x.pack.AddAs(id, object.TagKind, raw); err != nil {
			return err
		}
	}
	return nil
}
