package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// script runs one-line commands against a file system, with names relative to root, and answers each with what came of
// it. The same commands run on OS and on Mem. "@dir" in front of a command runs it through an open directory:
//
//	mkdir a/b            @a mkdir b        @a rmdir b
//	write a text         @a write b text   (creates, empties)
//	excl a text          append a text     at a 3 text        cut a 2
//	cat a                link target name  @a readlink b
//	mv a b               @a mv b ../c/d    (through a second open directory)
//	rm a                 rmall a           ls a               stat a
//	chmod a 755          map a 3           lock a
type script struct {
	t    *testing.T
	fsys FS
	root string
}

func (s *script) run(line string) string {
	dir := ""
	if strings.HasPrefix(line, "@") {
		dir, line, _ = strings.Cut(line[1:], " ")
	}
	args := strings.Split(line, " ")
	if len(args) == 1 {
		args = append(args, "")
	}
	var out string
	var err error
	if dir == "" {
		out, err = s.path(args[0], args[1:])
	} else {
		d, openErr := s.fsys.OpenDir(filepath.Join(s.root, dir))
		if openErr != nil {
			return outcome(openErr)
		}
		defer s.close(d)
		out, err = s.dir(d, dir, args[0], args[1:])
	}
	if err != nil {
		var pe *fs.PathError
		var le *os.LinkError
		if !errors.As(err, &pe) && !errors.As(err, &le) {
			s.t.Errorf("%s: %T is neither a PathError nor a LinkError: %v", line, err, err)
		}
		return outcome(err)
	}
	return out
}

func (s *script) close(c io.Closer) {
	if err := c.Close(); err != nil {
		s.t.Error(err)
	}
}

// outcome names an error as the tests do.
func outcome(err error) string {
	for _, known := range []struct {
		err  error
		name string
	}{
		{ErrName, "bad name"}, {ErrLocked, "locked"}, {ErrTooLarge, "too large"}, {ErrForeign, "foreign"},
		{syscall.ENOTEMPTY, "not empty"}, {fs.ErrNotExist, "missing"}, {fs.ErrExist, "exists"},
		{syscall.ENOTDIR, "no directory"}, {syscall.EISDIR, "a directory"}, {syscall.ELOOP, "a link"},
		{syscall.EINVAL, "invalid"}, {syscall.EBUSY, "busy"}, {syscall.EOPNOTSUPP, "unsupported"},
		{syscall.EBADF, "bad file"}, {syscall.ENAMETOOLONG, "too long"}, {io.ErrUnexpectedEOF, "too short"},
	} {
		if errors.Is(err, known.err) {
			return known.name
		}
	}
	return err.Error()
}

