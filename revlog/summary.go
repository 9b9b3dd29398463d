package revlog

import (
	"bufio"
	"fmt"
	"io"
)

// Summary says what a revlog is made of.
type Summary struct {
	Path         string         `json:"path"`
	Version      int            `json:"version"`
	Inline       bool           `json:"inline"`
	GeneralDelta bool           `json:"general_delta"`
	Nodemap      bool           `json:"nodemap"` // a persistent nodemap is used
	Revisions    int            `json:"revisions"`
	Merges       int            `json:"merges"`
	Heads        int            `json:"heads"`
	Stored       int64          `json:"stored"`        // bytes of all chunks
	Text         int64          `json:"text"`          // bytes of all texts
	LongestText  int            `json:"longest_text"`  // bytes
	Whole        int            `json:"whole"`         // chunks that are whole texts
	WholeStored  int64          `json:"whole_stored"`  // bytes of those
	LongestChain int            `json:"longest_chain"` // deltas
	MeanChain    float64        `json:"mean_chain"`    // deltas
	Chunks       map[string]int `json:"chunks"`        // by compression: zstd, zlib, raw, empty, other
	Flagged      map[string]int `json:"flagged"`       // revisions that are censored, ellipsis, external
	Torn         int            `json:"torn"`          // bytes after the last entry
}

// Summary reads the index and the first byte of every chunk. It checks no text: see Verify. Errors as of Log.Entries, and ErrCorrupt for a chunk
// beyond the file.
func (l *Log) Summary() (Summary, error) {
	s := Summary{
		Path: l.path, Version: l.version, Inline: l.inline, GeneralDelta: l.generalDelta, Revisions: l.n, Torn: l.torn,
		Chunks: map[string]int{}, Flagged: map[string]int{},
	}
	r := l.Reader()
	defer r.Close()
	if err := r.openData(); err != nil {
		return s, err
	}
	chains := make([]int32, l.n)
	parent := make([]bool, l.n)
	deltas := 0
	err := l.Entries(func(rev Rev, e *Entry) error {
		s.Stored += int64(e.Stored)
		s.Text += int64(max(e.Size, 0))
		s.LongestText = max(s.LongestText, int(e.Size))
		if base := l.base(rev, e); base == Null {
			s.Whole++
			s.WholeStored += int64(e.Stored)
		} else {
			chains[rev] = chains[base] + 1
			deltas += int(chains[rev])
			s.LongestChain = max(s.LongestChain, int(chains[rev]))
		}
		for _, p := range [2]Rev{e.P1, e.P2} {
			if p != Null {
				parent[p] = true
			}
		}
		if e.P1 != Null && e.P2 != Null {
			s.Merges++
		}
		for flag, name := range map[Flags]string{FlagCensored: "censored", FlagEllipsis: "ellipsis", FlagExternal: "external"} {
			if e.Flags&flag != 0 {
				s.Flagged[name]++
			}
		}
		chunk, err := r.stored(rev, e)
		if err != nil {
			return l.fault(rev, err)
		}
		s.Chunks[compressionName(chunk)]++
		return nil
	})
	for _, has := range parent {
		if !has {
			s.Heads++
		}
	}
	if l.n > 0 {
		s.MeanChain = float64(deltas) / float64(l.n)
		if _, err := l.Rev(l.nodeAt(0)); err == nil {
			s.Nodemap = l.nodes.trie != nil
		}
	}
	return s, err
}

func compressionName(chunk []byte) string {
	if len(chunk) == 0 {
		return "empty"
	}
	switch chunk[0] {
	case chunkRaw, chunkText:
		return "raw"
	case chunkZlib:
		return "zlib"
	case chunkZstd:
		return "zstd"
	default:
		return "other"
	}
}

// Print writes the summary for people.
func (s Summary) Print(w io.Writer) error {
	b := bufio.NewWriter(w)
	layout := "split"
	if s.Inline {
		layout = "inline"
	}
	if s.GeneralDelta {
		layout += ", general delta"
	}
	fmt.Fprintf(b, "%s: revlog version %d, %s\n", s.Path, s.Version, layout)
	fmt.Fprintf(b, "revisions     %d, %d of them merges; %d heads\n", s.Revisions, s.Merges, s.Heads)
	fmt.Fprintf(b, "texts         %d bytes, the longest %d\n", s.Text, s.LongestText)
	fmt.Fprintf(b, "chunks        %d bytes: %d whole texts (%d bytes), %d deltas\n", s.Stored, s.Whole, s.WholeStored, s.Revisions-s.Whole)
	fmt.Fprintf(b, "chains        %.1f deltas, the longest %d\n", s.MeanChain, s.LongestChain)
	fmt.Fprint(b, "compression  ")
	for _, kind := range []string{"zstd", "zlib", "raw", "empty", "other"} {
		if n := s.Chunks[kind]; n > 0 {
			fmt.Fprintf(b, " %s %d", kind, n)
		}
	}
	fmt.Fprintln(b)
	for _, kind := range []string{"censored", "ellipsis", "external"} {
		if n := s.Flagged[kind]; n > 0 {
			fmt.Fprintf(b, "%-13s %d\n", kind, n)
		}
	}
	if s.Nodemap {
		fmt.Fprintln(b, "nodes         found by a persistent nodemap")
	}
	if s.Torn > 0 {
		fmt.Fprintf(b, "torn          %d bytes after the last entry\n", s.Torn)
	}
	return b.Flush()
}

// WriteIndex writes a line for each revision: number, node, parents, link, base of its delta (the same number for a whole
// text), offset, length stored and length of the text in bytes, flags in hexadecimal. Errors are those of Entries and of w.
func (l *Log) WriteIndex(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, "   rev                                     node      p1      p2    link   delta     offset   stored     text flags")
	err := l.Entries(func(rev Rev, e *Entry) error {
		base := l.base(rev, e)
		if base == Null {
			base = rev
		}
		_, err := fmt.Fprintf(b, "%6d %s %7d %7d %7d %7d %10d %8d %8d %04x\n",
			rev, e.Node, e.P1, e.P2, e.Link, base, e.Offset, e.Stored, e.Size, uint16(e.Flags))
		return err
	})
	if ferr := b.Flush(); err == nil {
		err = ferr
	}
	return err
}
