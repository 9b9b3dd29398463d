package diff

// isSpace tells the bytes that count as white space, the same as in Git.
func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f'
}

func isBlank(line []byte) bool {
	for _, c := range line {
		if !isSpace(c) {
			return false
		}
	}
	return true
}

// appendComparable appends what of line counts under o, which ignores some space.
func (o *Options) appendComparable(dst, line []byte) []byte {
	end := len(line)
	for end > 0 && isSpace(line[end-1]) {
		end--
	}
	line = line[:end]
	for i, c := range line {
		switch {
		case !isSpace(c):
			dst = append(dst, c)
		case !o.IgnoreAllSpace && !isSpace(line[i+1]): // a run never ends the line: its end is cut off
			dst = append(dst, ' ')
		}
	}
	return dst
}

// sameLine reports whether two lines are equal under o.
func (o *Options) sameLine(x, y []byte) bool {
	if string(x) == string(y) {
		return true
	}
	if !o.ignoresSpace() {
		return false
	}
	var bufX, bufY [256]byte
	return string(o.appendComparable(bufX[:0], x)) == string(o.appendComparable(bufY[:0], y))
}
