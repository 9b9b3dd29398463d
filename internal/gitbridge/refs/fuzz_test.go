package refs

import (
	"testing"

	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
)

// FuzzLoose: the file of a ref is an id or leads to another ref, or is refused.
func FuzzLoose(f *testing.F) {
	f.Add("0123456789012345678901234567890123456789\n")
	f.Add("ref: refs/heads/main\n")
	f.Add("ref: ../../etc/passwd")
	f.Fuzz(func(t *testing.T, s string) {
		for _, format := range []object.Format{object.SHA1, object.SHA256} {
			_, _ = parseLoose(format, s)
		}
		_ = CheckName(s)
	})
}
