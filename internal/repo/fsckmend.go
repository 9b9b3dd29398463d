package repo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/store"
)

// What is damaged of the log cannot be made again, but another copy may have it: changes and contents are the same everywhere. They are
// asked for by their ids, proved by their hashes, gathered in a store beside the repository's, and then the log is packed with them in
// place of what is damaged. Nothing is altered before all of the new log is there.

// RepairOptions say where Repair may ask for what is damaged.
type RepairOptions struct {
	From     string    // a remote's name or an address; "": all remotes
	Dir      string    // from where an address that is a relative path is seen
	Messages io.Writer // where ssh may speak
	// DropLost has changes, states and operations go that are damaged and that nobody has, with all that needs them. Without it
	// they stay, damaged.
	DropLost bool
}

// mendingDir is beneath the repository's directory, while it is being mended.
const mendingDir = "mending"

// mending is one mending under way.
type mending struct {
	r   *Repo
	ctx context.Context
	opt RepairOptions

	bad      *store.Bad
	untrue   []uint32             // changes that can be read and are not what their ids say
	want     map[change.ID]bool   // changes to ask for
	replaced map[change.ID]bool   // of them, those that are damaged themselves
	contents map[change.Hash]bool // damaged or missing
	loose    []change.Hash        // contents that no change names, damaged or missing: only a copy on this machine can be asked for them

	states  stateMender
	scratch *store.Store
	asked   []string // who gave something
	errs    []error

	lost  *store.Bad // what nobody has; nil for nothing
	says  []string   // what goes without that, by name
	aside string     // where what went is kept, beneath the repository's root
}

// mend replaces what is damaged of the log, as far as somebody has it. It gives what it did, nothing where nothing is damaged.
func (r *Repo) mend(ctx context.Context, opt RepairOptions) ([]Repaired, error) {
	m := &mending{r: r, ctx: ctx, opt: opt, want: map[change.ID]bool{}, replaced: map[change.ID]bool{}, contents: map[change.Hash]bool{}}
	m.states = stateMender{r: r, ctx: ctx, made: map[uint32]store.State{}, sets: m.setsOf}
	if err := m.survey(); err != nil {
		return nil, err
	}
	if m.bad.None() && len(m.untrue) == 0 && len(m.contents) == 0 {
		return nil, nil
	}
	dir := filepath.Join(r.dir, mendingDir)
	if err := r.fs.RemoveAll(dir); err != nil { // of one that was cut short
		return nil, fileError("mend the repository", err)
	}
	done, err := m.run(dir)
	if m.scratch != nil {
		err = errors.Join(err, m.scratch.Close())
	}
	return done, errors.Join(err, r.fs.RemoveAll(dir))
}

func (m *mending) run(dir string) ([]Repaired, error) {
	if err := store.Create(m.r.fs, dir); err != nil {
		return nil, fileError("mend the repository", err)
	}
	var err error
	if m.scratch, err = store.Open(m.r.fs, dir); err != nil {
		return nil, storeError(err)
	}
	if err := m.gather(); err != nil {
		return nil, err
	}
	if err := m.states.run(m.bad.States); err != nil {
		return nil, err
	}
	return m.replace()
}

// survey finds what is damaged and which changes have or brought it.
func (m *mending) survey() error {
	s := m.r.store
	bar := m.r.opt.Progress
	bar.Begin("Looking for damage", int64(s.NumBlobs())+int64(s.NumChanges())+int64(s.NumStates())+int64(s.NumOps()), false)
	defer bar.End()
	var err error
	if m.bad, err = s.Bad(m.ctx, bar.Add); err != nil {
		return storeError(err)
	}
	unreadable := make([]bool, s.NumChanges())
	for _, n := range m.bad.Changes {
		unreadable[n] = true
		m.want[s.ChangeID(n)], m.replaced[s.ChangeID(n)] = true, true
	}
	badContent := make([]bool, s.NumBlobs())
	for _, n := range m.bad.Contents {
		badContent[n] = true
	}
	for n := range s.NumChanges() {
		if unreadable[n] {
			continue
		}
		if err := m.ctx.Err(); err != nil {
			return context.Cause(m.ctx)
		}
		rec, err := s.Change(n)
		if err != nil {
			return storeError(err)
		}
		if change.Sum(rec.Meta, rec.Body) != rec.ID {
			m.untrue = append(m.untrue, n)
			m.want[rec.ID], m.replaced[rec.ID] = true, true
			continue
		}
		c, err := change.DecodeTrusted(rec.Meta, rec.Body)
		if err != nil {
			return storeError(errors.Join(store.ErrDamaged, err))
		}
		for i := range c.Files {
			f := &c.Files[i]
			if f.Size == 0 || len(rec.Texts) > 0 && f.Size < inlineBelow {
				continue
			}
			b, ok := s.BlobNumber(f.Content)
			if ok && !badContent[b] && !m.chunksBad(f, badContent) {
				continue
			}
			m.contents[f.Content] = true
			m.want[rec.ID] = true
		}
	}
	return m.surveyLoose()
}

