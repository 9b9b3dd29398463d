package cli

import (
	"fmt"
	"io"
)

const (
	// outputBuffer is how much output is gathered before it is written: large enough that system calls cost nothing.
	outputBuffer = 64 << 10
	// firstScreen is what is written at once, so that the reader sees the beginning of a long output immediately.
	firstScreen = 4 << 10
)

// output is the command's result on its way out. After the first error nothing more is written.
type output struct {
	w       io.Writer
	closer  io.Closer // the pager
	buf     []byte
	written bool
	err     error
}

func newOutput(w io.Writer) *output { return &output{w: w} }

// redirect sends all that follows elsewhere.
func (o *output) redirect(w io.WriteCloser) { o.w, o.closer = w, w }

// Write gathers b.
func (o *output) Write(b []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	if len(b) >= outputBuffer {
		if err := o.Flush(); err != nil {
			return 0, err
		}
		return len(b), o.write(b)
	}
	o.buf = append(o.buf, b...)
	return len(b), o.spill()
}

// WriteString is Write of a string.
func (o *output) WriteString(s string) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	o.buf = append(o.buf, s...)
	return len(s), o.spill()
}

func (o *output) printf(format string, args ...any) error {
	o.buf = fmt.Appendf(o.buf, format, args...)
	return o.spill()
}

func (o *output) spill() error {
	if len(o.buf) >= outputBuffer || !o.written && len(o.buf) >= firstScreen {
		return o.Flush()
	}
	return o.err
}

// Flush writes what was gathered.
func (o *output) Flush() error {
	if len(o.buf) > 0 && o.err == nil {
		o.write(o.buf)
	}
	o.buf = o.buf[:0]
	return o.err
}

func (o *output) write(b []byte) error {
	o.written = true
	_, o.err = o.w.Write(b)
	return o.err
}

// Close flushes, and waits for the pager if there is one.
func (o *output) Close() error {
	err := o.Flush()
	if o.closer != nil {
		if closed := o.closer.Close(); err == nil {
			err = closed
		}
		o.closer = nil
	}
	return err
}
