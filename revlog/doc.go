// Package revlog reads and writes revlogs, the files in which Mercurial keeps changesets, manifests and file contents:
// an index of fixed-size entries and, beside it or between its entries, chunks of compressed texts and deltas. It stands
// on its own and knows nothing of the rest of this module; docs/spec/revlog.md describes the format from first
// principles, after Mercurial's own "hg help internals.revlogs".
//
// Opening reads the header and parses nothing: the index is read in pages as entries are asked for, or mapped. A Log may be
// used by several goroutines at once; each takes a Reader of its own, which holds the buffers, so that reading a
// revision allocates nothing once they have grown.
//
//	log, err := revlog.Open(".hg/store/00changelog.i", nil)
//	if err != nil { ... }
//	defer log.Close()
//	r := log.Reader()
//	defer r.Close()
//	text, err := r.Text(revlog.Rev(log.Len() - 1)) // checked against its hash, valid until the next call
//
// Every error about a file's contents is an *Error: it names the file, the revision and the cause, and leaves everything
// else readable.
package revlog
