package revlog

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

func BenchmarkTasks(b *testing.B) {
	for _, c := range []struct{ path, revs string }{
		{"r12z/.hg/store/00changelog.i", "r12z.revs"}, {"r12l/.hg/store/00changelog.i", "r12l.revs"}, {"r113/.hg/store/00changelog.i", "r113.revs"},
		{"r12z/.hg/store/00manifest.i", "r12z.revs"}, {"r113/.hg/store/00manifest.i", "r113.revs"}, {"r113/.hg/store/data/_change_log.i", "r113f.revs"},
	} {
		path := "/tmp/revbench/" + c.path
		text, _ := os.ReadFile("/tmp/revbench/" + c.revs)
		var revs []Rev
		for _, f := range strings.Fields(string(text)) {
			n, _ := strconv.Atoi(f)
			revs = append(revs, Rev(n))
		}
		name := strings.ReplaceAll(strings.ReplaceAll(c.path, "/.hg/store/", "-"), "data/", "")
		open := func() *Log {
			l, err := Open(path, nil)
			if err != nil {
				b.Fatal(err)
			}
			return l
		}
		b.Run(name+"/open", func(b *testing.B) {
			for b.Loop() {
				open().Close()
			}
		})
		b.Run(name+"/index", func(b *testing.B) {
			for b.Loop() {
				l := open()
				s := int64(0)
				l.Entries(func(rev Rev, e *Entry) error {
					s += e.Offset + int64(e.Stored) + int64(e.Size) + int64(e.Base) + int64(e.Link) + int64(e.P1) + int64(e.P2) + int64(e.Node[0])
					return nil
				})
				sink = s
				l.Close()
			}
		})
		b.Run(name+"/tip", func(b *testing.B) {
			for b.Loop() {
				l := open()
				r := l.Reader()
				if _, err := r.Text(l.Tip()); err != nil {
					b.Fatal(err)
				}
				r.Close()
				l.Close()
			}
		})
		b.Run(name+"/data", func(b *testing.B) {
			for b.Loop() {
				l := open()
				r := l.Reader()
				for _, rev := range revs {
					if _, err := r.Text(rev); err != nil {
						b.Fatal(err)
					}
				}
				r.Close()
				l.Close()
			}
		})
		b.Run(name+"/table", func(b *testing.B) {
			for b.Loop() {
				l := open()
				n, _ := l.Node(l.Tip())
				l.Rev(n)
				l.Close()
			}
		})
	}
}

var sink int64
