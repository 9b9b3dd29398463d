package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
)

func fetchCommand(a *app) *cobra.Command {
	var opt repo.SyncOptions
	var contents bool
	c := &cobra.Command{
		Use:   "fetch [REMOTE [BOOKMARK...]]",
		Short: "Take what a remote has, and move nothing of your own",
		Long: `Take the changes that REMOTE's bookmarks and tags have, or those that are named, and note where they are: origin/main is
where main of origin was when last seen. Your own bookmarks and files stay as they are; oxy merge origin/main takes
them in, which is what oxy pull does in one go. REMOTE is a name or an address; without it, origin.

With --contents it brings what a partial clone left out, and the clone is a whole one from then on.`,
		Example: `  oxy fetch
  oxy fetch --dry-run
  oxy fetch --contents
  oxy log origin/main`,
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			if contents {
				if len(args) > 0 || opt.DryRun {
					return usage("fetch", "--contents takes no remote: they come from where this repository was cloned from")
				}
				came, err := r.FetchContents(a.interruptible(), a.stdio.Err)
				if err != nil {
					return notRecording(err)
				}
				if a.json {
					return a.printJSON(jsonContents{came})
				}
				return a.out.printf("%s came; nothing is left out any more.\n", plural(came, "content"))
			}
			var names []string
			if len(args) > 0 {
				opt.Remote, names = args[0], args[1:]
			}
			if opt.Dir, err = a.cwd(); err != nil {
				return err
			}
			opt.Messages = a.stdio.Err
			res, err := r.Fetch(a.interruptible(), opt, names...)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(newFetch(res, opt.DryRun))
			}
			return a.fetched(res, opt.DryRun, true)
		},
	}
	c.Flags().BoolVar(&contents, "contents", false, "bring all that a partial clone left out")
	c.Flags().BoolVar(&opt.DryRun, "dry-run", false, "only say what would come")
	return c
}

// fetched tells what came from a remote.
func (a *app) fetched(res *repo.FetchResult, dryRun, idle bool) error {
	from := appendQuoted(nil, res.Remote)
	switch {
	case dryRun:
		return a.would("come from", res.Remote, res.Would, res.Bytes)
	case res.Came == 0 && len(res.Refs) == 0 && res.Signatures > 0:
		return a.out.printf("From %s: %s.\n", from, plural(res.Signatures, "signature"))
	case res.Came == 0 && len(res.Refs) == 0:
		if !idle {
			return nil
		}
		if err := a.out.printf("Nothing new from %s.\n", from); err != nil {
			return err
		}
	default:
		if err := a.out.printf("From %s: %s, %s.\n", from, plural(res.Came, "change"), size(res.Bytes)); err != nil {
			return err
		}
	}
	for _, m := range res.Refs {
		name := m.Name
		if m.Kind == "bookmark" {
			name = res.Remote + "/" + name
		}
		how := "moved"
		if m.Fresh {
			how = "new"
		}
		if err := a.out.printf("  %s  %s, %s\n", appendQuoted(nil, name), how, plural(int(m.New.Len), "change")); err != nil {
			return err
		}
	}
	if res.Signatures > 0 {
		if err := a.out.printf("  %s of what was here\n", plural(res.Signatures, "signature")); err != nil {
			return err
		}
	}
	for _, name := range res.Kept {
		a.warn("the tag " + string(appendQuoted(nil, name)) + " stands for something else here, and stays")
	}
	return nil
}

// would lists what a dry run found.
func (a *app) would(verb, remote string, list []repo.Passing, bytes int64) error {
	if len(list) == 0 {
		return a.out.printf("No change would %s %s.\n", verb, appendQuoted(nil, remote))
	}
	if err := a.out.printf("%s would %s %s, %s before compression:\n", plural(len(list), "change"), verb, appendQuoted(nil, remote), size(bytes)); err != nil {
		return err
	}
	for i, p := range list {
		if i == listedChanges && len(list) > i+1 {
			return a.out.printf("  and %d more\n%s", len(list)-i, nothingDone)
		}
		if err := a.out.printf("  %s %s\n", p.ID[:8], appendQuoted(nil, p.Subject)); err != nil {
			return err
		}
	}
	return a.out.printf(nothingDone)
}

type jsonContents struct {
	Contents int `json:"contents"`
}

type jsonFetch struct {
	Remote string        `json:"remote"`
	DryRun bool          `json:"dry_run"`
	Came   int           `json:"came"`
	Bytes  int64         `json:"bytes"`
	Refs   []jsonSeen    `json:"refs"`
	Would  []jsonPassing `json:"would"`
	Kept   []string      `json:"kept_tags"`

	Signatures int `json:"signatures"`
}

type jsonSeen struct {
	Kind  string    `json:"kind"`
	Name  string    `json:"name"`
	State jsonState `json:"state"`
	Fresh bool      `json:"new"`
}

type jsonPassing struct {
	ID      string `json:"id"`
	Bytes   int64  `json:"bytes"`
	Subject string `json:"subject"`
}

func newFetch(res *repo.FetchResult, dryRun bool) jsonFetch {
	j := jsonFetch{Remote: res.Remote, DryRun: dryRun, Came: res.Came, Bytes: res.Bytes, Refs: []jsonSeen{}, Would: newPassing(res.Would), Kept: append([]string{}, res.Kept...), Signatures: res.Signatures}
	for _, m := range res.Refs {
		j.Refs = append(j.Refs, jsonSeen{m.Kind, m.Name, newState(m.New), m.Fresh})
	}
	return j
}

func newPassing(list []repo.Passing) []jsonPassing {
	out := make([]jsonPassing, len(list))
	for i, p := range list {
		out[i] = jsonPassing{p.ID, p.Bytes, strings.ToValidUTF8(p.Subject, "\uFFFD")}
	}
	return out
}
