package repo

import (
	"fmt"
	"strings"
)

// Ops gives operations, latest first, until fn returns an error, which it returns.
func (r *Repo) Ops(fn func(*OpInfo) error) error {
	first, err := r.firstOp()
	if err != nil {
		return err
	}
	for n := r.store.NumOps(); n > first; n-- {
		o, err := r.opInfo(n - 1)
		if err != nil {
			return err
		}
		if err := fn(o); err != nil {
			return err
		}
	}
	return nil
}

// firstOp is the first operation of this repository: those before it stand in the log that it was cloned with.
func (r *Repo) firstOp() (uint32, error) {
	v, err := r.view()
	if err != nil {
		return 0, err
	}
	ops, _ := foreign(v)
	return ops, nil
}

func (r *Repo) opInfo(n uint32) (*OpInfo, error) {
	op, err := r.store.Op(n)
	if err != nil {
		return nil, storeError(err)
	}
	verb := verbOf(op.Command)
	return &OpInfo{Num: n, Time: op.Time, User: op.User, Command: op.Command, Undo: verb == "undo", Redo: verb == "redo"}, nil
}

// verbOf is the verb of a command, after the flags that may come before it. The view of the operation tells its kind for
// certain; a log of operations does without reading each.
func verbOf(command []string) string {
	for i := 0; i < len(command); i++ {
		switch w := command[i]; {
		case w == "-C" || w == "--dir" || w == "--color":
			i++ // its value
		case !strings.HasPrefix(w, "-"):
			return w
		}
	}
	return ""
}

// checkOp refuses the number of an operation that there is not.
func (r *Repo) checkOp(n uint32) error {
	first, err := r.firstOp()
	if err != nil {
		return err
	}
	if n >= r.store.NumOps() || n < first {
		return &Error{Text: fmt.Sprintf("there is no operation %d", n), Next: "See which there are with: oxy op log"}
	}
	return nil
}
