package repo

import (
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/state"
)

// Of a text that each of two shows, whoever unites them sees each line, or somebody deleted it, or it is undone; and no line
// twice.
func TestNoByteVanishesAndNoLineDoubles(t *testing.T) {
	afterStories(t, func(m *mirror) {
		all := m.union()
		whole, err := m.r.Base()
		check(m.t, err)
		live := m.Live(all)
		is := m.textLines(whole)
		for i := range 3 {
			for x, lines := range m.textLines(m.replica(i)) {
				now, there := is[x]
				if !there {
					continue // it is shown as something else, or gone: that is a conflict's or a remover's to say
				}
				for at, l := range lines {
					n := now[at]
					if l.shown && !n.shown && !n.deleted && !n.twin && live[at.Change] {
						m.fail("a line of file %v that %s has is not there: %v", x, replicas[i], at)
					}
				}
			}
		}
	})
}

type lineFate struct{ shown, deleted, twin bool }

// textLines tells what became of each byte of each text that a state shows.
func (m *mirror) textLines(s StateRef) map[change.FileID]map[change.Pos]lineFate {
	out := map[change.FileID]map[change.Pos]lineFate{}
	tr, err := m.r.tree(s.Num)
	check(m.t, err)
	check(m.t, tr.Walk("", func(e *state.Entry) error {
		if e.Kind != change.Text {
			return nil
		}
		l, err := m.r.loadWeave(e)
		if err != nil {
			return err
		}
		lines := map[change.Pos]lineFate{}
		for i := range l.w.Runs {
			run := &l.w.Runs[i]
			for k := range run.Len {
				at := change.Pos{Change: run.Change, Off: run.Off + k}
				if _, twice := lines[at]; twice {
					m.fail("%v stands twice in %s", at, e.Path)
				}
				lines[at] = lineFate{run.Shown(), run.Dead != 0, run.Turned}
			}
		}
		out[e.File] = lines
		return nil
	}))
	return out
}
