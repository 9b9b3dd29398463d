package cli

import (
	"fmt"
	"runtime/debug"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/repo"
)

// fsckMemory is where garbage collection begins while a repository is checked: beside it the log is mapped.
const fsckMemory = 192 << 20

func fsckCommand(a *app) *cobra.Command {
	var quick, repair, drop bool
	var from string
	c := &cobra.Command{
		Use:   "fsck",
		Short: "Look for damage in the repository",
		Long: `Read all of the repository and prove that it is whole: every checksum and hash, every change and all that it names,
every state and operation, and that the files of bookmarks, tags and the working copy come out as the changes make them.
Nothing is written. What is damaged is told with what it affects and what mends it, and the exit code is then 1.

With --repair the remotes, or the one copy that --from names, are asked for the changes and contents that are damaged or
missing. What comes is proved by its hashes and put in place of what is damaged. Then all that is derived, the indexes, the
trees and what was last seen in the working copy, is made again from the changes, and the repository is looked at once more.
What nobody has is named with what it affects, and stays as damaged as it is; the exit code tells whether such damage is left.

With --drop-lost, what nobody has goes, and the repository goes on without it: a damaged change with all that depend on it, and
of damaged operations what they did. --repair alone says before, by name, what would go. The repository as it was is kept
beneath .oxy/lost, to open and to read, until you remove that. Files in the working copy stay as they are: what a change that
went had brought, status shows as edits, and commit records anew.`,
		Example: `  oxy fsck
  oxy fsck --quick
  oxy fsck --repair
  oxy fsck --repair --from /backup/project
  oxy fsck --repair --drop-lost`,
		Args: nothing,
		RunE: func(*cobra.Command, []string) error {
			if from != "" && !repair {
				return usage("fsck", "--from goes with --repair")
			}
			if drop && !repair {
				return usage("fsck", "--drop-lost goes with --repair")
			}
			dir, err := a.cwd()
			if err != nil {
				return err
			}
			r, err := a.openBy(repo.OpenDamaged)
			if err != nil {
				return err
			}
			defer debug.SetMemoryLimit(debug.SetMemoryLimit(fsckMemory))
			began := a.now()
			res, err := r.Fsck(a.interruptible(), repo.FsckOptions{Quick: quick})
			if err != nil {
				return err
			}
			var repaired []repo.Repaired
			found := res
			if repair {
				if repaired, err = r.Repair(a.interruptible(), repo.RepairOptions{From: from, Dir: dir, Messages: a.stdio.Err, DropLost: drop}); err != nil {
					return err
				}
				if res, err = r.Fsck(a.interruptible(), repo.FsckOptions{}); err != nil {
					return err
				}
			}
			if a.json {
				err = a.fsckJSON(res, found, repaired, quick, a.now().Sub(began).Seconds())
			} else {
				if repair && len(found.Problems) > 0 {
					if err := a.listFsck(found); err != nil {
						return err
					}
				}
				if err := a.listRepaired(repaired); err != nil {
					return err
				}
				err = a.listFsck(res)
			}
			if err == nil && len(res.Problems) > 0 {
				return errNo
			}
			return err
		},
	}
	c.Flags().BoolVar(&quick, "quick", false, "only the checksums of the log and its indexes")
	c.Flags().BoolVar(&repair, "repair", false, "fetch what is damaged from other copies, and make all that is derived again")
	c.Flags().StringVar(&from, "from", "", "the `REMOTE|PATH` to ask for what is damaged, in place of all remotes")
	c.Flags().BoolVar(&drop, "drop-lost", false, "go on without what is damaged and nobody has, and what depends on it")
	c.MarkFlagsMutuallyExclusive("quick", "repair")
	return c
}

// listRepaired says what was made again, and of what could not be, why.
func (a *app) listRepaired(repaired []repo.Repaired) error {
	for _, d := range repaired {
		var err error
		if d.Err != nil {
			err = a.out.printf("Not made again: %s: %v\n", d.What, d.Err)
		} else {
			err = a.out.printf("Made again: %s.\n", d.What)
		}
		if err != nil {
			return err
		}
		if err := a.listLost(&d); err != nil {
			return err
		}
	}
	return nil
}

// listLost says what nobody has, by name, and where what went is kept.
func (a *app) listLost(d *repo.Repaired) error {
	list := d.Gone
	if len(list) > 0 {
		a.out.buf = append(a.out.buf, "Gone:\n"...)
	} else if list = d.Lost; len(list) > 0 {
		a.out.buf = append(a.out.buf, "To go on without what is lost: oxy fsck --repair --drop-lost. That would drop:\n"...)
	}
	for _, line := range list {
		a.out.buf = append(append(append(a.out.buf, "  "...), line...), '\n')
	}
	if d.Aside == "" {
		return a.out.spill()
	}
	what := "The damaged bytes are"
	if len(d.Gone) > 0 {
		what = "The repository as it was is"
	}
	return a.out.printf("%s kept in %s; remove that when you need it no more.\n", what, d.Aside)
}