func (s *script) share(from, to, size string, link bool) (string, error) {
	f, err := s.fsys.OpenFile(from, os.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	defer s.close(f)
	n, err := strconv.Atoi(size)
	if err != nil {
		s.t.Fatal(err)
	}
	way, err := Share(s.fsys, f, to, int64(n), link, func(int64) error { return nil })
	if way == Reflinked { // whether it can depends on the disk under the test
		way = Copied
	}
	return way.String(), err
}

func (s *script) path(cmd string, args []string) (string, error) {
	name := filepath.Join(s.root, args[0])
	switch cmd {
	case "mkdir":
		return "", s.fsys.MkdirAll(name, 0o755)
	case "mv":
		return "", s.fsys.Rename(name, filepath.Join(s.root, args[1]))
	case "ln":
		return "", s.fsys.(Sharer).Link(name, filepath.Join(s.root, args[1]))
	case "share": // share a b 3: its first bytes; "share a b 3 link": by a second name where that goes
		return s.share(name, filepath.Join(s.root, args[1]), args[2], len(args) > 3)
	case "rm":
		return "", s.fsys.Remove(name)
	case "rmall":
		return "", s.fsys.RemoveAll(name)
	case "ls":
		names, err := s.fsys.ReadDir(name)
		return strings.Join(names, " "), err
	case "stat":
		var st Stat
		err := s.fsys.Lstat(name, &st)
		return show(&st), err
	case "syncdir":
		return "", s.fsys.SyncDir(name)
	case "limit":
		b, err := s.fsys.ReadFile(name, int64(len(args[1])))
		return string(b), err
	case "lock":
		l, err := s.fsys.Lock(name, nil)
		if err != nil {
			return "", err
		}
		defer s.close(l)
		_, err = s.fsys.Lock(name, func(tries int) bool { return tries < 3 })
		return outcome(err), nil
	}
	open := func(flag int, perm fs.FileMode) (File, error) { return s.fsys.OpenFile(name, flag, perm) }
	return s.file(open, cmd, args[1:])
}

func (s *script) dir(d Dir, path, cmd string, args []string) (string, error) {
	name := args[0]
	switch cmd {
	case "mkdir":
		return "", d.Mkdir(name, 0o755)
	case "link":
		return "", d.Symlink(name, args[1])
	case "readlink":
		return d.Readlink(name)
	case "swap":
		err := d.Exchange(name, args[1])
		if _, plain := s.fsys.(osFS); plain && errors.Is(err, errors.ErrUnsupported) {
			s.t.Skip("this file system cannot exchange names")
		}
		return "", err
	case "rm":
		return "", d.Remove(name)
	case "rmdir":
		return "", d.Rmdir(name)
	case "stat":
		var st Stat
		err := d.Lstat(name, &st)
		return show(&st), err
	case "chmod":
		return "", d.Chmod(name, parseMode(args[1]))
	case "in":
		sub, err := d.OpenDir(name)
		if err == nil {
			s.close(sub)
		}
		return "", err
	case "ls":
		return s.kinds(d)
	case "mv":
		to, err := s.fsys.OpenDir(filepath.Join(s.root, path, filepath.Dir(args[1])))
		if err != nil {
			return "", err
		}
		defer s.close(to)
		return "", d.Rename(name, to, filepath.Base(args[1]))
	}
	open := func(flag int, perm fs.FileMode) (File, error) { return d.OpenFile(name, flag, perm) }
	return s.file(open, cmd, args[1:])
}

// kinds lists a directory twice, which must give the same.
func (s *script) kinds(d Dir) (string, error) {
	var out [2]string
	for i := range out {
		entries, err := d.ReadDir(nil)
		if err != nil {
			return "", err
		}
		kinds := map[string]Kind{}
		for _, e := range entries {
			kinds[e.Name] = e.Kind
		}
		out[i] = fmt.Sprint(kinds)
	}
	if out[0] != out[1] {
		s.t.Errorf("read twice: %s, then %s", out[0], out[1])
	}
	return out[0], nil
}

func (s *script) file(open func(int, fs.FileMode) (File, error), cmd string, args []string) (string, error) {
	flag := os.O_RDWR
	switch cmd {
	case "write":
		flag = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	case "excl":
		flag = os.O_WRONLY | os.O_CREATE | os.O_EXCL
	case "append":
		flag = os.O_WRONLY | os.O_APPEND
	case "cat", "map", "readonly":
		flag = os.O_RDONLY
	}
	f, err := open(flag, 0o644)
	if err != nil {
		return "", err
	}
	defer s.close(f)
	switch cmd {
	case "write", "excl", "append", "readonly":
		_, err = f.Write([]byte(args[0]))
	case "at":
		_, err = f.WriteAt([]byte(args[1]), int64(args[0][0]-'0'))
	case "cut":
		err = f.Truncate(int64(args[0][0] - '0'))
	case "fchmod":
		err = f.Chmod(parseMode(args[0]))
	case "sync":
		err = f.Sync()
	case "cat":
		b, err := io.ReadAll(f)
		return string(b), err
	case "readat":
		b := make([]byte, 3)
		n, err := f.ReadAt(b, int64(args[0][0]-'0'))
		if err == io.EOF {
			return string(b[:n]) + " end", nil
		}
		return string(b[:n]), err
	case "map":
		m, err := f.Map(int64(args[0][0] - '0'))
		if err != nil {
			return "", err
		}
		defer s.close(m)
		return string(m.Bytes()), nil
	default:
		s.t.Fatalf("unknown command %s", cmd)
	}
	return "", err
}

func show(st *Stat) string {
	size := st.Size
	if st.Kind == KindDir {
		size = 0
	}
	return fmt.Sprintf("%v %d exec=%v", st.Mode, size, st.Exec)
}

func parseMode(s string) (mode fs.FileMode) {
	fmt.Sscanf(s, "%o", &mode)
	return mode
}
