package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/ui"
)

type commitFlags struct {
	said         messageFlags
	amend        bool
	hunks        []string
	interactive  bool
	author, date string
	sign, noSign bool
}

func commitCommand(a *app) *cobra.Command {
	var flags commitFlags
	c := &cobra.Command{
		Use:   "commit [PATHS]",
		Short: "Record what changed",
		Long: `Record everything that changed and every new file that is not ignored; or only what changed beneath PATHS; or only
some hunks, by the ids that oxy hunks shows (--hunk) or one by one (-i).

Without -m or -F an editor asks for the message: OXY_EDITOR, the setting ui.editor, VISUAL, EDITOR, or vi. An empty
message records nothing.`,
		Example: `  oxy commit -m "Read the config once"
  oxy commit -m "Only the parser" src/parser
  oxy commit --amend
  oxy commit -i`,
		RunE: func(_ *cobra.Command, args []string) error { return a.commit(&flags, args) },
	}
	flags.said.add(c)
	c.Flags().BoolVar(&flags.amend, "amend", false, "replace the last change by one that has this too")
	c.Flags().StringArrayVar(&flags.hunks, "hunk", nil, "record the hunk with this `ID` and no other; may be given again")
	c.Flags().BoolVarP(&flags.interactive, "interactive", "i", false, "ask for each hunk")
	c.Flags().StringVar(&flags.author, "author", "", "record another `\"NAME <EMAIL>\"`")
	c.Flags().StringVar(&flags.date, "date", "", "record another `DATE`; OXY_DATE is one for all")
	c.Flags().BoolVar(&flags.sign, "sign", false, "sign it with the key of the setting sign.key")
	c.Flags().BoolVar(&flags.noSign, "no-sign", false, "do not sign it, whatever the setting sign.commits says")
	c.MarkFlagsMutuallyExclusive("sign", "no-sign")
	return c
}

// maxMessage bounds a message read from a file: it is read whole with every change.
const maxMessage = 1 << 20

func (a *app) commit(flags *commitFlags, args []string) error {
	opt := repo.CommitOptions{Amend: flags.amend, Hunks: flags.hunks}
	err := flags.fill(a, &opt)
	if err != nil {
		return err
	}
	r, err := a.open()
	if err != nil {
		return err
	}
	if opt.Paths, err = a.rel(args); err != nil {
		return err
	}
	ctx := a.interruptible()
	if flags.interactive {
		if len(opt.Hunks) > 0 {
			return usage("commit", "commit takes -i or --hunk, not both")
		}
		if opt.Hunks, err = a.pick("record", opt.Paths); err != nil {
			return err
		}
		opt.Paths = nil
	} else if len(opt.Hunks) > 0 && len(opt.Paths) > 0 {
		return usage("commit", "commit takes --hunk or paths, not both")
	}
	if opt.Message == "" {
		opt.Edit = func(initial string, files []repo.FileChange) (string, error) {
			return a.editMessage("commit", initial, files)
		}
	}
	var said []string
	opt.Large = a.confirmLarge
	if !ui.IsTerminal(a.stdio.In) || !ui.IsTerminal(a.stdio.Err) {
		opt.Large = func(path string, files int, bytes int64) error {
			said = append(said, "recording "+a.large(path, files, bytes)+"; if that is a mistake: oxy undo, and list it in .oxyignore")
			a.warn(said[len(said)-1])
			return nil
		}
	}
	before, err := r.Base()
	if err != nil {
		return err
	}
	done, err := r.Commit(ctx, opt)
	if err != nil {
		return err
	}
	conflicts, decided, err := a.decided(before, done.State)
	if err != nil {
		return err
	}
	for _, w := range done.Warnings {
		a.warn(w)
	}
	if a.json {
		done.Warnings = append(said, done.Warnings...)
		j := newCommit(done)
		j.Decided = decided
		if j.Conflicts, err = a.newConflicts(conflicts); err != nil {
			return err
		}
		return a.printJSON(j)
	}
	if err := a.committed(done); err != nil {
		return err
	}
	a.out.buf = appendDecided(a.out.buf, decided, len(conflicts))
	return a.out.spill()
}

