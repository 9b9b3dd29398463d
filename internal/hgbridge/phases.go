package hgbridge

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/oxy-vcs/oxy/revlog"
)

// phases gives the phase of each changeset. The store names the roots of all that is not public; what descends from one is at
// least as private.
func (r *Repo) phases() ([]Phase, error) {
	phases := make([]Phase, r.Changelog.Len())
	name := filepath.Join(r.store, "phaseroots")
	lines, err := r.lines(name, maxRoots)
	if err != nil {
		return nil, err
	}
	if lines == nil && !r.hasFile(name) {
		return phases, nil
	}
	any := false
	for i, line := range lines {
		if line == "" {
			continue
		}
		number, node, ok := strings.Cut(line, " ")
		phase, err := strconv.Atoi(number)
		id, nerr := revlog.ParseNode(node)
		if !ok || err != nil || nerr != nil || phase < 0 {
			return nil, fmt.Errorf("%s, line %d: %q is no root of a phase", name, i+1, line)
		}
		rev, err := r.Changelog.Rev(id)
		if err != nil || rev == revlog.Null {
			continue // stripped; Mercurial drops it too
		}
		phases[rev] = max(phases[rev], Phase(min(phase, int(Hidden))))
		any = true
	}
	if !any {
		return phases, nil
	}
	return phases, r.Changelog.Entries(func(rev revlog.Rev, e *revlog.Entry) error {
		for _, p := range [2]revlog.Rev{e.P1, e.P2} {
			if p != revlog.Null {
				phases[rev] = max(phases[rev], phases[p])
			}
		}
		return nil
	})
}