// surveyLoose finds contents that no change names: those that are damaged, of which the hash is known yet, and those noted as lost.
func (m *mending) surveyLoose() error {
	s := m.r.store
	for _, n := range m.bad.Contents {
		h := s.BlobHash(n)
		if here, ok := s.BlobNumber(h); ok && here == n && !m.contents[h] { // otherwise the damage took its hash, too
			m.loose = append(m.loose, h)
		}
	}
	v, err := s.View()
	if err != nil {
		return nil // told with its operation
	}
	for _, h := range lostOf(v) {
		if _, here := s.BlobSize(h); !here {
			m.contents[h] = true
			m.loose = append(m.loose, h)
		}
	}
	return nil
}

// lostOf lists the contents that a view notes as lost.
func lostOf(v *store.View) (list []change.Hash) {
	const size = len(change.Hash{})
	for b := v.Kept[keptLost]; len(b) >= size; b = b[size:] {
		list = append(list, change.Hash(b[:size]))
	}
	return list
}

// chunksBad tells whether a large content has chunks among those that are bad.
func (m *mending) chunksBad(f *change.File, bad []bool) bool {
	if len(m.bad.Contents) == 0 {
		return false
	}
	found := false
	err := m.r.store.EachChunk(f.Content, func(n uint32) { found = found || bad[n] })
	return found || err != nil
}

// decide is told what nobody has, with the writers' lock held. It gives what shall stay without that, or nil if all stays as it is.
func (m *mending) decide(lost *store.Bad, gains bool) (keep *store.Keep, err error) {
	s, err := m.salvage(lost)
	if err != nil {
		return nil, err
	}
	m.lost, m.says = lost, s.says()
	switch {
	case m.opt.DropLost:
		return s.k, m.repositoryAside()
	case gains:
		return nil, m.damagedAside()
	}
	return nil, nil
}

// replace puts what came in place of what is damaged, and behind the log what is missing altogether.
func (m *mending) replace() ([]Repaired, error) {
	var done []Repaired
	if m.scratch.NumBlobs()+m.scratch.NumChanges() > 0 || m.opt.DropLost {
		if err := m.noteLost(); err != nil {
			return nil, err
		}
	}
	wait, waited := m.r.waits()
	defer waited()
	st, err := m.r.store.Repack(m.ctx, store.RepackOptions{Wait: wait, Replace: &store.Replace{From: m.scratch, Changes: m.untrue, States: m.states.made, Decide: m.decide}})
	if !st.Packed && m.aside != "" {
		err = errors.Join(err, m.r.fs.RemoveAll(filepath.Join(m.r.root, m.aside)))
		m.aside = ""
	}
	switch {
	case errors.Is(err, store.ErrNotReplaced):
		err = fmt.Errorf("%w: nothing was altered; %s", cmp.Or(errors.Unwrap(err), err), m.why())
		return []Repaired{m.withLost(Repaired{What: m.whatIsBad(), Err: err})}, nil
	case err != nil:
		return nil, storeError(err)
	}
	if st.Dropped {
		m.r.forgetNumbers()
	}
	if st.Contents+st.Changes > 0 {
		done = append(done, Repaired{What: fmt.Sprintf("%s, as %s has them", counted(st.Changes, st.Contents), strings.Join(m.asked, " and "))})
	}
	if n := len(m.states.made); n > 0 {
		done = append(done, Repaired{What: countOf(n, "state") + ", proved by their ids"})
	}
	if st.Packed && st.Contents+st.Changes+st.Lost+st.Hollow == 0 && m.lost == nil {
		done = append(done, Repaired{What: "the log, of which the indexes have what was damaged"})
	}
	if st.Lost > 0 {
		done = append(done, Repaired{What: fmt.Sprintf("%s, missing now where it was damaged", countOf(st.Lost, "content")), Err: errors.New(m.why())})
	}
	if m.lost != nil && m.opt.DropLost {
		done = append(done, Repaired{What: "the repository, without what nobody has", Gone: m.says, Aside: m.aside})
	} else if m.lost != nil && len(m.lost.Changes)+len(m.lost.States)+len(m.lost.Ops) > 0 {
		done = append(done, m.withLost(Repaired{What: "what nobody has", Err: errors.New(m.why())}))
	} else if m.aside != "" {
		done[len(done)-1].Aside = m.aside
	}
	if _, err := m.r.store.View(); err != nil {
		return done, nil // nothing can be recorded
	}
	more, err := m.putMissing()
	if err != nil {
		return done, err
	}
	if more > 0 {
		done = append(done, Repaired{What: fmt.Sprintf("%s that had been missing, as %s has them", counted(0, more), strings.Join(m.asked, " and "))})
	}
	if len(m.want) > 0 && st.Lost+st.Hollow == 0 && m.lost == nil {
		done = append(done, Repaired{What: "what is damaged of " + counted(len(m.want), 0), Err: errors.New(m.why())})
	}
	return done, nil
}

