package diff

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// FileStat is how much of one file changed. Paths are shown as they are: the caller quotes what needs it.
type FileStat struct {
	Path           string
	OldPath        string // where a renamed file was, or empty
	Added, Deleted int    // lines
	Binary         bool
	OldSize        int64 // bytes, of a binary file
	NewSize        int64
}

// statLayout is how wide the columns are, in characters.
type statLayout struct {
	name, number, graph int
	most                int // the largest number of lines changed in a file
}

// AppendStat appends a line for each file and the summary, as Git's --stat does for a terminal of width columns. Of
// the palette, which may be nil, it uses New and Old for the graph.
func AppendStat(dst []byte, files []FileStat, width int, pal *Palette) []byte {
	if len(files) == 0 {
		return dst
	}
	if pal == nil {
		pal = &plain
	}
	names := make([]string, len(files))
	for i := range files {
		names[i] = files[i].name()
	}
	l := layout(files, names, width)
	for i := range files {
		dst = l.appendFile(dst, &files[i], names[i], pal)
	}
	return appendSummary(dst, files)
}

func layout(files []FileStat, names []string, width int) statLayout {
	var l statLayout
	binary := 0
	for i := range files {
		f := &files[i]
		l.name = max(l.name, utf8.RuneCountInString(names[i]))
		if f.Binary {
			// "Bin 1 -> 2 bytes", whose first word stands in the number's column.
			binary = max(binary, len("Bin  ->  bytes")+digits(f.OldSize)+digits(f.NewSize))
			l.number = 3
		} else {
			l.most = max(l.most, f.Added+f.Deleted)
		}
	}
	l.number = max(l.number, digits(int64(l.most)))
	l.graph = l.most
	if l.most+4 <= binary {
		l.graph = binary - 4
	}
	// Besides name, number and graph a line has " ", " | ", " " and an empty last column. If all does not fit, the graph
	// gives way down to 3/8 of the width, and then the name.
	const fixed = 6
	if l.name+l.number+fixed+l.graph > width {
		if l.graph > width*3/8-l.number-fixed {
			l.graph = max(width*3/8-l.number-fixed, 6)
		}
		if l.name > width-l.number-fixed-l.graph {
			l.name = max(width-l.number-fixed-l.graph, 0)
		} else {
			l.graph = width - l.number - fixed - l.name
		}
	}
	return l
}

func digits(n int64) int { return len(strconv.FormatInt(n, 10)) }

func (l *statLayout) appendFile(dst []byte, f *FileStat, name string, pal *Palette) []byte {
	name = fit(name, l.name)
	dst = append(dst, ' ')
	dst = append(dst, name...)
	dst = appendSpaces(dst, l.name-utf8.RuneCountInString(name))
	dst = append(dst, " | "...)
	if f.Binary {
		dst = appendSpaces(dst, l.number-len("Bin"))
		dst = append(dst, "Bin"...)
		if f.OldSize != 0 || f.NewSize != 0 {
			dst = append(dst, ' ')
			dst = pal.paint(dst, pal.Old, strconv.AppendInt(nil, f.OldSize, 10))
			dst = append(dst, " -> "...)
			dst = pal.paint(dst, pal.New, strconv.AppendInt(nil, f.NewSize, 10))
			dst = append(dst, " bytes"...)
		}
		return append(dst, '\n')
	}
	total := f.Added + f.Deleted
	dst = appendSpaces(dst, l.number-digits(int64(total)))
	dst = strconv.AppendInt(dst, int64(total), 10)
	if total > 0 {
		dst = append(dst, ' ')
	}
	added, deleted := l.scale(f.Added, f.Deleted)
	dst = pal.paint(dst, pal.New, []byte(strings.Repeat("+", added)))
	dst = pal.paint(dst, pal.Old, []byte(strings.Repeat("-", deleted)))
	return append(dst, '\n')
}

// scale returns how many signs stand for added and deleted lines: at least one for each that is not zero.
func (l *statLayout) scale(added, deleted int) (plus, minus int) {
	if l.most < l.graph {
		return added, deleted
	}
	linear := func(n int) int {
		if n == 0 {
			return 0
		}
		return 1 + n*(l.graph-1)/l.most
	}
	total := linear(added + deleted)
	if total < 2 && added > 0 && deleted > 0 {
		total = 2
	}
	if added < deleted {
		plus = linear(added)
		return plus, total - plus
	}
	minus = linear(deleted)
	return total - minus, minus
}

// fit shortens name to width characters, at its start and there at a slash if there is one.
func fit(name string, width int) string {
	n := utf8.RuneCountInString(name)
	if n <= width {
		return name
	}
	skip := n - max(width-len("..."), 0)
	for ; skip > 0; skip-- {
		_, size := utf8.DecodeRuneInString(name)
		name = name[size:]
	}
	if slash := strings.IndexByte(name, '/'); slash >= 0 {
		name = name[slash:]
	}
	return "..." + name
}

// name is how a file is shown; a renamed one with what its paths share told once: dir/{old => new}/file.
func (f *FileStat) name() string {
	if f.OldPath == "" || f.OldPath == f.Path {
		return f.Path
	}
	a, b := f.OldPath, f.Path
	head := 0
	for i := 0; i < len(a) && i < len(b) && a[i] == b[i]; i++ {
		if a[i] == '/' {
			head = i + 1
		}
	}
	// The shared end begins with a slash, which may be the one that the shared head ends with.
	floor := max(head-1, 0)
	tail := 0
	for i := 1; len(a)-i >= floor && len(b)-i >= floor && a[len(a)-i] == b[len(b)-i]; i++ {
		if a[len(a)-i] == '/' {
			tail = i
		}
	}
	if head == 0 && tail == 0 {
		return a + " => " + b
	}
	middle := func(p string) string { return p[head:max(len(p)-tail, head)] }
	return a[:head] + "{" + middle(a) + " => " + middle(b) + "}" + a[len(a)-tail:]
}

func appendSummary(dst []byte, files []FileStat) []byte {
	added, deleted := 0, 0
	for i := range files {
		if !files[i].Binary {
			added += files[i].Added
			deleted += files[i].Deleted
		}
	}
	count := func(n int, one, many string) {
		dst = strconv.AppendInt(dst, int64(n), 10)
		if n == 1 {
			dst = append(dst, one...)
		} else {
			dst = append(dst, many...)
		}
	}
	dst = append(dst, ' ')
	count(len(files), " file changed", " files changed")
	// A count of none is left out, unless both are.
	if added > 0 || deleted == 0 {
		dst = append(dst, ", "...)
		count(added, " insertion(+)", " insertions(+)")
	}
	if deleted > 0 || added == 0 {
		dst = append(dst, ", "...)
		count(deleted, " deletion(-)", " deletions(-)")
	}
	return append(dst, '\n')
}

func appendSpaces(dst []byte, n int) []byte {
	for ; n > 0; n-- {
		dst = append(dst, ' ')
	}
	return dst
}
