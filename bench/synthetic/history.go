package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// History is the seed's run as a pure function: what each change does can be asked in any order, so that two stores
// are given the same history without either being kept in memory.
type History struct {
	Files   int // ordinary files; hot.txt comes on top
	Changes int // the first imports all files
}

const (
	hotFile  = "hot.txt"
	hotEvery = 10  // one change in ten appends a line to hot.txt
	lines    = 21  // of an ordinary file
	dirs     = 100 // that the files are spread over
	wordsIn  = 6   // a line
)

// Path is where an ordinary file is.
func (h History) Path(file int) string {
	return fmt.Sprintf("dir%02d/file%05d.txt", file%dirs, file)
}

// IsHot reports whether a change appends to hot.txt. Changes count from 1.
func (h History) IsHot(change int) bool { return change%hotEvery == 0 }

// Target is the ordinary file that a change rewrites.
func (h History) Target(change int) int {
	return rand.New(rand.NewPCG(1, uint64(change))).IntN(h.Files)
}

// Text is an ordinary file as a change writes it; change 1 is the import.
func (h History) Text(file, change int) []byte {
	r := rand.New(rand.NewPCG(uint64(file)+2, uint64(change)))
	var text []byte
	for line := range lines {
		text = fmt.Appendf(text, "%d.%d", file, line)
		text = append(sentence(r, text), '\n')
	}
	return text
}

// HotLine is the line that a change appends to hot.txt.
func (h History) HotLine(change int) []byte {
	text := fmt.Appendf(nil, "change %d:", change)
	return append(sentence(rand.New(rand.NewPCG(0, uint64(change))), text), '\n')
}

// Import writes every file as the first change has it. hot.txt starts empty.
func (h History) Import(root string) error {
	for file := range h.Files {
		path := filepath.Join(root, h.Path(file))
		if file < dirs {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
		}
		if err := os.WriteFile(path, h.Text(file, 1), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(root, hotFile), nil, 0o644)
}

// Edit does to the working copy what a change records.
func (h History) Edit(root string, change int) error {
	if !h.IsHot(change) {
		return h.Rewrite(root, h.Target(change), change)
	}
	f, err := os.OpenFile(filepath.Join(root, hotFile), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	if _, err := f.Write(h.HotLine(change)); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// Rewrite gives one ordinary file the text of a change.
func (h History) Rewrite(root string, file, change int) error {
	return os.WriteFile(filepath.Join(root, h.Path(file)), h.Text(file, change), 0o644)
}

// words make text that compresses about as prose does.
var words = [...]string{
	"about", "branch", "carry", "deliver", "early", "figure", "garden", "harbour", "island", "journey", "kettle",
	"ladder", "market", "number", "orchard", "paper", "quarter", "river", "silver", "travel", "under", "valley",
	"window", "yellow", "across", "between", "common", "distance", "evening", "forward", "gather", "hundred",
}

func sentence(r *rand.Rand, text []byte) []byte {
	for range wordsIn {
		text = append(text, ' ')
		text = append(text, words[r.IntN(len(words))]...)
	}
	return text
}