// decided gives the conflicts that a state still has, and how many another had that it has not.
func (a *app) decided(before, after repo.StateRef) (left []repo.Conflict, decided int, err error) {
	was, err := a.repo.Conflicts(before)
	if err != nil {
		return nil, 0, err
	}
	if left, err = a.repo.Conflicts(after); err != nil {
		return nil, 0, err
	}
	for i := range was {
		if !slices.ContainsFunc(left, func(c repo.Conflict) bool { return c.File == was[i].File && c.ID == was[i].ID }) {
			decided++
		}
	}
	return left, decided, nil
}

func appendDecided(dst []byte, decided, left int) []byte {
	if decided > 0 {
		dst = fmt.Appendf(dst, " %s decided", plural(decided, "conflict"))
		if left == 0 {
			dst = append(dst, ", none is left"...)
		}
		dst = append(dst, '\n')
	}
	if left > 0 {
		dst = fmt.Appendf(dst, " %s left to decide: oxy conflicts lists them\n", plural(left, "conflict"))
	}
	return dst
}

// fill reads what the flags say of message, author and date.
func (f *commitFlags) fill(a *app, opt *repo.CommitOptions) error {
	var err error
	if opt.Message, err = f.said.message(a, "commit"); err != nil {
		return err
	}
	if f.author != "" {
		p, ok := parsePerson(f.author)
		if !ok {
			return usage("commit", "--author takes \"NAME <EMAIL>\", not %q", f.author)
		}
		opt.Author = &p
	}
	if f.sign {
		opt.Sign = repo.SignAlways
	} else if f.noSign {
		opt.Sign = repo.SignNever
	}
	opt.Time, err = a.dateOf("commit", f.date)
	return err
}

// dateOf is the time of a change that a command makes: what --date says, else what OXY_DATE does, else nil, for now.
func (a *app) dateOf(verb, flag string) (*change.Time, error) {
	from := "--date"
	if flag == "" {
		flag, from = a.env.Get("OXY_DATE"), "OXY_DATE"
	}
	if flag == "" {
		return nil, nil
	}
	t, err := ui.ParseDate(flag, a.now())
	if err != nil {
		return nil, usage(verb, "%s: %v", from, err)
	}
	_, offset := t.Zone()
	return &change.Time{Sec: t.Unix(), Zone: int16(offset / 60)}, nil
}

func (a *app) readMessage(name string) ([]byte, error) {
	if name == "-" {
		b, err := io.ReadAll(io.LimitReader(a.input(), maxMessage+1))
		if err == nil && len(b) > maxMessage {
			err = fmt.Errorf("it is longer than %d bytes", maxMessage)
		}
		if err != nil {
			return nil, fmt.Errorf("read the message from standard input: %w", err)
		}
		return b, nil
	}
	dir, err := a.cwd()
	if err != nil {
		return nil, err
	}
	b, err := a.fs.ReadFile(join(dir, name), maxMessage)
	if err != nil {
		return nil, fmt.Errorf("read the message: %w", err)
	}
	return b, nil
}

func emptyMessage(verb string) error {
	return &repo.Error{Text: "the message is empty; nothing was recorded", Next: "Say what the change does: oxy " + verb + " -m TEXT", No: true}
}

// parsePerson reads `NAME <EMAIL>`.
func parsePerson(s string) (change.Person, bool) {
	name, rest, ok := strings.Cut(s, "<")
	email, after, closed := strings.Cut(rest, ">")
	name, email = strings.TrimSpace(name), strings.TrimSpace(email)
	if !ok || !closed || name == "" || strings.TrimSpace(after) != "" || strings.ContainsAny(s, "\n\r\x00") {
		return change.Person{}, false
	}
	return change.Person{Name: name, Email: email}, true
}

// tidy takes the blank lines around a message away, and the spaces that end its lines.
func tidy(s string) string {
	list := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, line := range list {
		list[i] = strings.TrimRight(line, " \t")
	}
	return strings.Trim(strings.Join(list, "\n"), "\n")
}

