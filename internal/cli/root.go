package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/ui"
)

// The groups of verbs in the help, in the order of a day.
const (
	groupStart  = "start"
	groupLook   = "look"
	groupRecord = "record"
	groupUnite  = "unite"
	groupShare  = "share"
	groupMove   = "move"
	groupUndo   = "undo"
	groupSelf   = "self"
)

func newRoot(a *app) *cobra.Command {
	cobra.EnableCommandSorting = false // the order here is that of use
	root := &cobra.Command{
		Use:   "oxy",
		Short: "A distributed version control system whose history is a set of changes",
		Long: `oxy keeps the history of a directory tree as a set of changes.

There is no staging area: oxy commit records everything that changed.`,
		Example: `  oxy init
  oxy commit -m "Begin"
  oxy status
  oxy log`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownVerb(cmd, args[0])
			}
			return cmd.Help()
		},
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			if _, err := ui.ParseWhen(a.colour); err != nil {
				return usage(cmd.Name(), "--color: %v", err)
			}
			return nil
		},
	}
	root.SetOut(a.out)
	root.SetErr(a.stdio.Err)
	root.SetFlagErrorFunc(a.flagError)
	root.Version = versionOf(a.env)
	root.SetVersionTemplate("oxy {{.Version}}\n")
	flags := root.PersistentFlags()
	flags.StringVarP(&a.dir, "dir", "C", "", "work in `DIR` in place of the current directory")
	flags.BoolVar(&a.json, "json", false, "print JSON (its shape is in docs/json.md)")
	flags.StringVar(&a.colour, "color", "", "colour the output: auto, always or never (`WHEN`)")
	flags.BoolVar(&a.noPager, "no-pager", false, "do not show long output in a pager")
	root.AddGroup(
		&cobra.Group{ID: groupStart, Title: "Start:"},
		&cobra.Group{ID: groupLook, Title: "Look:"},
		&cobra.Group{ID: groupRecord, Title: "Record:"},
		&cobra.Group{ID: groupUnite, Title: "Unite:"},
		&cobra.Group{ID: groupShare, Title: "Share:"},
		&cobra.Group{ID: groupMove, Title: "Move about:"},
		&cobra.Group{ID: groupUndo, Title: "Take back:"},
		&cobra.Group{ID: groupSelf, Title: "oxy itself:"},
	)
	add := func(group string, verbs ...*cobra.Command) {
		for _, v := range verbs {
			v.GroupID = group
			root.AddCommand(v)
		}
	}
	add(groupStart, initCommand(a), gitCommand(a), hgCommand(a), configCommand(a))
	add(groupLook, statusCommand(a), diffCommand(a), logCommand(a), showCommand(a), blameCommand(a), catCommand(a), filesCommand(a),
		depsCommand(a), dependentsCommand(a), whereCommand(a), compareCommand(a), conflictsCommand(a))
	add(groupRecord, commitCommand(a), amendCommand(a), rewordCommand(a), squashCommand(a), splitCommand(a), signCommand(a), hunksCommand(a), mvCommand(a), rmCommand(a), untrackCommand(a))
	add(groupUnite, mergeCommand(a), pickCommand(a), resolveCommand(a))
	add(groupShare, cloneCommand(a), pullCommand(a), pushCommand(a), fetchCommand(a), remoteCommand(a), subrepoCommand(a), bundleCommand(a), serveCommand(a), accessCommand(a))
	add(groupMove, checkoutCommand(a), sparseCommand(a), bookmarkCommand(a), tagCommand(a), checkpointCommand(a))
	add(groupUndo, discardCommand(a), unrecordCommand(a), rollbackCommand(a), undoCommand(a), redoCommand(a), opCommand(a))
	add(groupSelf, gcCommand(a), duCommand(a), upgradeCommand(a), fsckCommand(a), verifyCommand(a), debugCommand(a), versionCommand(a))
	help := helpCommand()
	help.GroupID = groupSelf
	root.SetHelpCommand(help)
	root.SetCompletionCommandGroupID(groupSelf)
	return root
}

// flagError says what a verb does not take. The habit that a person brought along gets a word of its own.
func (a *app) flagError(cmd *cobra.Command, err error) error {
	text := err.Error()
	if cmd.Parent() == nil {
		// A verb that there is not, and a flag of its own: the verb is what to answer.
		for _, arg := range a.args {
			if !strings.HasPrefix(arg, "-") {
				return unknownVerb(cmd, arg)
			}
		}
		return &repo.Error{Text: text, Next: "See which there are with: oxy help"}
	}
	name := strings.TrimPrefix(cmd.CommandPath(), "oxy ")
	if name == "commit" && (strings.Contains(text, "'a' in -a") || strings.Contains(text, "unknown flag: --all")) {
		return &repo.Error{Text: text, Next: "Leave -a out: commit takes everything that changed."}
	}
	return usage(name, "%s: %s", name, text)
}

