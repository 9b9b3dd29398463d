package cli

import (
	"errors"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/diff"
	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/ui"
)

// unread are contents that nobody may ask for.
type unread struct{}

func (unread) Old(dst []byte, _ int) ([]byte, error) { return dst, errors.New("read") }
func (unread) New(dst []byte, _ int) ([]byte, error) { return dst, errors.New("read") }

// TestHugeFilesAreNotRead in any form of a difference; nor does one make its neighbour's difference another.
func TestHugeFilesAreNotRead(t *testing.T) {
	huge := func(n int64) *repo.Side {
		return &repo.Side{Path: "huge", Size: change.MaxText + n, Kind: change.Binary}
	}
	p := &patcher{sides: unread{}, opt: newPatchOptions(3, &ui.Palette{}), files: []repo.FileChange{
		{What: repo.Added, New: huge(1)},
		{What: repo.Modified, Old: huge(1), New: huge(2)},
		{What: repo.ModeChanged, Old: &repo.Side{Path: "run", Size: 3}, New: &repo.Side{Path: "run", Size: 3, Exec: true}},
	}}
	want := []struct {
		patch string
		stat  diff.FileStat
	}{
		{"Binary files /dev/null and b/huge differ\n", diff.FileStat{Path: "huge", Binary: true, NewSize: change.MaxText + 1}},
		{"Binary files a/huge and b/huge differ\n", diff.FileStat{Path: "huge", Binary: true, OldSize: change.MaxText + 1, NewSize: change.MaxText + 2}},
		{"new mode 100755\n", diff.FileStat{Path: "run"}},
	}
	for i, w := range want {
		patch, err := p.appendPatch(nil, i)
		if err != nil || !strings.HasSuffix(string(patch), w.patch) {
			t.Errorf("%d: the patch is %q, %v", i, patch, err)
		}
		if s, err := p.stat(i); err != nil || s != w.stat {
			t.Errorf("%d: the counts are %+v, %v", i, s, err)
		}
		if j, err := p.json(i, true); err != nil || j.Binary != w.stat.Binary || len(j.Hunks) > 0 {
			t.Errorf("%d: the JSON is %+v, %v", i, j, err)
		}
	}
}
