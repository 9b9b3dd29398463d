//go:build !unix

package worktree

import "errors"

func makePipe(string) error { return errors.ErrUnsupported }
