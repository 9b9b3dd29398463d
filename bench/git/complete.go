package main

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// placeholder stands for a blob that the repository lacks.
const placeholder = "not in this copy\n"

// complete makes a copy of a repository that lacks blobs, in which something stands in their place.
func (b *bench) complete() error {
	out, err := b.git.Output(b.from, "rev-list", "--objects", "--missing=print", "--branches", "--tags")
	if err != nil {
		return err
	}
	missing := map[string]bool{}
	for line := range strings.Lines(out) {
		if id, ok := strings.CutPrefix(strings.TrimSpace(line), "?"); ok {
			missing[id] = true
		}
	}
	if len(missing) == 0 {
		return nil
	}
	fmt.Printf("The repository lacks %d blobs: %q stands in their place.\n", len(missing), strings.TrimSpace(placeholder))
	to := filepath.Join(*dir, "from.git")
	if _, err := b.git.Run(*dir, "init", "-q", "--bare", to); err != nil {
		return err
	}
	objects, err := b.git.Output(b.from, "rev-parse", "--path-format=absolute", "--git-path", "objects")
	if err != nil {
		return err
	}
	alternates := filepath.Join(to, "objects", "info", "alternates")
	if err := os.WriteFile(alternates, []byte(objects), 0o666); err != nil {
		return err
	}
	r := rewriter{objects: filepath.Join(to, "objects"), now: map[string]string{}}
	if err := r.start(b); err != nil {
		return err
	}
	stand, err := r.put("blob", []byte(placeholder))
	if err != nil {
		return err
	}
	for id := range missing {
		r.now[id] = stand
	}
	refs, err := r.all(b)
	if err != nil {
		return err
	}
	if err := r.stop(); err != nil {
		return err
	}
	if _, err := b.git.Feed(to, strings.NewReader(refs), "update-ref", "--stdin"); err != nil {
		return err
	}
	head, err := b.git.Output(b.from, "symbolic-ref", "HEAD")
	if err != nil {
		return err
	}
	if _, err := b.git.Run(to, "symbolic-ref", "HEAD", strings.TrimSpace(head)); err != nil {
		return err
	}
	if _, err := b.git.Run(to, "repack", "-adq"); err != nil {
		return err
	}
	b.from = to
	return os.Remove(alternates)
}

// rewriter makes the objects again that lead to what is missing.
type rewriter struct {
	objects string // a directory of loose ones
	reader  *exec.Cmd
	ask     io.WriteCloser
	said    *bufio.Reader
	now     map[string]string // by what an object was called; of trees and tags those that were looked at, of commits all
}

func (r *rewriter) start(b *bench) (err error) {
	r.reader = exec.Command(b.git.Path, "cat-file", "--batch")
	r.reader.Dir, r.reader.Env = b.from, b.git.Env
	if r.ask, err = r.reader.StdinPipe(); err != nil {
		return err
	}
	out, err := r.reader.StdoutPipe()
	if err != nil {
		return err
	}
	r.said = bufio.NewReader(out)
	return r.reader.Start()
}

func (r *rewriter) stop() error {
	if err := r.ask.Close(); err != nil {
		return err
	}
	return r.reader.Wait()
}

// get reads an object.
func (r *rewriter) get(id string) (kind string, data []byte, err error) {
	if _, err := fmt.Fprintln(r.ask, id); err != nil {
		return "", nil, err
	}
	head, err := r.said.ReadString('\n')
	if err != nil {
		return "", nil, err
	}
	var name string
	var size int
	if _, err := fmt.Sscanf(head, "%s %s %d", &name, &kind, &size); err != nil {
		return "", nil, fmt.Errorf("read object %s: %q", id, head)
	}
	data = make([]byte, size+1)
	_, err = io.ReadFull(r.said, data)
	return kind, data[:size], err
}

// put writes an object.
func (r *rewriter) put(kind string, data []byte) (string, error) {
	whole := append(fmt.Appendf(nil, "%s %d\x00", kind, len(data)), data...)
	sum := sha1.Sum(whole)
	id := hex.EncodeToString(sum[:])
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	if _, err := w.Write(whole); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	at := filepath.Join(r.objects, id[:2], id[2:])
	if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
		return "", err
	}
	return id, os.WriteFile(at, z.Bytes(), 0o666)
}

// all makes all commits again, and tells what refs are to be.
func (r *rewriter) all(b *bench) (refs string, err error) {
	commits, err := b.git.Output(b.from, "rev-list", "--topo-order", "--reverse", "--branches", "--tags")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(commits) {
		id := strings.TrimSpace(line)
		if r.now[id], err = r.again(id); err != nil {
			return "", err
		}
	}
	list, err := b.git.Output(b.from, "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/tags")
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for line := range strings.Lines(list) {
		name, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		if id, err = r.named(id); err != nil {
			return "", err
		}
		fmt.Fprintf(&out, "create %s %s\n", name, id)
	}
	return out.String(), nil
}

// named is what an object is called now.
func (r *rewriter) named(id string) (string, error) {
	if now, ok := r.now[id]; ok {
		return now, nil
	}
	now, err := r.again(id)
	r.now[id] = now
	return now, err
}

// again makes one object again, if what it names is called otherwise now.
func (r *rewriter) again(id string) (string, error) {
	kind, data, err := r.get(id)
	if err != nil {
		return "", err
	}
	var made []byte
	switch kind {
	case "tree":
		made, err = r.tree(data)
	case "commit", "tag":
		made, err = r.head(data)
	default:
		return id, nil
	}
	if err != nil || bytes.Equal(made, data) {
		return id, err
	}
	return r.put(kind, made)
}

// tree gives a tree with other names of what it holds.
func (r *rewriter) tree(data []byte) ([]byte, error) {
	out := bytes.Clone(data)
	for at := 0; at < len(out); {
		nul := bytes.IndexByte(out[at:], 0)
		if nul < 0 || at+nul+1+sha1.Size > len(out) {
			return nil, fmt.Errorf("a tree ends in the middle")
		}
		name := out[at+nul+1 : at+nul+1+sha1.Size]
		id := hex.EncodeToString(name)
		now, known := r.now[id]
		if !known && bytes.HasPrefix(out[at:], []byte("40000 ")) {
			var err error
			if now, err = r.named(id); err != nil {
				return nil, err
			}
			known = true
		}
		if known {
			if _, err := hex.Decode(name, []byte(now)); err != nil {
				return nil, err
			}
		}
		at += nul + 1 + sha1.Size
	}
	return out, nil
}

// head gives a commit or a tag with other names in its first lines.
func (r *rewriter) head(data []byte) ([]byte, error) {
	head, rest, _ := bytes.Cut(data, []byte("\n\n"))
	var out []byte
	for line := range bytes.Lines(head) {
		key, id, ok := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
		if !ok || key != "tree" && key != "parent" && key != "object" {
			out = append(out, line...)
			continue
		}
		now, err := r.named(id)
		if err != nil {
			return nil, err
		}
		out = append(out, key+" "+now+"\n"...)
	}
	if !bytes.HasSuffix(out, []byte("\n")) {
		out = append(out, '\n')
	}
	return append(append(out, '\n'), rest...), nil
}
