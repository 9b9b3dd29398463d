package bridge

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

// TestRealHistory imports and proves the repository that OXY_HG_HISTORY names, for profiles: go test -v -cpuprofile.
func TestRealHistory(t *testing.T) {
	at := os.Getenv("OXY_HG_HISTORY")
	if at == "" {
		t.Skip("OXY_HG_HISTORY names none")
	}
	r := begin(t)
	rep, err := Import(context.Background(), r, at, Options{FS: vfs.OS(), Progress: silent{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", rep)
	for range 1 {
		began := time.Now()
		v, err := Verify(context.Background(), r, silent{})
		if err != nil || len(v.Faults) > 0 {
			t.Fatal(v, err)
		}
		t.Logf("%+v in %v", v, time.Since(began))
	}
}
