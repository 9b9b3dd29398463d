package revlog

// Verify reads every revision and checks it against its node and its stated length, the index against the data file, and
// that no node is there twice. It returns all that it finds, each an *Error; a revision in error does not keep it from the
// others. Censored and external texts count as sound. progress, if not nil, is called after each revision.
func (l *Log) Verify(progress func(rev Rev)) []error {
	var found []error
	report := func(rev Rev, err error) { found = append(found, l.fault(rev, err)) }
	if l.torn > 0 {
		report(Null, corrupt("its index has %d bytes after the last entry", l.torn))
	}
	r := l.Reader()
	defer r.Close()
	var end int64
	for rev := range Rev(l.n) {
		text, e, err := r.read(rev)
		switch {
		case err != nil:
			report(rev, err)
		case e.Size >= 0 && int(e.Size) != len(text):
			report(rev, corrupt("its text has %d bytes, its entry says %d", len(text), e.Size))
		default:
			if first, err := l.Rev(e.Node); err != nil || first != rev {
				report(rev, corrupt("its node %s is that of revision %d too", e.Node, first))
			}
		}
		if e.Stored >= 0 {
			if e.Offset != end && l.docket == nil {
				report(rev, corrupt("its chunk begins at %d where the one before it ends at %d", e.Offset, end))
			}
			end = e.Offset + int64(e.Stored)
		}
		if progress != nil {
			progress(rev)
		}
	}
	if err := l.checkEnd(r, end); err != nil {
		found = append(found, err)
	}
	return found
}

// checkEnd compares the data file's length with where the last chunk ends.
func (l *Log) checkEnd(r *Reader, end int64) error {
	if l.inline || l.docket != nil {
		return nil
	}
	if err := r.openData(); err != nil {
		return err
	}
	size := int64(0)
	if l.data.file != nil {
		var err error
		if size, err = l.data.file.Size(); err != nil {
			return &Error{l.data.path, Null, err}
		}
	}
	if size != end {
		return &Error{l.data.path, Null, corrupt("it has %d bytes, the index speaks of %d", size, end)}
	}
	return nil
}
