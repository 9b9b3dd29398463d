package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/oxy-vcs/oxy/internal/ignore"
	"github.com/oxy-vcs/oxy/internal/safepath"
)

// The ignore files of a directory, the one that decides last first.
var ignoreFiles = [...]string{".gitignore", ".oxyignore"}

// Untrack makes the next record remove ignored files from the history that follows and leave them on disk.
func (r *Repo) Untrack(ctx context.Context, paths []string) ([]string, error) {
	return transact(r, func(t *tx) ([]string, error) { return t.untrack(ctx, paths) })
}

func (t *tx) untrack(ctx context.Context, paths []string) ([]string, error) {
	r := t.r
	base, err := r.stateRef(baseOf(t.view))
	if err != nil {
		return nil, err
	}
	pend, err := r.loadPending()
	if err != nil {
		return nil, err
	}
	var rules []*ignore.Rules
	for _, text := range r.excludes() {
		rules = append(rules, ignore.Parse(text))
	}
	global := ignore.NewStack(rules...)
	var files []string
	for _, path := range paths {
		if err := r.refusePartly(base, path, "untrack"); err != nil {
			return nil, err
		}
		tracked, err := r.trackedUnder(base, path)
		if err != nil {
			return nil, err
		}
		if len(tracked) == 0 {
			return nil, &Error{Text: safepath.Quote(path) + " was never recorded: there is nothing to untrack", Next: "See what is recorded with: oxy files"}
		}
		for _, f := range tracked {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			v, err := ignore.MatchPath(global, r.rulesOf, f, false)
			if err != nil {
				return nil, err
			}
			if v != ignore.Ignored {
				return nil, &Error{Text: fmt.Sprintf("%s is not ignored: the next commit would record it again", safepath.Quote(f)),
					Next: "Add it to .oxyignore first. To delete it: oxy rm " + safepath.Quote(f)}
			}
			files = append(files, f)
			if !slices.Contains(pend.Untracked, f) {
				pend.Untracked = append(pend.Untracked, f)
			}
		}
	}
	return files, r.savePending(pend)
}

// rulesOf reads the ignore rules of a directory of the working copy.
func (r *Repo) rulesOf(dir string) (out []*ignore.Rules, err error) {
	for _, name := range ignoreFiles {
		if dir != "" {
			name = dir + "/" + name
		}
		b, err := r.fs.ReadFile(r.disk(name), maxExclude)
		if errors.Is(err, fs.ErrNotExist) || isNotDir(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, ignore.Parse(b).WithSource(name))
	}
	return out, nil
}
