package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/oxy-vcs/oxy/bench/internal/measure"
	"github.com/oxy-vcs/oxy/bench/internal/tree"
)

// gitSizes are what Git needs for a history after "git gc", in bytes.
type gitSizes struct{ objects, whole int64 }

// gitStore gives Git the same history in dir through fast-import, packs it and returns its size.
func gitStore(git measure.Tool, dir string, h History) (gitSizes, error) {
	var size gitSizes
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return size, err
	}
	if _, err := git.Run(dir, "init", "-q"); err != nil {
		return size, err
	}
	r, w := io.Pipe()
	go func() { w.CloseWithError(h.fastImport(w)) }()
	if _, err := git.Feed(dir, r, "fast-import", "--quiet"); err != nil {
		return size, err
	}
	if _, err := git.Run(dir, "gc", "-q"); err != nil {
		return size, err
	}
	var err error
	if size.objects, _, err = tree.Size(filepath.Join(dir, ".git", "objects")); err != nil {
		return size, err
	}
	size.whole, _, err = tree.Size(filepath.Join(dir, ".git"))
	return size, err
}

// fastImport writes the history as a stream for "git fast-import".
func (h History) fastImport(out io.Writer) error {
	w := bufio.NewWriter(out)
	var hot []byte
	file := func(path string, text []byte) {
		fmt.Fprintf(w, "M 100644 inline %s\ndata %d\n%s\n", path, len(text), text)
	}
	for change := 1; change <= h.Changes; change++ {
		message := message(change)
		fmt.Fprintf(w, "commit refs/heads/main\ncommitter Bench <bench@example.com> %d +0000\ndata %d\n%s\n",
			1_700_000_000+change, len(message), message)
		switch {
		case change == 1:
			for i := range h.Files {
				file(h.Path(i), h.Text(i, 1))
			}
			file(hotFile, nil)
		case h.IsHot(change):
			hot = append(hot, h.HotLine(change)...)
			file(hotFile, hot)
		default:
			file(h.Path(h.Target(change)), h.Text(h.Target(change), change))
		}
	}
	return w.Flush()
}

func message(change int) string { return fmt.Sprintf("Change %d", change) }
