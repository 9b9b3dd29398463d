package weave

import "github.com/oxy-vcs/oxy/internal/change"

// History tells of changes what the weave of one file does not hold. It must not change while it is asked.
type History interface {
	// Less orders changes by their hashes: so siblings stand in the weave, and the least of twins shows.
	Less(a, b uint32) bool
	// Reaches reports whether b is a or in a's past.
	Reaches(a, b uint32) bool
	// SameText reports whether two stretches of equal length, of what two changes inserted into this file, hold the same
	// bytes. It is asked of stretches that were inserted at one place, in one stead.
	SameText(a, b change.Stretch) (bool, error)
}

// Patch is what one change does to the file, in local numbers.
type Patch struct {
	Source
	// Hunks must not be changed afterwards. Consecutive ones with one right end are the parts of one hunk of the algebra: the first
	// holds its gap and all that it deletes, restores and solves, the others more places where it inserts.
	Hunks []change.Hunk
	// Undoes is the change that this one takes back by name; nil for none. Its hunks are gaps only: they say where it acts. A
	// change that undoes another has a patch, perhaps without hunks, for each file that the other touched.
	Undoes *uint32
}

// act is a patch as the weave keeps it beside its source.
type act struct {
	hunks    []change.Hunk
	raw      []byte // the hunks as encoded, until they are first wanted
	restores bool
	solves   bool
	undo     *uint32
}

// hunksOf gives the hunks of source i. The first source has none: it is the adding of the file, one stretch from end to end.
func (w *Weave) hunksOf(i int) ([]change.Hunk, error) {
	a := &w.acts[i]
	if a.raw != nil {
		h, rest, err := change.DecodeLocalHunks(a.raw)
		if err != nil || len(rest) > 0 {
			return nil, ErrDamaged
		}
		a.hunks, a.raw = h, nil
	}
	if i == 0 && len(a.hunks) == 0 && a.undo == nil {
		return []change.Hunk{{L: change.Start, R: change.End, InsLen: w.Sources[i].Size}}, nil
	}
	return a.hunks, nil
}
