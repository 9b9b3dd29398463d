package cli

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/gitbridge/bridge"
	"github.com/oxy-vcs/oxy/internal/repo"
)

// While a whole history is read, garbage is collected when it is half of what is in use. To let it grow to a limit, as other commands
// do, costs more where the limit is often reached: each large piece then has memory given back to the system first, and taken again, and of
// the time of two cores to import git's own history up to v2.0.0 that was a fifth. The limit stands above what is reached. Beside it packs, log and
// trees are mapped, a batch's worth at a time: of git's own history 1.2 GB in all.
const (
	historyGarbage = 50
	historyMemory  = 760 << 20
)

// collectForHistory has garbage collected so, until what it gives is called.
func collectForHistory() (restore func()) {
	percent, limit := debug.SetGCPercent(historyGarbage), debug.SetMemoryLimit(historyMemory)
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}

func gitImportCommand(a *app) *cobra.Command {
	var opt bridge.Options
	c := &cobra.Command{
		Use:   "import PATH",
		Short: "Bring in the history of a Git repository",
		Long: `Bring the branches and tags of the Git repository at PATH, bare or not, into this one. Each commit becomes a change,
each branch a bookmark, each tag a tag; all that Git says of a commit is kept, so that it can be given back to the last
byte. A merge becomes the union of what it merged and a change that makes of it what Git has.

Again, it brings in what is new. Branches that moved or went since take their bookmarks along, unless these were moved
here too. Interrupted, it goes on where it was. The working copy stays as it is.`,
		Example: `  oxy git import ../project
  oxy git import ../project --refs 'refs/heads/*'`,
		Args: exactly(1, "the path of a Git repository"),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			dir, err := a.cwd()
			if err != nil {
				return err
			}
			defer collectForHistory()()
			opt.FS, opt.Progress = a.fs, a.gitProgress()
			rep, err := bridge.Import(a.interruptible(), r, join(dir, args[0]), opt)
			if err != nil {
				return err
			}
			if a.json {
				return a.importedJSON(rep)
			}
			if err := a.imported(rep); err != nil {
				return err
			}
			return a.nextAfterImport(r, rep.Head)
		},
	}
	c.Flags().StringArrayVar(&opt.Refs, "refs", nil, "bring in the refs that match `GLOB` only; can be given again")
	c.Flags().BoolVar(&opt.SkipBad, "skip-bad", false, "leave out what is malformed or missing, and say so")
	return c
}

// gitProgress is the bar, or nothing.
func (a *app) gitProgress() repo.Progress {
	if a.progress == nil {
		return noBar{}
	}
	return a.progress
}

type noBar struct{}

func (noBar) Begin(string, int64, bool) {}
func (noBar) Add(int64)                 {}
func (noBar) End()                      {}

// shownLeft is how many things that were not carried are listed.
const shownLeft = 20

func (a *app) imported(rep *bridge.Report) error {
	b := a.out.buf
	if rep.Commits == 0 {
		b = append(b, "No new commits."...)
	} else {
		b = fmt.Appendf(b, "Imported %s, %s among them, in %.1f seconds: %.0f a second.", plural(rep.Commits, "commit"), plural(rep.Merges, "merge"), rep.Seconds, float64(rep.Commits)/max(rep.Seconds, 0.001))
	}
	if rep.Commits > 0 {
		b = appendTaken(b, rep.Files, rep.Bytes, rep.Settled, rep.Size, "Git's objects", rep.GitSize)
	}
	b = append(append(append(append(append(b, '\n'), plural(rep.Bookmarks, "bookmark")...), ", "...), plural(rep.Tags, "tag")...), '\n')
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

// appendTaken says what an import brought, and what that takes beside where it came from.
func appendTaken(b []byte, files int, bytes int64, settled int, ours int64, what string, theirs int64) []byte {
	b = fmt.Appendf(b, "\n%s changed, %s of contents; %s that merges had settled.", plural(files, "file"), size(bytes), plural(settled, "conflict"))
	return fmt.Appendf(b, "\nThe repository takes %s, %s %s.", size(ours), what, size(theirs))
}

// nextAfterImport says how to get at the files, to someone who has none yet.
func (a *app) nextAfterImport(r *repo.Repo, head string) error {
	usual, stands, err := r.ToCheckout()
	if head == "" {
		head = usual
	}
	if err != nil || stands || head == "" {
		return err
	}
	return a.out.printf("Get its files with: oxy checkout %s\n", appendQuoted(nil, head))
}

type jsonLeft struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

func (a *app) importedJSON(rep *bridge.Report) error {
	left := make([]jsonLeft, len(rep.Left))
	for i, l := range rep.Left {
		left[i] = jsonLeft{l.Name, l.Err.Error()}
	}
	return a.printJSON(struct {
		Commits   int        `json:"commits"`
		Merges    int        `json:"merges"`
		Settled   int        `json:"settled"`
		Files     int        `json:"files"`
		Bytes     int64      `json:"bytes"`
		Bookmarks int        `json:"bookmarks"`
		Tags      int        `json:"tags"`
		Seconds   float64    `json:"seconds"`
		Size      int64      `json:"size"`
		GitSize   int64      `json:"git_size"`
		Left      []jsonLeft `json:"left"`
	}{rep.Commits, rep.Merges, rep.Settled, rep.Files, rep.Bytes, rep.Bookmarks, rep.Tags, rep.Seconds, rep.Size, rep.GitSize, left})
}
