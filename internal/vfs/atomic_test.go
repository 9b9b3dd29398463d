package vfs

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestWriteFileAtomicUnderFaults lets every call of it fail in turn, and then the power as well.
func TestWriteFileAtomicUnderFaults(t *testing.T) {
	const old, new = "the old contents", "the new contents, longer than the old ones"
	for _, mode := range []FaultMode{0, FaultShort, FaultStays, FaultStays | FaultShort} {
		for _, sync := range []bool{false, true} {
			for n := 1; ; n++ {
				m := NewMem()
				if err := WriteFileAtomic(m, "/f", []byte(old), true); err != nil {
					t.Fatal(err)
				}
				f := Inject(m, n, syscall.ENOSPC, mode)
				err := WriteFileAtomic(f, "/f", []byte(new), sync)
				if f.Fired() != (err != nil) || err != nil && !errors.Is(err, syscall.ENOSPC) {
					t.Fatalf("call %d fired: %v, error: %v", n, f.Fired(), err)
				}
				if m.Handles() != 0 {
					t.Errorf("call %d: %d files left open", n, m.Handles())
				}
				names, _ := m.ReadDir("/")
				if mode&FaultStays == 0 && !slices.Equal(names, []string{"f"}) {
					t.Errorf("call %d left %v", n, names)
				}
				for seed := range 30 {
					after := m.Crash(seeded(seed))
					got, err := after.ReadFile("/f", 1000)
					if s := string(got); err != nil || sync && s != old && s != new {
						t.Fatalf("call %d, then a power cut: %q, %v", n, got, err)
					}
					if !f.Fired() && sync && string(got) != new {
						t.Fatalf("done and synced, yet %q", got)
					}
				}
				if !f.Fired() {
					if sync && n != 7 { // open, write, sync, close, rename, sync of the directory
						t.Errorf("it takes %d calls", n-1)
					}
					break
				}
			}
		}
	}
}

// TestTooFewSyncsAreCaught makes sure that the model shows the mistake that WriteFileAtomic avoids.
func TestTooFewSyncsAreCaught(t *testing.T) {
	m := NewMem()
	if err := WriteFileAtomic(m, "/f", []byte("old"), true); err != nil {
		t.Fatal(err)
	}
	if err := WriteFileAtomic(m, "/f", []byte("new"), false); err != nil {
		t.Fatal(err)
	}
	for seed := range 100 {
		if got, _ := m.Crash(seeded(seed)).ReadFile("/f", 10); len(got) == 0 {
			return
		}
	}
	t.Error("a rename without a sync never showed an empty file")
}

func TestFaultStays(t *testing.T) {
	for _, c := range []struct {
		mode FaultMode
		want string
	}{
		{0, "ok fail ok ok ok"},
		{FaultStays, "ok fail fail ok fail"},
		{FaultReads, "ok fail ok ok ok"},
		{FaultReads | FaultStays, "ok fail fail ok fail"},
	} {
		f := Inject(NewMem(), 2, syscall.EIO, c.mode)
		var st Stat
		var got []string
		for _, err := range []error{
			f.MkdirAll("/a", 0o755), f.MkdirAll("/b", 0o755), f.MkdirAll("/c", 0o755), f.Lstat("/a", &st), f.RemoveAll("/a"),
		} {
			if err == nil {
				got = append(got, "ok")
			} else {
				got = append(got, "fail")
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("mode %d: %s, want %s", c.mode, s, c.want)
		}
	}
}