// withLost adds to what could not be made what dropping it would take away.
func (m *mending) withLost(d Repaired) Repaired {
	d.Aside, d.Lost = m.aside, m.says
	return d
}

// maxLost bounds what is noted: a kept value has 64 KiB at most.
const maxLost = 1024

// noteLost notes the contents that are about to be left out and that no change names, as what an import keeps of tags: fsck would not
// find out that they are gone.
func (m *mending) noteLost() error {
	s := m.r.store
	came := map[uint32]bool{}
	for n := range m.scratch.NumBlobs() {
		if here, ok := s.BlobNumber(m.scratch.BlobHash(n)); ok {
			came[here] = true
		}
	}
	var lost []byte
	for _, h := range m.loose {
		if n, here := s.BlobNumber(h); here && !came[n] && len(lost) < maxLost*len(h) {
			lost = append(lost, h[:]...)
		}
	}
	if len(lost) == 0 {
		return nil
	}
	if _, err := s.View(); err != nil {
		return nil // it is damaged itself: there is nowhere to note anything
	}
	_, err := transact(m.r, func(t *tx) (struct{}, error) {
		before := t.view.Kept[keptLost]
		t.view.Kept[keptLost] = append(lost, before[:min(len(before), maxLost*len(change.Hash{})-len(lost))]...)
		if err := t.passedOver(); err != nil {
			return struct{}{}, err
		}
		return struct{}{}, t.commit("fsck")
	})
	return err
}

// lost tells of contents that were damaged when the log was mended, and are gone.
func (c *checker) lost() {
	v, err := c.r.store.View()
	if err != nil {
		return // told with its operation
	}
	for _, h := range lostOf(v) {
		if _, ok := c.r.store.BlobSize(h); !ok {
			c.find(finding{Problem{Text: fmt.Sprintf("content %s was damaged, and no copy had it: no change needs it, but what an import keeps may. An import from where it came brings it again", h)}, -1, -1})
		}
	}
}

// putMissing puts contents that came and are not in the log.
func (m *mending) putMissing() (int, error) {
	var missing []change.Hash
	for h := range m.contents {
		if _, here := m.r.store.BlobSize(h); here {
			continue
		}
		if _, came := m.scratch.BlobSize(h); came {
			missing = append(missing, h)
		}
	}
	if len(missing) == 0 {
		return 0, nil
	}
	slices.SortFunc(missing, func(a, b change.Hash) int { return slices.Compare(a[:], b[:]) })
	return transact(m.r, func(t *tx) (int, error) {
		for _, h := range missing {
			if err := copyContent(t, m.scratch, h); err != nil {
				return 0, storeError(err)
			}
		}
		if err := t.passedOver(); err != nil {
			return 0, err
		}
		return len(missing), t.commit("fsck")
	})
}

// why says why something is left damaged.
func (m *mending) why() string {
	if len(m.errs) > 0 {
		return m.errs[0].Error()
	}
	if m.opt.From != "" {
		return m.opt.From + " does not have it. Name another copy with: oxy fsck --repair --from REMOTE|PATH"
	}
	return "no other copy that is known has it. Name one with: oxy fsck --repair --from REMOTE|PATH"
}

func (m *mending) whatIsBad() string {
	text := counted(len(m.bad.Changes)+len(m.untrue), len(m.contents))
	for _, kind := range []struct {
		n    int
		name string
	}{{len(m.bad.States), "state"}, {len(m.bad.Ops), "operation"}} {
		if kind.n > 0 {
			text += fmt.Sprintf(", %s", countOf(kind.n, kind.name))
		}
	}
	return text
}

// counted says how many changes and contents.
func counted(changes, contents int) string {
	var parts []string
	if changes > 0 {
		parts = append(parts, countOf(changes, "change"))
	}
	if contents > 0 || changes == 0 {
		parts = append(parts, countOf(contents, "content"))
	}
	return strings.Join(parts, " and ")
}

func countOf(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
