package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
)

// messageFlags are how a verb that makes a change is told what to say about it.
type messageFlags struct {
	paragraphs []string
	file       string
}

func (f *messageFlags) add(c *cobra.Command) {
	c.Flags().StringArrayVarP(&f.paragraphs, "message", "m", nil, "the `MESSAGE`; given again, another paragraph")
	c.Flags().StringVarP(&f.file, "file", "F", "", "read the message from `FILE`, - for standard input")
}

// message gives what the flags say, "" when there are none.
func (f *messageFlags) message(a *app, verb string) (string, error) {
	if len(f.paragraphs) == 0 && f.file == "" {
		return "", nil
	}
	if len(f.paragraphs) > 0 && f.file != "" {
		return "", usage(verb, "%s takes -m or -F, not both", verb)
	}
	text := strings.Join(f.paragraphs, "\n\n")
	if f.file != "" {
		b, err := a.readMessage(f.file)
		if err != nil {
			return "", err
		}
		text = string(b)
	}
	if text = tidy(text); text == "" {
		return "", emptyMessage(verb)
	}
	return text, nil
}

// rewriteFlags are those of every verb that makes changes anew.
type rewriteFlags struct {
	dryRun, verbose bool
}

func (f *rewriteFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "only say which changes would be made anew")
	c.Flags().BoolVarP(&f.verbose, "verbose", "v", false, "list the changes that were made anew because they depend on it too")
}

// rewording is how a verb asks for the message of a change made anew.
func (a *app) rewording(verb string) func(initial string) (string, error) {
	return func(initial string) (string, error) { return a.editMessage(verb, initial, nil) }
}

// rewritten tells which changes stand in whose stead.
func (a *app) rewritten(res *repo.RewriteResult, verb string, flags *rewriteFlags) error {
	if a.json {
		return a.rewriteJSON(res, flags.dryRun)
	}
	asked, others := askedFor(res)
	var err error
	if flags.dryRun {
		err = a.wouldRewrite(asked, others, verb)
	} else {
		err = a.didRewrite(res, asked, verb)
	}
	if err != nil {
		return err
	}
	if err := a.rewrittenToo(others, flags); err != nil {
		return err
	}
	if flags.dryRun {
		return a.out.printf(nothingDone)
	}
	b := a.out.buf
	if res.Written+res.Removed > 0 { // of files in conflict, whose marks name changes by their ids
		b = append(append(append(b, ' '), written(res.Written, res.Removed)...), '\n')
	}
	ones := "one"
	if len(res.Went) > 1 {
		ones = "ones"
	}
	a.out.buf = append(append(append(b, "oxy undo brings the old "...), ones...), " back.\n"...)
	return a.out.spill()
}

// askedFor parts what a person asked to make anew from what depends on it.
func askedFor(res *repo.RewriteResult) (asked, others []repo.Rewritten) {
	for _, c := range res.Changes {
		if slices.Contains(res.Made, c.New) {
			asked = append(asked, c)
		} else {
			others = append(others, c)
		}
	}
	return asked, others
}

// wouldRewrite tells of a dry run: what would be new has no id yet.
func (a *app) wouldRewrite(asked, others []repo.Rewritten, verb string) error {
	olds := make([]uint32, 0, len(asked))
	for _, c := range asked {
		olds = append(olds, c.Old)
	}
	olds = slices.Compact(olds)
	if len(olds) > 1 {
		if err := a.out.printf("Would %s %s:\n", verb, plural(len(olds), "change")); err != nil {
			return err
		}
		return a.listChanges(latestFirst(olds))
	}
	info, err := a.repo.Info(olds[0])
	if err != nil {
		return err
	}
	a.out.buf = a.appendOneline(fmt.Appendf(a.out.buf, "Would %s ", verb), info)
	return a.out.spill()
}

// pasts are what the verbs did.
var pasts = map[string]string{"amend": "Amended", "reword": "Reworded", "squash": "Squashed", "split": "Split"}