// groupArgs refuses what is not a verb beneath a verb that only holds others.
func groupArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	return usage(cmd.Name(), "%s has no %q", cmd.CommandPath(), args[0])
}

// groupOrNothing is for a verb that does something by itself and holds others too.
func groupOrNothing(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return groupArgs(cmd, args)
}

// exactly, atMost and atLeastOne check how many arguments there are, in words for a person.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return usage(cmd.Name(), "%s takes %s", cmd.Name(), what)
		}
		return nil
	}
}

func atMost(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return usage(cmd.Name(), "%s takes %s, not %d words", cmd.Name(), what, len(args))
		}
		return nil
	}
}

func atLeastOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usage(cmd.Name(), "%s needs %s", cmd.Name(), what)
		}
		return nil
	}
}

// nothing refuses arguments.
func nothing(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage(cmd.Name(), "%s takes no arguments, but got %q", cmd.Name(), args[0])
	}
	return nil
}

// habits are the verbs of other systems, and what to do here.
var habits = []struct{ verb, next string }{
	{"add", noStaging}, {"stage", noStaging},
	{"branch", "A branch is a bookmark: oxy bookmark NAME makes one, oxy checkout NAME goes to it."},
	{"switch", goTo}, {"co", goTo}, {"update", goTo},
	{"restore", "Take back what is not recorded with: oxy discard PATHS. Bring old files back with: oxy checkout -r REV -- PATHS"},
	{"revert", "Record that a change is undone with: oxy rollback CHANGE. Take back what is not recorded with: oxy discard PATHS"},
	{"reset", "Take back the last command with: oxy undo. Take changes out with: oxy unrecord. Take back all that is not recorded with: oxy discard --all"},
	{"clean", "See new files with oxy status, and delete them with rm."},
	{"stash", "Record it with oxy commit, or put it aside with oxy discard: oxy undo brings it back."},
	{"ci", "Record with: oxy commit"}, {"record", "Record with: oxy commit"},
	{"fixup", "Put what changed into an earlier change with: oxy amend CHANGE"}, {"absorb", "Put what changed into an earlier change with: oxy amend CHANGE"},
	{"fold", "Did you mean oxy squash?"}, {"describe", "Did you mean oxy reword?"}, {"metaedit", "Did you mean oxy reword?"},
	{"st", "Did you mean oxy status?"},
	{"annotate", "Did you mean oxy blame?"}, {"praise", "Did you mean oxy blame?"},
	{"ls-files", "Did you mean oxy files?"}, {"ls", "Did you mean oxy files?"}, {"manifest", "Did you mean oxy files?"},
	{"move", "Did you mean oxy mv?"}, {"rename", "Did you mean oxy mv?"},
	{"remove", "Did you mean oxy rm?"}, {"delete", "Did you mean oxy rm?"},
	{"forget", "Did you mean oxy untrack?"},
	{"reflog", "Did you mean oxy op log?"},
	{"rev-parse", "oxy show --json REV tells all of a change."},
	{"shortlog", "Did you mean oxy log --oneline?"},
	{"rebase", "Changes need no rebase: take in what the others have with oxy merge, or single changes with oxy pick."},
	{"cherry-pick", "Did you mean oxy pick?"}, {"graft", "Did you mean oxy pick?"}, {"transplant", "Did you mean oxy pick?"},
	{"strip", "Did you mean oxy unrecord?"}, {"drop", "Did you mean oxy unrecord?"}, {"unpull", "Did you mean oxy unrecord?"},
	{"backout", "Did you mean oxy rollback?"},
	{"sparse-checkout", "Did you mean oxy sparse?"},
	{"mergetool", "Did you mean oxy resolve --tool?"},
	{"repack", "Pack the repository with: oxy gc"}, {"prune", "Pack the repository with: oxy gc"},
}

const (
	noStaging = "oxy has no staging area; oxy commit takes everything that changed, or the paths that it is given."
	goTo      = "Go to a bookmark, a tag or a change with: oxy checkout REV"
)

// unknownVerb answers a verb that there is not.
func unknownVerb(root *cobra.Command, verb string) error {
	text := fmt.Sprintf("there is no verb %q", verb)
	for _, h := range habits {
		if h.verb == verb {
			return &repo.Error{Text: text, Next: h.next}
		}
	}
	best, distance := "", 3 // three slips make another word
	for _, c := range root.Commands() {
		if d := slips(verb, c.Name()); !c.Hidden && d < distance && 2*d < len(verb) {
			best, distance = c.Name(), d
		}
	}
	if best != "" {
		return &repo.Error{Text: text, Next: "Did you mean oxy " + best + "?"}
	}
	return &repo.Error{Text: text, Next: "See which there are with: oxy help"}
}

// slips counts the letters to insert, delete, change or swap with their neighbour to make b of a.
func slips(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row := rows[(i+2)%3], rows[i%3], rows[(i+1)%3]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return rows[(len(a)+1)%3][len(b)]
}
