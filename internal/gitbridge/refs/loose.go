package refs

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// dir adds the loose refs below a directory, which need not be there.
func (r *reader) dir(root, rel, name string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("%w: %q is too deep", ErrTooMany, name)
	}
	d, err := r.fs.OpenDir(filepath.Join(root, filepath.FromSlash(rel)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	entries, err := d.ReadDir(nil)
	err = errors.Join(err, d.Close())
	if err != nil {
		return err
	}
	for _, e := range entries {
		relName, full := rel+"/"+e.Name, name+"/"+e.Name
		kind := e.Kind
		if kind == vfs.KindUnknown {
			var st vfs.Stat
			if err := r.fs.Lstat(filepath.Join(root, filepath.FromSlash(relName)), &st); err != nil {
				return err
			}
			kind = st.Kind
		}
		switch {
		case kind == vfs.KindDir:
			err = r.dir(root, relName, full, depth+1)
		case strings.HasSuffix(e.Name, ".lock"):
			// A ref being written just now, or by a process that died.
		case CheckName(full) != nil:
			r.problem(full, CheckName(full))
		default:
			err = r.file(root, relName, full)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// file adds the ref that a file holds, or says what is wrong with it.
func (r *reader) file(root, rel, name string) error {
	path := filepath.Join(root, filepath.FromSlash(rel))
	var st vfs.Stat
	if err := r.fs.Lstat(path, &st); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // deleted since it was listed
		}
		return err
	}
	if st.Kind != vfs.KindFile {
		r.problem(name, ErrFileType)
		return nil
	}
	b, err := r.fs.ReadFile(path, maxLoose)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, vfs.ErrTooLarge):
		r.problem(name, fmt.Errorf("%w: it is larger than %d bytes", ErrContent, maxLoose))
		return nil
	case err != nil:
		return err
	}
	v, err := parseLoose(r.place.Format, string(b))
	if err != nil {
		r.problem(name, err)
		delete(r.raw, name) // a packed one of this name is out of date
		return nil
	}
	return r.add(name, v)
}

// parseLoose reads a loose ref's content. A missing line feed at the end and further white space are taken, as Git does:
// fsck's refMissingNewline, and trailingRefContent where it is only space.
func parseLoose(f object.Format, s string) (value, error) {
	s = strings.TrimRight(s, " \t\r\n")
	if target, found := strings.CutPrefix(s, "ref:"); found {
		target = strings.TrimLeft(target, " \t")
		if CheckName(target) != nil || !strings.HasPrefix(target, "refs/") && !isRootRef(target) {
			return value{}, fmt.Errorf("%w: %.80q", ErrTarget, target)
		}
		return value{target: target}, nil
	}
	id, err := object.ParseID(f, s)
	if err != nil || id.IsZero() {
		return value{}, fmt.Errorf("%w: %.80q", ErrContent, s)
	}
	return value{id: id}, nil
}

// isRootRef tells of HEAD and its like, which stand beside refs/.
func isRootRef(name string) bool {
	for i := range len(name) {
		if c := name[i]; (c < 'A' || c > 'Z') && c != '_' && c != '-' {
			return false
		}
	}
	return name == "HEAD" || strings.HasSuffix(name, "_HEAD")
}

// CheckName tells whether git check-ref-format takes a full name. The error wraps ErrName.
func CheckName(name string) error {
	bad := func(why string) error {
		return fmt.Errorf("%w: %.200q %s", ErrName, name, why)
	}
	switch {
	case name == "" || len(name) > maxName:
		return bad("is empty or too long")
	case name == "@":
		return bad("stands for HEAD")
	case strings.Contains(name, "..") || strings.Contains(name, "@{"):
		return bad("has a range or a reflog's mark")
	case strings.HasSuffix(name, "."):
		return bad("ends in a dot")
	case strings.IndexByte(name, '/') < 0 && !isRootRef(name):
		return bad("is no ref beside HEAD")
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return bad("has a part that is empty, begins with a dot or ends in .lock")
		}
		for i := range len(part) {
			if c := part[i]; c <= ' ' || c == 0x7f || strings.IndexByte(`~^:?*[\`, c) >= 0 {
				return bad("has a character that no ref has")
			}
		}
	}
	return nil
}
