//go:build unix && !linux

package vfs

import "errors"

func exchange(int, string, string) error { return errors.ErrUnsupported }
