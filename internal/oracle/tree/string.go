package tree

import (
	"fmt"
	"strings"
)

// String tells every change of a world, for a failed test.
func (w *World) String() string {
	var b strings.Builder
	for _, c := range w.Changes {
		fmt.Fprintf(&b, "%d #%06x on %v", c.Num, c.Hash, c.Deps)
		if c.Undoes != None {
			fmt.Fprintf(&b, " undoes %d", c.Undoes)
		}
		for _, o := range c.Ops {
			fmt.Fprintf(&b, " [%v %c %q %v %v %q over %v]", o.File, o.Reg, o.Path, o.Exec, o.Kind, o.Content, o.Over)
		}
		for _, e := range c.Edits {
			fmt.Fprintf(&b, " [edit %v", e.File)
			for _, h := range e.Hunks {
				fmt.Fprintf(&b, " (%v %v del %v restores %v solves %v ins", h.L, h.R, h.Del, h.Restores, h.Solves)
				for _, n := range h.Ins {
					fmt.Fprintf(&b, " %q", w.texts[e.File].Text(n.Line))
				}
				b.WriteString(")")
			}
			b.WriteString("]")
		}
		b.WriteString("\n")
	}
	return b.String()
}
