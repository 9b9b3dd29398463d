//go:build !linux

package measure

import "os"

func syncData(f *os.File) error { return f.Sync() }
