package repo

import (
	"bytes"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/weave"
)

// pageBlame tells of a file with open conflicts as it is shown: what a side or the base of a block shows is by who wrote it,
// and the marks are by nobody.
type pageBlame struct {
	b    *blamer
	page *weave.Page
	at   int // byte of the page
	gone [][]BlameRun
}

// pageRuns is what runs is for a file without conflicts.
func (b *blamer) pageRuns(e *state.Entry) error {
	v, page, err := b.r.page(e.File, b.l, b.r.newReach())
	if err != nil {
		return err
	}
	p := &pageBlame{b: b, page: page}
	if b.opt.Deleted {
		if err := p.findGone(v); err != nil {
			return err
		}
	} else {
		b.shown = page.Text
	}
	for i := range v.Items {
		p.tellGone(i)
		if it := &v.Items[i]; it.Block != nil {
			err = p.block(it.Block)
		} else {
			err = p.tell(&it.Stretch)
		}
		if err != nil {
			return err
		}
	}
	p.tellGone(len(v.Items))
	return nil
}

// tell credits the next bytes of the page to who wrote them.
func (p *pageBlame) tell(s *change.Stretch) error {
	c, err := p.b.info(s.Change)
	if err != nil {
		return err
	}
	p.credit(BlameRun{Change: c}, int(s.Len))
	return nil
}

// credit joins the next bytes of the page with those before, where nothing tells them apart.
func (p *pageBlame) credit(run BlameRun, n int) {
	from := p.at
	p.at += n
	out := p.b.out
	if k := len(out) - 1; k >= 0 && out[k].Change == run.Change && out[k].Mark == run.Mark && out[k].DeletedBy == nil {
		from -= len(out[k].Text)
		p.b.out = out[:k]
	}
	run.Text = p.page.Text[from:p.at:p.at]
	p.b.out = append(p.b.out, run)
}

// endLine takes the line break along that the page puts after a last line without one.
func (p *pageBlame) endLine() {
	if p.at == 0 || p.page.Text[p.at-1] == '\n' {
		return
	}
	run := p.b.out[len(p.b.out)-1]
	p.credit(BlameRun{Change: run.Change, Mark: run.Mark}, lineEnd(p.page.Text[p.at:], 1))
}

func (p *pageBlame) mark() {
	p.endLine()
	p.credit(BlameRun{Mark: true}, lineEnd(p.page.Text[p.at:], 1))
}

func (p *pageBlame) part(of []change.Stretch) error {
	p.mark()
	for i := range of {
		if err := p.tell(&of[i]); err != nil {
			return err
		}
	}
	return nil
}

// block tells of the parts of a block in the order in which weave.Page writes them.
func (p *pageBlame) block(b *weave.Block) error {
	if err := p.part(b.Sides[0].Show); err != nil {
		return err
	}
	if err := p.part(b.Base); err != nil {
		return err
	}
	for i := range b.Sides[1:] {
		if err := p.part(b.Sides[1+i].Show); err != nil {
			return err
		}
	}
	if p.mark(); len(b.Sides) == 1 {
		p.mark()
	}
	return nil
}

// shownPart is a stretch that some item shows.
type shownPart struct {
	off, end uint32
	item     int
}

// findGone finds the deleted text that no item shows, and before which item each stood.
func (p *pageBlame) findGone(v *weave.View) error {
	p.gone = make([][]BlameRun, len(v.Items)+1)
	shows := map[uint32][]shownPart{}
	for i := range v.Items {
		it := &v.Items[i]
		if it.Block == nil {
			shows[it.Change] = append(shows[it.Change], shownPart{it.Off, it.Off + it.Len, i})
			continue
		}
		parts := slices.Clone(it.Block.Base)
		for k := range it.Block.Sides {
			parts = append(parts, it.Block.Sides[k].Show...)
		}
		for _, s := range parts {
			shows[s.Change] = append(shows[s.Change], shownPart{s.Off, s.Off + s.Len, i})
		}
	}
	for _, parts := range shows {
		slices.SortFunc(parts, func(a, b shownPart) int { return int(int64(a.off) - int64(b.off)) })
	}
	next := 0 // the item after those that were passed
	for i := range p.b.l.w.Runs {
		run := p.b.l.w.Runs[i]
		end := run.Off + run.Len
		for _, s := range shows[run.Change] {
			if s.end <= run.Off || s.off >= end {
				continue
			}
			if s.off > run.Off {
				if err := p.goneRun(&run, run.Off, s.off, next); err != nil {
					return err
				}
			}
			next = max(next, s.item+1)
			run.Off = min(s.end, end)
		}
		if run.Off < end {
			if err := p.goneRun(&run, run.Off, end, next); err != nil {
				return err
			}
		}
	}
	return nil
}

// goneRun keeps text of a run that nothing shows, if somebody deleted it.
func (p *pageBlame) goneRun(run *weave.Run, from, to uint32, before int) error {
	members := p.b.l.w.Members(run.Dead)
	if len(members) == 0 {
		return nil
	}
	c, err := p.b.info(run.Change)
	if err != nil {
		return err
	}
	out := BlameRun{Change: c}
	for _, d := range members {
		who, err := p.b.info(d)
		if err != nil {
			return err
		}
		out.DeletedBy = append(out.DeletedBy, who)
	}
	text, err := p.b.t.run(&weave.Run{Change: run.Change, Off: from, Len: to - from})
	if err != nil {
		return err
	}
	out.Text = bytes.Clone(text)
	p.gone[before] = append(p.gone[before], out)
	return nil
}

func (p *pageBlame) tellGone(item int) {
	if p.gone != nil {
		p.b.out = append(p.b.out, p.gone[item]...)
	}
}