// confirmLarge asks before a sudden size is recorded for ever.
func (a *app) confirmLarge(path string, files int, bytes int64) error {
	if a.progress != nil {
		a.progress.End()
	}
	yes, err := ui.Confirm(a.input(), a.stdio.Err, "This records "+a.large(path, files, bytes)+". Go on?")
	if err == nil && !yes {
		err = &repo.Error{Text: "nothing was recorded", Next: "Leave paths out by .oxyignore, or record only some: oxy commit PATHS", No: true}
	}
	return err
}

// large names what is suddenly large.
func (a *app) large(path string, files int, bytes int64) string {
	if path == "" {
		return fmt.Sprintf("%d new files at once", files)
	}
	return fmt.Sprintf("%s, a file of %s", a.show().text(path), size(bytes))
}

// size is an amount of bytes in the unit that a person would choose.
func size(n int64) string {
	units := [...]string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	x, unit := float64(n), 0
	for x >= 1024 && unit < len(units)-1 {
		x /= 1024
		unit++
	}
	if unit == 0 {
		return plural(int(n), "byte")
	}
	if x >= 100 {
		return fmt.Sprintf("%.0f %s", x, units[unit])
	}
	return fmt.Sprintf("%.1f %s", x, units[unit])
}

// committed tells what was recorded.
func (a *app) committed(done *repo.CommitResult) error {
	n, err := a.repo.ResolveChange(done.ID.String())
	if err != nil {
		return err
	}
	info, err := a.repo.Info(n)
	if err != nil {
		return err
	}
	b := append(a.appendRecorded(nil, done.Bookmark, info), ' ')
	b = append(b, plural(len(done.Files), "file")...)
	moved := 0
	for i := range done.Files {
		if done.Files[i].What == repo.Moved {
			moved++
		}
	}
	if moved > 0 {
		b = fmt.Appendf(b, " (%d moved)", moved)
	}
	if done.Added+done.Deleted > 0 {
		b = fmt.Appendf(b, ", %s added, %d deleted", plural(done.Added, "line"), done.Deleted)
	}
	b = append(b, '\n')
	if len(done.Skipped) > 0 {
		b = append(b, " left alone: "...)
		for i, path := range done.Skipped {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = a.show().append(b, path)
		}
		b = append(b, '\n')
	}
	if done.Bookmark == "" {
		b = append(b, "Not on a bookmark; oxy bookmark NAME keeps what you record here.\n"...)
	}
	_, err = a.out.Write(b)
	return err
}

// appendRecorded appends the change that was recorded, and on which bookmark.
func (a *app) appendRecorded(dst []byte, bookmark string, c *repo.ChangeInfo) []byte {
	p := a.colours()
	dst = append(dst, '[')
	if bookmark != "" {
		dst = append(appendQuoted(dst, bookmark), ' ')
	}
	dst = append(append(append(dst, p.Yellow...), a.repo.ShortID(c.Num)...), p.Reset...)
	dst = ui.AppendClean(append(dst, "] "...), subject(c.Message))
	return append(dst, '\n')
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// subject is the first line of a message.
func subject(message string) string {
	line, _, _ := strings.Cut(strings.TrimLeft(message, "\n"), "\n")
	return strings.TrimRight(line, "\r")
}

type jsonCommit struct {
	ID        string         `json:"id"`
	Replaced  string         `json:"replaced,omitempty"`
	Bookmark  *string        `json:"bookmark"`
	State     jsonState      `json:"state"`
	Files     []jsonFile     `json:"files"`
	Added     int            `json:"added"`
	Deleted   int            `json:"deleted"`
	Warnings  []string       `json:"warnings"`
	Skipped   []jsonPath     `json:"skipped"`
	Decided   int            `json:"decided"`
	Conflicts []jsonConflict `json:"conflicts"`
}

func newCommit(c *repo.CommitResult) jsonCommit {
	j := jsonCommit{
		ID: c.ID.String(), State: newState(c.State), Files: newFiles(c.Files), Added: c.Added, Deleted: c.Deleted,
		Warnings: append([]string{}, c.Warnings...), Skipped: newJSONPaths(c.Skipped),
	}
	if !c.Replaced.IsZero() {
		j.Replaced = c.Replaced.String()
	}
	if c.Bookmark != "" {
		j.Bookmark = &c.Bookmark
	}
	return j
}
