package ui

import (
	"bufio"
	"fmt"
	"io"
)

// Piece is something that a person picks or leaves: a hunk.
type Piece struct {
	ID   string
	File string
	Text string // what is shown, whole lines
}

const pickHelp = `y  %[1]s this hunk
n  leave it
a  %[1]s this and the file's other hunks
d  leave this and the file's other hunks
q  leave this and all that follow
?  this list
`

// Pick asks for each piece whether to verb it, and gives the ids of those that were picked. The end of the input is q.
func Pick(in *bufio.Reader, out io.Writer, verb string, pieces []Piece, p Palette) ([]string, error) {
	var picked []string
	for i := 0; i < len(pieces); {
		piece := &pieces[i]
		if _, err := io.WriteString(out, piece.Text); err != nil {
			return nil, err
		}
		question := fmt.Sprintf("%s(%d/%d) %s this hunk [y,n,a,d,q,?]?%s ", p.Bold, i+1, len(pieces), verb, p.Reset)
		answer, err := Ask(in, out, question)
		if err == io.EOF {
			fmt.Fprintln(out)
			return picked, nil
		}
		if err != nil {
			return nil, err
		}
		end := i + 1
		for end < len(pieces) && pieces[end].File == piece.File {
			end++
		}
		switch answer {
		case "y", "Y":
			picked = append(picked, piece.ID)
			i++
		case "n", "N":
			i++
		case "a":
			for ; i < end; i++ {
				picked = append(picked, pieces[i].ID)
			}
		case "d":
			i = end
		case "q":
			return picked, nil
		default:
			if _, err := fmt.Fprintf(out, pickHelp, verb); err != nil {
				return nil, err
			}
		}
	}
	return picked, nil
}
