package repo

import "github.com/oxy-vcs/oxy/internal/store"

// namer tells what points to the positions of a log.
type namer struct {
	r      *Repo
	states map[uint32]*Names
	byEnd  map[logEnd][]uint32 // the named states, made when a position is met that no state stands for
}

// logEnd is by what two logs that are the same are found: the last change and the length.
type logEnd struct {
	last uint32
	len  uint64
}

func (r *Repo) newNamer(v *store.View) *namer { return &namer{r: r, states: namesOf(v)} }

// at tells what points to a position of the log of s: right after change n, where the log came by a state, or NoState. A name
// that was given to a position which is no state of that log has one of its own.
func (m *namer) at(s, n uint32, pos uint64, leads uint32) (*Names, error) {
	if leads != NoState || len(m.states) == 0 {
		return m.states[leads], nil
	}
	if m.byEnd == nil {
		m.byEnd = map[logEnd][]uint32{}
		for named := range m.states {
			last, before, ok, err := m.r.lastChange(named)
			if err != nil {
				return nil, err
			}
			if ok {
				end := logEnd{last, before + 1}
				m.byEnd[end] = append(m.byEnd[end], named)
			}
		}
	}
	for _, named := range m.byEnd[logEnd{n, pos}] {
		here, err := m.r.atPosition(s, pos)
		if err != nil {
			return nil, err
		}
		is, err := m.r.stateRef(here)
		if err != nil {
			return nil, err
		}
		if there, err := m.r.stateRef(named); err != nil || there.ID == is.ID {
			return m.states[named], err
		}
	}
	return nil, nil
}
