package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/hgbridge/bridge"
	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// maxAuthors bounds a map of authors, bytes: a line for each of a hundred thousand people.
const maxAuthors = 16 << 20

func hgImportCommand(a *app) *cobra.Command {
	var opt bridge.Options
	var authors string
	var ignore bool
	c := &cobra.Command{
		Use:   "import PATH",
		Short: "Bring in the history of a Mercurial repository",
		Long: `Bring the history of the Mercurial repository at PATH into this one. Each changeset becomes a change; bookmarks and the
heads of branches become bookmarks, tags become tags. Further heads of a branch get their id behind its name, and closed
ones that nothing stands upon are closed/BRANCH. All that Mercurial says of a changeset is kept, so that its id can be
proved. A merge becomes the union of what it merged and a change that makes of it what Mercurial has.

Secret and obsolete changesets stay out unless they are asked for. Again, it brings in what is new, and names that moved or
went since take theirs along, unless these were moved here too. Interrupted, it goes on where it was. The working copy
stays as it is.`,
		Example: `  oxy hg import ../project
  oxy hg import ../project --authors authors.txt`,
		Args: exactly(1, "the path of a Mercurial repository"),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			dir, err := a.cwd()
			if err != nil {
				return err
			}
			if authors != "" {
				text, err := a.fs.ReadFile(join(dir, authors), maxAuthors)
				if err != nil {
					return err
				}
				if opt.Authors, err = bridge.ParseAuthors(text); err != nil {
					return &repo.Error{Text: fmt.Sprintf("%s: %v", authors, err), Next: "Write a line for each: USER = NAME <ADDRESS>", Err: err}
				}
			}
			opt.FS, opt.Progress = a.fs, a.gitProgress()
			rep, err := bridge.Import(a.interruptible(), r, join(dir, args[0]), opt)
			if err != nil {
				return err
			}
			if ignore {
				left, err := a.translateIgnore(r, join(dir, args[0]))
				if err != nil {
					return err
				}
				rep.Left = append(rep.Left, left...)
			}
			if a.json {
				return a.importedHgJSON(rep)
			}
			if err := a.importedHg(rep); err != nil {
				return err
			}
			return a.nextAfterImport(r, "")
		},
	}
	c.Flags().BoolVar(&opt.Secret, "secret", false, "bring in secret changesets too")
	c.Flags().BoolVar(&opt.Obsolete, "obsolete", false, "bring in obsolete changesets too")
	c.Flags().StringVar(&authors, "authors", "", "take who users are from `FILE`, with lines USER = NAME <ADDRESS>")
	c.Flags().BoolVar(&ignore, "ignore", false, "write an .oxyignore that says what the .hgignore at PATH says")
	return c
}

// maxHgIgnore bounds a .hgignore, bytes, as ignore files are bounded here.
const maxHgIgnore = 4 << 20

// translateIgnore writes an .oxyignore for the .hgignore of a Mercurial repository's working copy, if there is one, and gives what could not be said.
func (a *app) translateIgnore(r *repo.Repo, path string) ([]bridge.Left, error) {
	text, err := a.fs.ReadFile(filepath.Join(path, ".hgignore"), maxHgIgnore)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	to := filepath.Join(r.Root(), ".oxyignore")
	var st vfs.Stat
	if err := a.fs.Lstat(to, &st); err == nil {
		return []bridge.Left{{Name: ".hgignore", Err: errors.New("there is an .oxyignore already")}}, nil
	}
	out, left := bridge.TranslateIgnore(text)
	return left, vfs.WriteFileAtomic(a.fs, to, out, false)
}

func (a *app) importedHg(rep *bridge.Report) error {
	b := a.out.buf
	if rep.Changesets == 0 {
		b = append(b, "No new changesets."...)
	} else {
		b = fmt.Appendf(b, "Imported %s, %s among them, in %.1f seconds: %.0f a second.", plural(rep.Changesets, "changeset"), plural(rep.Merges, "merge"), rep.Seconds,
			float64(rep.Changesets)/max(rep.Seconds, 0.001))
	}
	if rep.Changesets > 0 {
		b = appendTaken(b, rep.Files, rep.Bytes, rep.Settled, rep.Size, "Mercurial's store", rep.HgSize)
	}
	b = fmt.Appendf(b, "\n%s, %s\n", plural(rep.Bookmarks, "bookmark"), plural(rep.Tags, "tag"))
	if rep.Secret > 0 {
		b = fmt.Appendf(b, "Left out: %s. Bring them in with: oxy hg import --secret\n", plural(rep.Secret, "secret changeset"))
	}
	if rep.Obsolete > 0 {
		b = fmt.Appendf(b, "Left out: %s. Bring them in with: oxy hg import --obsolete\n", plural(rep.Obsolete, "obsolete changeset"))
	}
	for _, s := range rep.Subrepos {
		b = fmt.Appendf(b, "Subrepository, of which only .hgsub and .hgsubstate are carried: %s (%s from %s)\n", safepath.Quote(s.Path), s.Kind, safepath.Quote(s.Source))
	}
	for i, l := range rep.Left {
		if i == shownLeft {
			b = fmt.Appendf(b, "and %d more\n", len(rep.Left)-i)
			break
		}
		b = appendQuoted(append(b, "Not carried: "...), l.Name)
		b = append(append(append(b, ": "...), l.Err.Error()...), '\n')
	}
	a.out.buf = b
	return a.out.spill()
}

type jsonSubrepo struct {
	Path   string `json:"path"`
	Kind   string `json:"kind"`
	Source string `json:"source"`
	State  string `json:"state"`
}

func (a *app) importedHgJSON(rep *bridge.Report) error {
	subs := make([]jsonSubrepo, len(rep.Subrepos))
	for i, s := range rep.Subrepos {
		subs[i] = jsonSubrepo{s.Path, s.Kind, s.Source, s.State}
	}
	return a.printJSON(struct {
		Changesets int           `json:"changesets"`
		Merges     int           `json:"merges"`
		Settled    int           `json:"settled"`
		Files      int           `json:"files"`
		Bytes      int64         `json:"bytes"`
		Bookmarks  int           `json:"bookmarks"`
		Tags       int           `json:"tags"`
		Secret     int           `json:"secret"`
		Obsolete   int           `json:"obsolete"`
		Seconds    float64       `json:"seconds"`
		Size       int64         `json:"size"`
		HgSize     int64         `json:"hg_size"`
		Subrepos   []jsonSubrepo `json:"subrepos"`
		Left       []jsonLeft    `json:"left"`
	}{rep.Changesets, rep.Merges, rep.Settled, rep.Files, rep.Bytes, rep.Bookmarks, rep.Tags, rep.Secret, rep.Obsolete, rep.Seconds, rep.Size, rep.HgSize, subs, leftHg(rep.Left)})
}

func leftHg(left []bridge.Left) []jsonLeft {
	out := make([]jsonLeft, len(left))
	for i, l := range left {
		out[i] = jsonLeft{l.Name, l.Err.Error()}
	}
	return out
}