func (a *app) listFsck(res *repo.FsckResult) error {
	p := a.colours()
	for i := range res.Problems {
		pr := &res.Problems[i]
		b := append(append(append(a.out.buf, p.Red...), "damaged"...), p.Reset...)
		if b = append(b, ": "...); pr.File != "" {
			b = append(append(append(b, pr.File...), " at offset "...), strconv.FormatInt(pr.Offset, 10)...)
			b = append(b, ": "...)
		}
		b = append(appendQuoted(b, pr.Text), '\n')
		for _, path := range pr.Paths {
			b = append(appendQuoted(append(b, "  file "...), path), '\n')
		}
		if n := pr.Names; n != nil {
			if n.Here {
				b = append(b, "  the working copy\n"...)
			}
			for _, name := range n.Bookmarks {
				b = append(appendQuoted(append(b, "  bookmark "...), name), '\n')
			}
			for _, name := range n.Tags {
				b = append(appendQuoted(append(b, "  tag "...), name), '\n')
			}
		}
		a.out.buf = append(append(append(b, "  "...), pr.Mend...), '\n')
		if err := a.out.spill(); err != nil {
			return err
		}
	}
	if res.More > 0 {
		if err := a.out.printf("And %d more.\n", res.More); err != nil {
			return err
		}
	}
	if len(res.Problems) == 0 {
		a.out.buf = append(a.out.buf, "No damage. "...)
	}
	if err := a.out.printf("Checked %s of log in %s", size(res.Bytes), plural(int(res.Frames), "frame")); err != nil {
		return err
	}
	if res.Ops > 0 {
		if err := a.out.printf(", %s, %s, %s, %s, %s, %s", plural(int(res.Contents), "content"), plural(int(res.Changes), "change"),
			plural(int(res.States), "state"), plural(int(res.Ops), "operation"), plural(int(res.Trees), "tree"), plural(int(res.Files), "edited text")); err != nil {
			return err
		}
	}
	if err := a.out.printf(".\n"); err != nil || res.Promised == 0 {
		return err
	}
	if res.Old > 0 {
		if err := a.out.printf("%s not made again, for lack of old contents.\n", namedAre(int(res.Old))); err != nil {
			return err
		}
	}
	return a.out.printf("This is a partial clone: %s not here and promised by origin (oxy fetch --contents brings them).\n", contentsAre(int(res.Promised)))
}

func contentsAre(n int) string {
	if n == 1 {
		return "1 content is"
	}
	return plural(n, "content") + " are"
}

func namedAre(n int) string {
	if n == 1 {
		return "The state of 1 bookmark or tag was"
	}
	return fmt.Sprintf("The states of %d bookmarks and tags were", n)
}

type jsonFsck struct {
	Quick    bool          `json:"quick"`
	Bytes    int64         `json:"bytes"`
	Frames   uint64        `json:"frames"`
	Contents uint64        `json:"contents"`
	Changes  uint64        `json:"changes"`
	States   uint64        `json:"states"`
	Ops      uint64        `json:"operations"`
	Trees    uint64        `json:"trees"`
	Texts    uint64        `json:"texts"`
	Promised uint64        `json:"promised"`
	Old      uint64        `json:"old"`
	Seconds  float64       `json:"seconds"`
	Problems []jsonProblem `json:"problems"`
	More     uint64        `json:"more"`
	// With --repair: what was found before, and what was made again.
	Found    []jsonProblem  `json:"found,omitempty"`
	Repaired []jsonRepaired `json:"repaired,omitempty"`
}

type jsonRepaired struct {
	What  string `json:"what"`
	Error string `json:"error,omitempty"`
	// What nobody has and --drop-lost would drop, or dropped; where what went is kept.
	Lost  []string `json:"lost,omitempty"`
	Gone  []string `json:"gone,omitempty"`
	Aside string   `json:"aside,omitempty"`
}

type jsonProblem struct {
	Text      string     `json:"text"`
	File      string     `json:"file,omitempty"`
	Offset    int64      `json:"offset,omitempty"`
	Derived   bool       `json:"derived"`
	Change    string     `json:"change,omitempty"`
	Paths     []jsonPath `json:"paths"`
	Here      bool       `json:"here"`
	Bookmarks []string   `json:"bookmarks"`
	Tags      []string   `json:"tags"`
	Mend      string     `json:"mend"`
}

func (a *app) fsckJSON(res, found *repo.FsckResult, repaired []repo.Repaired, quick bool, seconds float64) error {
	j := jsonFsck{Quick: quick, Bytes: res.Bytes, Frames: res.Frames, Contents: res.Contents, Changes: res.Changes, States: res.States,
		Ops: res.Ops, Trees: res.Trees, Texts: res.Files, Promised: res.Promised, Seconds: seconds, Problems: newJSONProblems(res), More: res.More}
	if repaired != nil {
		j.Found = newJSONProblems(found)
	}
	for _, d := range repaired {
		out := jsonRepaired{What: d.What, Lost: d.Lost, Gone: d.Gone, Aside: d.Aside}
		if d.Err != nil {
			out.Error = d.Err.Error()
		}
		j.Repaired = append(j.Repaired, out)
	}
	return a.printJSON(j)
}

func newJSONProblems(res *repo.FsckResult) []jsonProblem {
	list := make([]jsonProblem, len(res.Problems))
	for i := range res.Problems {
		p := &res.Problems[i]
		out := jsonProblem{Text: p.Text, File: p.File, Offset: p.Offset, Derived: p.Derived, Paths: newJSONPaths(p.Paths),
			Bookmarks: []string{}, Tags: []string{}, Mend: p.Mend}
		if p.Change != (change.ID{}) {
			out.Change = p.Change.String()
		}
		if p.Names != nil {
			out.Here = p.Names.Here
			out.Bookmarks = append(out.Bookmarks, p.Names.Bookmarks...)
			out.Tags = append(out.Tags, p.Names.Tags...)
		}
		list[i] = out
	}
	return list
}
