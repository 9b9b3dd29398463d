package ignore

import "slices"

// Verdict is what the rules say of an entry.
type Verdict uint8

// The verdicts. Only Ignored hides an entry; None and Included differ for who explains a decision.
const (
	None     Verdict = iota // no pattern matches
	Ignored                 // the pattern that decides ignores it
	Included                // the pattern that decides begins with '!'
)

func (v Verdict) String() string {
	switch v {
	case Ignored:
		return "ignored"
	case Included:
		return "included"
	}
	return "none"
}

// Stack holds the rules that apply to the entries of one directory: those of all ignore files above it and its own.
// It never changes, shares what it can with the Stack of the directory above and may be used by many goroutines.
//
// Each frame is one file's rules, the one that decides first on top. What a frame knows of the way from the file's
// directory to here is which steps of its bound patterns now wait for a name; a frame that waits for none, or for the
// same ones as above, is shared, so that going down costs nothing in most directories.
type Stack struct {
	rules  *Rules // nil only at the bottom
	live   []uint32
	here   *table // what live decides of this directory's entries, nil if nothing
	home   bool   // this is the directory of the rules' file
	moving bool   // going down changes this frame or one below
	below  *Stack
}

// NewStack returns the rules for the entries of the root directory. The files given hold for the whole tree, with
// patterns bound to its root, the one that decides last first: the user's, the repository's, then the root's own.
func NewStack(global ...*Rules) *Stack {
	return (&Stack{}).Push("", global...)
}

// Push returns the rules for the entries of directory dir, a name in the directory of s, which has ignore files with
// the given rules: the one that decides last first, nil for none. With an empty name it stays in the directory and
// adds rules. Nobody goes down into a directory that is ignored: what it holds is ignored whatever rules it has.
func (s *Stack) Push(dir string, rules ...*Rules) *Stack {
	top := s
	if dir != "" {
		top = s.enter(dir)
	}
	for _, r := range rules {
		if r.Empty() {
			continue
		}
		moves := len(r.start) > 0 || r.here != nil
		top = &Stack{rules: r, live: r.start, here: r.here, home: true, moving: moves || top.moving, below: top}
	}
	return top
}

// enter takes a step down in every frame.
func (s *Stack) enter(dir string) *Stack {
	if !s.moving {
		return s
	}
	below := s.below.enter(dir)
	// Room for what nearly all rules need, so that a step that changes nothing allocates nothing.
	var room [32]uint32
	live := s.rules.advance(room[:0], s.live, dir)
	if !s.home && slices.Equal(live, s.live) {
		if below == s.below {
			return s
		}
		same := *s
		same.below = below
		same.moving = len(s.live) > 0 || below.moving
		return &same
	}
	if len(live) == 0 && s.rules.anywhere.empty() {
		return below
	}
	return &Stack{
		rules: s.rules, live: slices.Clone(live), here: s.rules.decided(live, nil),
		moving: len(live) > 0 || below.moving, below: below,
	}
}

// advance appends to buf the steps that wait for a name in directory dir, given those that did in the one above.
// Both ascend.
func (r *Rules) advance(buf, live []uint32, dir string) []uint32 {
	for _, id := range live {
		switch st := &r.steps[id]; st.kind {
		case oneName:
			if !st.last && st.name.match(dir) {
				buf = follow(buf, id+1, r.steps[id+1].kind)
			}
		default:
			buf = follow(buf, id, st.kind)
		}
	}
	return buf
}

// follow appends a step that is reached, with the one behind it if it may stand for nothing. What is appended from a
// later step is never less than what was from an earlier one, save what is there already.
func follow(live []uint32, id uint32, kind stepKind) []uint32 {
	last := id
	if kind == anyDepth {
		last++
	}
	for ; id <= last; id++ {
		if n := len(live); n == 0 || live[n-1] < id {
			live = append(live, id)
		}
	}
	return live
}

// decided adds to t what the steps say of entries if they are their pattern's last. It makes t if need be.
func (r *Rules) decided(live []uint32, t *table) *table {
	for _, id := range live {
		st := &r.steps[id]
		if !st.last {
			continue
		}
		if t == nil {
			t = &table{}
		}
		if st.kind == allBelow {
			t.all.raise(st.rank, r.patterns[st.rank-1].dirOnly)
		} else {
			t.add(&st.name, st.rank, r.patterns[st.rank-1].dirOnly)
		}
	}
	return t
}

// Match tells what the rules say of an entry of the directory. A symbolic link is no directory, whatever it points to.
// It does not allocate.
func (s *Stack) Match(name string, isDir bool) Verdict {
	_, p := s.find(name, isDir)
	return p.verdict()
}

// Explain tells which pattern decides: the name given to the rules, the line from 1 and the pattern without blanks
// that do not count. All are zero if none does.
func (s *Stack) Explain(name string, isDir bool) (source string, line int, text string, v Verdict) {
	r, p := s.find(name, isDir)
	if p == nil {
		return "", 0, "", None
	}
	return r.source, int(p.line), p.text, p.verdict()
}

// find returns the pattern that decides, nil if none does: the last that matches in the topmost frame with one.
func (s *Stack) find(name string, isDir bool) (*Rules, *pattern) {
	for ; s.rules != nil; s = s.below {
		rank := s.rules.anywhere.match(name, isDir)
		if s.here != nil {
			rank = max(rank, s.here.match(name, isDir))
		}
		if rank > 0 {
			return s.rules, &s.rules.patterns[rank-1]
		}
	}
	return nil, nil
}

func (p *pattern) verdict() Verdict {
	switch {
	case p == nil:
		return None
	case p.negated:
		return Included
	}
	return Ignored
}
