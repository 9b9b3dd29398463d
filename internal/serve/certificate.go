package serve

import (
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

// maxPEM bounds a certificate's file: a chain is a few KiB.
const maxPEM = 1 << 20

// watched reads files whenever they have changed since. A change that cannot be used leaves what there was in force: a
// certificate half copied must not end the service.
type watched struct {
	fs    vfs.FS
	names []string
	limit int64
	load  func(contents [][]byte) error

	mu    sync.Mutex
	stats []vfs.Stat
	said  string // of the last error: it is not said again with each request
}

// fresh reads the files if they differ from those read before. The error is that of a change which cannot be used, once.
func (w *watched) fresh(force bool) (changed bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if changed, err = w.look(force); err == nil {
		if changed {
			w.said = ""
		}
		return changed, nil
	}
	if err.Error() == w.said && !force {
		return false, nil
	}
	w.said = err.Error()
	return false, err
}

func (w *watched) look(force bool) (changed bool, err error) {
	stats := make([]vfs.Stat, len(w.names))
	for i, name := range w.names {
		// Opened, not looked at: the name may be a link that stays while what it leads to changes.
		f, err := w.fs.OpenFile(name, os.O_RDONLY, 0)
		if err != nil {
			return false, err
		}
		if err := errors.Join(f.Stat(&stats[i]), f.Close()); err != nil {
			return false, err
		}
	}
	if slices.Equal(stats, w.stats) && !force {
		return false, nil
	}
	contents := make([][]byte, len(w.names))
	for i, name := range w.names {
		if contents[i], err = w.fs.ReadFile(name, w.limit); err != nil {
			return false, err
		}
	}
	w.stats = stats
	return true, w.load(contents)
}

// certificate is the one of a server, read anew when its files change.
type certificate struct {
	files *watched

	mu   sync.Mutex
	cert *tls.Certificate
}

func newCertificate(fsys vfs.FS, cert, key string) (*certificate, error) {
	c := &certificate{}
	c.files = &watched{fs: fsys, names: []string{cert, key}, limit: maxPEM, load: func(b [][]byte) error {
		pair, err := tls.X509KeyPair(b[0], b[1])
		if err != nil {
			return fmt.Errorf("the certificate %s with the key %s: %w", cert, key, err)
		}
		c.mu.Lock()
		c.cert = &pair
		c.mu.Unlock()
		return nil
	}}
	_, err := c.files.fresh(true)
	return c, err
}

func (c *certificate) get() *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cert
}
