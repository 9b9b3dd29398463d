package cli

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/ui"
)

func opShowCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "show [N]",
		Short: "Show what an operation did",
		Long: `Show what the operation with the number N, or the last one, did: which bookmarks and tags it made, moved or deleted,
where the working copy stood before and after, and which changes no name led to before, or none leads to any more.`,
		Example: `  oxy op show
  oxy op show 12`,
		Args: atMost(1, "one operation"),
		RunE: func(_ *cobra.Command, args []string) error {
			var n uint32
			if len(args) == 1 {
				var err error
				if n, err = parseOp("show", args[0]); err != nil {
					return err
				}
			}
			r, err := a.open()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				n = r.LastOp()
			}
			d, err := r.ShowOp(n)
			if err != nil {
				return err
			}
			if a.json {
				return a.opJSON(d)
			}
			if err := a.page(); err != nil {
				return err
			}
			return a.opText(d)
		},
	}
}

func (a *app) opText(d *repo.OpDetail) error {
	p := a.colours()
	b := append(a.out.buf, p.Yellow...)
	b = strconv.AppendUint(append(b, "operation #"...), uint64(d.Num), 10)
	b = append(append(b, p.Reset...), "\nUser:   "...)
	b = append(ui.AppendClean(b, d.User), "\nDate:   "...)
	b = append(ui.AppendDate(b, d.Time, a.zone(d.Time)), "\nRan:    "...)
	b = append(appendOpWords(b, &d.OpInfo), "\n\n"...)
	start := len(b)
	if d.CurrentFrom != d.CurrentTo {
		b = append(b, "Current bookmark: "...)
		b = appendQuoted(b, orNone(d.CurrentFrom))
		b = append(b, " -> "...)
		b = append(appendQuoted(b, orNone(d.CurrentTo)), '\n')
	}
	if d.BaseFrom.Num != d.BaseTo.Num {
		b = a.appendStep(append(b, "Working copy: "...), &d.BaseFrom, &d.BaseTo)
	}
	for _, kind := range []struct {
		what  string
		steps []repo.NameStep
	}{{"Bookmark ", d.Bookmarks}, {"Tag ", d.Tags}} {
		for _, s := range kind.steps {
			b = append(appendQuoted(append(b, kind.what...), s.Name), ": "...)
			b = a.appendStep(b, s.From, s.To)
		}
	}
	if len(b) == start && len(d.Gained)+len(d.Lost) == 0 {
		b = append(b, "No bookmark and no tag moved.\n"...)
	}
	a.out.buf = b
	if err := a.reach("\nThese changes came:\n", d.Gained); err != nil {
		return err
	}
	return a.reach("\nThese changes went:\n", d.Lost)
}

func (a *app) reach(title string, nums []uint32) error {
	if len(nums) == 0 {
		return nil
	}
	a.out.WriteString(title)
	return a.listChanges(nums)
}

func orNone(name string) string {
	if name == "" {
		return "none"
	}
	return name
}

// appendStep appends where something was and is.
func (a *app) appendStep(dst []byte, from, to *repo.StateRef) []byte {
	dst = a.appendPlace(dst, from)
	dst = append(dst, " -> "...)
	return append(a.appendPlace(dst, to), '\n')
}

// appendPlace appends a state as its last change and its count.
func (a *app) appendPlace(dst []byte, s *repo.StateRef) []byte {
	if s == nil {
		return append(dst, "none"...)
	}
	if n, ok, err := a.repo.LastOf(*s); err == nil && ok {
		dst = append(append(dst, a.repo.ShortID(n)...), " ("...)
		return append(append(dst, plural(int(s.Len), "change")...), ')')
	}
	return append(dst, plural(int(s.Len), "change")...)
}

type jsonOpDetail struct {
	jsonOp
	Kind    string       `json:"kind"`
	Current jsonNameStep `json:"current"`
	Base    struct {
		Before jsonState `json:"before"`
		After  jsonState `json:"after"`
	} `json:"base"`
	Bookmarks []jsonStateStep `json:"bookmarks"`
	Tags      []jsonStateStep `json:"tags"`
	Came      []jsonChange    `json:"came"`
	Went      []jsonChange    `json:"went"`
}

type jsonNameStep struct {
	Before *string `json:"before"`
	After  *string `json:"after"`
}

type jsonStateStep struct {
	Name   string     `json:"name"`
	Before *jsonState `json:"before"`
	After  *jsonState `json:"after"`
}

func (a *app) opJSON(d *repo.OpDetail) error {
	j := jsonOpDetail{jsonOp: newOp(&d.OpInfo), Kind: d.Kind, Bookmarks: newSteps(d.Bookmarks), Tags: newSteps(d.Tags)}
	if d.CurrentFrom != "" {
		j.Current.Before = &d.CurrentFrom
	}
	if d.CurrentTo != "" {
		j.Current.After = &d.CurrentTo
	}
	j.Base.Before, j.Base.After = newState(d.BaseFrom), newState(d.BaseTo)
	var err error
	if j.Came, err = a.newChanges(d.Gained); err != nil {
		return err
	}
	if j.Went, err = a.newChanges(d.Lost); err != nil {
		return err
	}
	return a.printJSON(j)
}

func newSteps(steps []repo.NameStep) []jsonStateStep {
	out := make([]jsonStateStep, len(steps))
	for i, s := range steps {
		out[i] = jsonStateStep{s.Name, stateOrNil(s.From), stateOrNil(s.To)}
	}
	return out
}

func stateOrNil(s *repo.StateRef) *jsonState {
	if s == nil {
		return nil
	}
	j := newState(*s)
	return &j
}
