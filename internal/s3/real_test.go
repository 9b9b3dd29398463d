package s3

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/oxy-vcs/oxy/internal/s3/s3test"
)

// TestRealServer is TestObjects with a server that others run in earnest, and that checks signatures.
func TestRealServer(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "team"), 0o755); err != nil {
		t.Fatal(err)
	}
	url := s3test.Real(t, dir)
	key := func(c *Config) { c.Credentials, c.Region = NewCredentials(s3test.ID, s3test.Secret, ""), s3test.Region }
	objects(t, testClient(t, url, key))
	wrong := testClient(t, url, func(c *Config) {
		key(c)
		c.Credentials = NewCredentials(s3test.ID, "wrong", "")
	})
	if _, _, err := wrong.Whole(background, "a", 10); !errors.Is(err, ErrDenied) {
		t.Error(err)
	}
	nowhere := testClient(t, url, func(c *Config) {
		key(c)
		c.Bucket = "nowhere"
	})
	if _, _, err := nowhere.Whole(background, "a", 10); !errors.Is(err, ErrNoBucket) {
		t.Error(err)
	}
}
