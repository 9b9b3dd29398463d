package ui

import (
	"strings"
	"testing"
	"time"
)

// A bar shows only once work has lasted, says how far it is, and leaves nothing behind.
func TestProgress(t *testing.T) {
	var out strings.Builder
	now := time.Unix(1000, 0)
	p := NewProgress(&out)
	p.now = func() time.Time { return now }

	p.Add(1) // before anything began
	p.Begin("Recording", 200, false)
	p.Add(1)
	p.Begin("Reading", 0, false)
	p.Add(1)
	p.End()
	p.End()
	if out.Len() > 0 {
		t.Errorf("short work showed %q", out.String())
	}

	p.Begin("Recording", 200, false)
	now = now.Add(10 * time.Second)
	p.Add(50)
	want := "\r\x1b[KRecording [=======                       ]  25 %  50 of 200  5/s  30s left"
	if out.String() != want {
		t.Errorf("shows %q\nwant  %q", out.String(), want)
	}
	p.Add(50) // too soon to draw again
	if out.String() != want {
		t.Errorf("drew again at once: %q", out.String())
	}
	p.End()
	if !strings.HasSuffix(out.String(), "\r\x1b[K") {
		t.Errorf("left something behind: %q", out.String())
	}

	out.Reset()
	p.Begin("Writing files", 3<<20, true)
	now = now.Add(time.Second)
	p.Add(3 << 20)
	if want := "\r\x1b[KWriting files [==============================] 100 %  3.0 MiB of 3.0 MiB  3.0 MiB/s"; out.String() != want {
		t.Errorf("shows %q\nwant  %q", out.String(), want)
	}

	// Where nobody knows how many bytes there are: how fast they come, and how far it is by something else.
	p.Begin("Receiving", 0, true)
	out.Reset()
	now = now.Add(10 * time.Second)
	p.Add(5 << 20)
	p.Share(30, 100)
	now = now.Add(10 * time.Second)
	p.Add(5 << 20)
	want = "\r\x1b[KReceiving  5.0 MiB  0.5 MiB/s" + "\r\x1b[KReceiving [=========                     ]  30 %  10.0 MiB  0.5 MiB/s  47s left"
	if out.String() != want {
		t.Errorf("shows %q\nwant  %q", out.String(), want)
	}
}