func (a *app) didRewrite(res *repo.RewriteResult, asked []repo.Rewritten, verb string) error {
	b := append(append(a.out.buf, pasts[verb]...), ' ')
	switch {
	case len(asked) == 1:
		a.out.buf = b
		return a.mapping("", asked[0])
	case len(res.Made) > 1: // one became several
		a.out.buf = append(a.appendShort(b, asked[0].Old), " into:\n"...)
		return a.listChanges(res.Made)
	}
	info, err := a.repo.Info(res.Made[0])
	if err != nil {
		return err
	}
	b = fmt.Appendf(b, "%s into ", plural(len(asked), "change"))
	a.out.buf = append(b[:len(b):len(b)], strings.TrimSuffix(string(a.appendOneline(nil, info)), "\n")+":\n"...)
	olds := make([]uint32, len(asked))
	for i := range asked {
		olds[i] = asked[i].Old
	}
	return a.listChanges(latestFirst(olds))
}

func (a *app) appendShort(dst []byte, n uint32) []byte {
	p := a.colours()
	return append(append(append(dst, p.Yellow...), a.repo.ShortID(n)...), p.Reset...)
}

// mapping tells of a change and the one in its stead.
func (a *app) mapping(indent string, c repo.Rewritten) error {
	info, err := a.repo.Info(c.New)
	if err != nil {
		return err
	}
	b := append(a.appendShort(append(a.out.buf, indent...), c.Old), " -> "...)
	a.out.buf = a.appendOneline(b, info)
	return a.out.spill()
}

// rewrittenToo tells of the changes that depend on what was made anew.
func (a *app) rewrittenToo(others []repo.Rewritten, flags *rewriteFlags) error {
	if len(others) == 0 {
		return nil
	}
	was := "were"
	switch {
	case flags.dryRun:
		was = "would be"
	case len(others) == 1:
		was = "was"
	}
	end := " (-v lists them)\n"
	if flags.verbose {
		end = ":\n"
	}
	if err := a.out.printf(" %s on it and %s made anew%s", depend(len(others)), was, end); err != nil || !flags.verbose {
		return err
	}
	for _, c := range slices.Backward(others) {
		var err error
		if flags.dryRun {
			err = a.listChanges([]uint32{c.Old})
		} else {
			err = a.mapping("  ", c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

type jsonRewrite struct {
	From     jsonState       `json:"from"`
	State    jsonState       `json:"state"`
	Bookmark *string         `json:"bookmark"`
	DryRun   bool            `json:"dry_run"`
	Made     []jsonChange    `json:"made"`
	Changes  []jsonRewritten `json:"changes"`
	Written  int             `json:"written"`
	Removed  int             `json:"removed"`
}

type jsonRewritten struct {
	Old jsonChange  `json:"old"`
	New *jsonChange `json:"new"`
}

func (a *app) rewriteJSON(res *repo.RewriteResult, dryRun bool) error {
	j := jsonRewrite{From: newState(res.From), State: newState(res.State), DryRun: dryRun, Made: []jsonChange{},
		Written: res.Written, Removed: res.Removed}
	if res.Bookmark != "" {
		j.Bookmark = &res.Bookmark
	}
	var err error
	if !dryRun {
		if j.Made, err = a.newChanges(res.Made); err != nil {
			return err
		}
	} else { // nothing new has an id
		res.Changes = slices.CompactFunc(res.Changes, func(x, y repo.Rewritten) bool { return x.Old == y.Old })
	}
	if j.Changes, err = a.newRewritten(latestOld(res.Changes), dryRun); err != nil {
		return err
	}
	return a.printJSON(j)
}

func latestOld(list []repo.Rewritten) []repo.Rewritten {
	out := slices.Clone(list)
	slices.Reverse(out)
	return out
}

// newRewritten gives changes with what stands in their stead, which has no id yet in a dry run.
func (a *app) newRewritten(list []repo.Rewritten, dryRun bool) ([]jsonRewritten, error) {
	out := make([]jsonRewritten, len(list))
	for i, c := range list {
		nums := []uint32{c.Old, c.New}
		if dryRun {
			nums = nums[:1]
		}
		both, err := a.newChanges(nums)
		if err != nil {
			return nil, err
		}
		if out[i].Old = both[0]; !dryRun {
			out[i].New = &both[1]
		}
	}
	return out, nil
}

// depend says how many changes depend, with what follows.
func depend(n int) string {
	if n == 1 {
		return "1 change depends"
	}
	return fmt.Sprintf("%d changes depend", n)
}
