package history

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/gitbridge/gittest"
	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
	"github.com/oxy-vcs/oxy/internal/gitbridge/odb"
	"github.com/oxy-vcs/oxy/internal/gitbridge/refs"
	"github.com/oxy-vcs/oxy/internal/gitbridge/tree"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

const (
	ada      = "Ada <ada@example.com> 1700000000 +0100"
	authored = "author " + ada + "\ncommitter " + ada + "\n"
	empty    = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
)

// verdict is what becomes of a class of malformed objects: nil, taken and built again byte for byte, or the error.
type verdict struct {
	name string
	err  error
}

var exact = verdict{name: "exact"}

func refused(name string, err error) verdict { return verdict{name, err} }

// bad is one object, file or line of a class of git's fsck-msgids.
type bad struct {
	class string
	kind  string // of the object; the name of a file with the content; or a case of takeRef
	text  string
	want  verdict
}

func tree1(entries ...string) string { return strings.Join(entries, "") }

// item is a tree's entry whose object is an empty blob, or the empty tree.
func item(mode, name string) string {
	id := "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
	if strings.HasSuffix(mode, "40000") {
		id = empty
	}
	b, _ := hex.DecodeString(id)
	return mode + " " + name + "\x00" + string(b)
}

// module is a section of .gitmodules.
func module(name, lines string) string { return fmt.Sprintf("[submodule %q]\n\t%s\n", name, lines) }

func commit1(rest string) string { return "tree " + empty + "\n" + rest }

func tag1(rest string) string { return "object " + empty + "\ntype tree\n" + rest }

func person(line string) string {
	return commit1("author " + line + "\ncommitter " + ada + "\n\nm\n")
}

var zeros = strings.Repeat("0", 40)

func bads() []bad {
	mode := refused("object.ErrMode", object.ErrMode)
	reserved := refused("safepath.ErrReserved", safepath.ErrReserved)
	content := refused("refs.ErrContent", refs.ErrContent)
	packed := refused("refs.ErrPacked", refs.ErrPacked)
	target := refused("refs.ErrTarget", refs.ErrTarget)
	tagObject := refused("object.ErrTagObject", object.ErrTagObject)
	tagType := refused("object.ErrTagType", object.ErrTagType)
	tagName := refused("object.ErrTagName", object.ErrTagName)
	return []bad{
		{"badDate", "commit", person("Ada <a@b> now +0000"), exact},
		{"badDateOverflow", "commit", person("Ada <a@b> 99999999999999999999 +0000"), exact},
		{"badEmail", "commit", person("Ada <a<b> 1 +0000"), exact},
		{"badFilemode", "tree", tree1(item("100600", "a")), mode},
		{"badGpgsig", "tag", tag1("tag a\ntagger " + ada + "\ngpgsig x"), exact},
		{"badHeadTarget", "HEAD", "ref: refs/tags/x\n", exact},
		{"badHeaderContinuation", "tag", tag1("tag a\ntagger " + ada + "\ngpgsig x\n y"), exact},
		{"badName", "commit", person("> <a@b> 1 +0000"), exact},
		{"badObjectSha1", "tag", "object 12\ntype tree\ntag a\ntagger " + ada + "\n\nm\n", tagObject},
		{"badPackedRefEntry", "packed", "12 refs/heads/a\n", packed},
		{"badPackedRefHeader", "packed", "# pack-refs: peeled\n", packed},
		{"badParentSha1", "commit", commit1("parent 12\n" + authored + "\nm\n"), refused("object.ErrBadParentID", object.ErrBadParentID)},
		{"badRefContent", "ref", "12\n", content},
		{"badRefFiletype", "fifo", "", refused("refs.ErrFileType", refs.ErrFileType)},
		{"badRefName", "name", "x..y", refused("refs.ErrName", refs.ErrName)},
		{"badRefOid", "ref", zeros + "\n", content},
		{"badReferentName", "ref", "ref: refs/heads/a..b\n", target},
		{"badReftableTableName", "reftable", "", refused("refs.ErrReftable", refs.ErrReftable)},
		{"badTagName", "tag", tag1("tag a..b\ntagger " + ada + "\n\nm\n"), exact},
		{"badTimezone", "commit", person("Ada <a@b> 1 0000"), exact},
		{"badTree", "tree", "100644 a", refused("object.ErrTree", object.ErrTree)},
		{"badTreeSha1", "commit", "tree 12\n" + authored + "\nm\n", refused("object.ErrBadTreeID", object.ErrBadTreeID)},
		{"badType", "tag", "object " + empty + "\ntype leaf\ntag a\ntagger " + ada + "\n\nm\n", tagType},
		{"duplicateEntries", "tree", tree1(item("100644", "a"), item("100644", "a")), refused("object.ErrTreeTwice", object.ErrTreeTwice)},
		{"emptyName", "tree", tree1(item("100644", "")), refused("object.ErrTreeName", object.ErrTreeName)},
		{"emptyPackedRefsFile", "packed", "", exact},
		{"extraHeaderEntry", "tag", tag1("tag a\ntagger " + ada + "\nfoo bar\n\nm\n"), exact},
		{"fullPathname", "tree", tree1(item("100644", "/a")), refused("object.ErrTreeName", object.ErrTreeName)},
		{"gitattributesBlob", "tree", tree1(item("40000", ".gitattributes")), exact},
		{"gitattributesLarge", "tree", tree1(item("100644", ".gitattributes")), exact},
		{"gitattributesLineLength", ".gitattributes", strings.Repeat("x", 5000) + " text\n", exact},
		{"gitattributesMissing", "tree", tree1("100644 .gitattributes\x00" + strings.Repeat("\x01", 20)), refused("odb.ErrMissing", odb.ErrMissing)},
		{"gitattributesSymlink", "tree", tree1(item("120000", ".gitattributes")), exact},
		{"gitignoreSymlink", "tree", tree1(item("120000", ".gitignore")), exact},
		{"gitmodulesBlob", "tree", tree1(item("40000", ".gitmodules")), exact},
		{"gitmodulesLarge", "tree", tree1(item("100644", ".gitmodules")), exact},
		{"gitmodulesMissing", "tree", tree1("100644 .gitmodules\x00" + strings.Repeat("\x01", 20)), refused("odb.ErrMissing", odb.ErrMissing)},
		{"gitmodulesName", ".gitmodules", module("../x", "path = x\n\turl = y"), exact},
		{"gitmodulesParse", ".gitmodules", "[submodule", exact},
		{"gitmodulesPath", ".gitmodules", module("x", "path = -x\n\turl = y"), exact},
		{"gitmodulesSymlink", "tree", tree1(item("120000", ".gitmodules")), exact},
		{"gitmodulesUpdate", ".gitmodules", module("x", "path = x\n\turl = y\n\tupdate = !touch z"), exact},
		{"gitmodulesUrl", ".gitmodules", module("x", "path = x\n\turl = -y"), exact},
		{"hasDot", "tree", tree1(item("100644", ".")), refused("safepath.ErrMalformed", safepath.ErrMalformed)},
		{"hasDotdot", "tree", tree1(item("40000", "..")), refused("safepath.ErrOutside", safepath.ErrOutside)},
		{"hasDotgit", "tree", tree1(item("40000", ".git")), reserved},
		{"largePathname", "tree", tree1(item("100644", strings.Repeat("a", 4097))), refused("safepath.ErrTooLong", safepath.ErrTooLong)},
		{"mailmapSymlink", "tree", tree1(item("120000", ".mailmap")), exact},
		{"missingAuthor", "commit", commit1("committer " + ada + "\n\nm\n"), exact},
		{"missingCommitter", "commit", commit1("author " + ada + "\n\nm\n"), exact},
		{"missingEmail", "commit", person("Ada"), exact},
		{"missingNameBeforeEmail", "commit", person("<a@b> 1 +0000"), exact},
		{"missingObject", "tag", "type tree\ntag a\ntagger " + ada + "\n\nm\n", tagObject},
		{"missingSpaceBeforeDate", "commit", person("Ada <a@b>1 +0000"), exact},
		{"missingSpaceBeforeEmail", "commit", person("Ada<a@b> 1 +0000"), exact},
		{"missingTag", "tag", tag1("tag a"), tagName},
		{"missingTagEntry", "tag", tag1("tagger " + ada + "\n\nm\n"), tagName},
		{"missingTaggerEntry", "tag", tag1("tag a\n\nm\n"), exact},
		{"missingTree", "commit", authored + "\nm\n", refused("object.ErrMissingTree", object.ErrMissingTree)},
		{"missingType", "tag", "object " + empty + "\ntype tree", tagType},
		{"missingTypeEntry", "tag", "object " + empty + "\ntag a\ntagger " + ada + "\n\nm\n", tagType},
		{"multipleAuthors", "commit", commit1("author " + ada + "\n" + authored + "\nm\n"), exact},
		{"nulInCommit", "commit", commit1(authored + "\nm\x00\n"), exact},
		{"nulInHeader", "commit", commit1("author A\x00 <a@b> 1 +0000\ncommitter " + ada + "\n\nm\n"), exact},
		{"nullSha1", "tree", "100644 a\x00" + string(make([]byte, 20)), refused("object.ErrNullID", object.ErrNullID)},
		{"packedRefEntryNotTerminated", "packed", empty + " refs/heads/a", packed},
		{"packedRefUnsorted", "packed", "# pack-refs with: peeled fully-peeled sorted \n" + empty + " refs/heads/b\n" + empty + " refs/heads/a\n", packed},
		{"refMissingNewline", "ref", empty, exact},
		{"symlinkRef", "link", "", refused("refs.ErrFileType", refs.ErrFileType)},
		{"symrefTargetIsNotARef", "ref", "ref: logs/maint\n", target},
		{"trailingRefContent", "ref", empty + " garbage\n", content},
		{"treeNotSorted", "tree", tree1(item("100644", "b"), item("100644", "a")), refused("object.ErrTreeOrder", object.ErrTreeOrder)},
		{"unknownType", "leaf", "x", refused("object.ErrKind", object.ErrKind)},
		{"unterminatedHeader", "commit", commit1("author " + ada), exact},
		{"zeroPaddedDate", "commit", person("Ada <a@b> 01 +0000"), exact},
		{"zeroPaddedFilemode", "tree", tree1(item("0100644", "a"), item("040000", "d")), exact},
	}
}

// What the page says of each class is what becomes of it, and no class is without a fixture.
func TestEveryClassOfFsck(t *testing.T) {
	repo := gittest.New(t)
	repo.Object("blob", "")
	repo.Object("tree", "")
	table := verdictsOfPage(t)
	for _, b := range bads() {
		t.Run(b.class, func(t *testing.T) {
			if table[b.class] != b.want.name {
				t.Errorf("the page says %q, the test %q", table[b.class], b.want.name)
			}
			var err error
			switch b.kind {
			case "commit", "tree", "tag", "leaf", ".gitattributes", ".gitmodules":
				err = takeObject(t, repo, b)
			default:
				err = takeRef(t, b)
			}
			if b.want.err == nil && err != nil || !errors.Is(err, b.want.err) {
				t.Errorf("%v, want %v", err, b.want.err)
			}
		})
		delete(table, b.class)
	}
	if len(table) > 0 {
		t.Errorf("the page has classes without a fixture: %v", table)
	}
}

// takeObject reads an object as an import does and builds it again; the error is what refuses it.
func takeObject(t *testing.T, repo *gittest.Repo, b bad) error {
	tip := write(repo, b)
	if !slices.Contains([]string{"commit", "tag", "leaf"}, b.kind) {
		tip = repo.Object("commit", "tree "+tip+"\n"+authored+"\nm\n")
	}
	db, err := odb.Open(vfs.OS(), repo.Dir, odb.Options{CacheBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	id, _ := object.ParseID(object.SHA1, tip)
	if b.kind == "tag" || b.kind == "leaf" {
		_, raw, err := db.NewReader().Read(id, nil)
		if err != nil {
			return err
		}
		tag, err := object.ParseTag(object.SHA1, raw)
		if err != nil {
			return err
		}
		n, fields := tag.Split()
		again, err := object.JoinTag(object.SHA1, tag.Object, tag.Kind, tag.Name, n, fields)
		if !bytes.Equal(again, raw) {
			t.Errorf("%q becomes %q", raw, again)
		}
		return err
	}
	order, err := Walk(db.NewReader(), object.SHA1, []object.ID{id}, nil, nil)
	if err != nil {
		return err
	}
	p := Read(context.Background(), db, order, 0, ReadOptions{})
	defer p.Close()
	step := p.Next()
	if step.Err != nil {
		return step.Err
	}
	n, fields := step.Commit.Split()
	again, err := object.JoinCommit(object.SHA1, step.Commit.Tree, step.Commit.Parents, n, fields)
	if !bytes.Equal(again, step.Raw) {
		t.Errorf("%q becomes %q", step.Raw, again)
	}
	builder := tree.NewBuilder(object.SHA1, nil)
	made, errMade := builder.Apply(builder.Empty(), edits(step), nil)
	if errMade != nil || made.ID() != step.Commit.Tree {
		t.Errorf("the tree becomes %s: %v", made.ID(), errMade)
	}
	return err
}

// write writes the object, or a tree with the file.
func write(repo *gittest.Repo, b bad) string {
	if strings.HasPrefix(b.kind, ".") {
		id, _ := hex.DecodeString(repo.Object("blob", b.text))
		return repo.Object("tree", "100644 "+b.kind+"\x00"+string(id))
	}
	return repo.Object(b.kind, b.text)
}

func edits(s *Step) (list []tree.Edit) {
	for _, r := range s.Rows {
		list = append(list, tree.Edit{Path: string(r.Path), Side: r.Sides[0]})
	}
	return list
}

// takeRef reads a repository with one odd ref; the error is what refuses that ref, or all.
func takeRef(t *testing.T, b bad) error {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("HEAD", "ref: refs/heads/y\n")
	write("refs/heads/y", empty+"\n")
	write("refs/tags/x", empty+"\n")
	bad := "refs/heads/x"
	switch b.kind {
	case "HEAD":
		write("HEAD", b.text)
		bad = "HEAD"
	case "ref":
		write(bad, b.text)
	case "packed":
		write("packed-refs", b.text)
		bad = ""
	case "name":
		bad = "refs/heads/" + b.text
		write(bad, empty+"\n")
	case "fifo":
		if err := exec.Command("mkfifo", filepath.Join(dir, bad)).Run(); err != nil {
			t.Skip(err)
		}
	case "link":
		if err := os.Symlink("y", filepath.Join(dir, bad)); err != nil {
			t.Skip(err)
		}
	case "reftable":
		write("reftable/tables.list", "x")
	}
	list, err := refs.Read(vfs.OS(), refs.Place{GitDir: dir, CommonDir: dir})
	if err != nil {
		return err
	}
	if len(list.Problems) > 0 {
		if len(list.Problems) > 1 || list.Problems[0].Name != bad || len(list.Refs) != 3 {
			t.Errorf("%+v", list)
		}
		return list.Problems[0].Err
	}
	id, _ := object.ParseID(object.SHA1, empty)
	if ref, found := list.Find(bad); bad != "" && (!found || ref.ID != id) {
		t.Errorf("%+v", list)
	}
	return nil
}

// verdictsOfPage reads the table of docs/spec/git.md: class and what becomes of it.
func verdictsOfPage(t *testing.T) map[string]string {
	page, err := os.ReadFile("../../../docs/spec/git.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(strings.ReplaceAll(string(page), "\r\n", "\n"), "\n## Malformed objects and refs\n")
	section, _, _ = strings.Cut(section, "\n## ")
	table := map[string]string{}
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 || strings.TrimSpace(cells[1]) == "class" || strings.HasPrefix(cells[1], "-") {
			continue
		}
		verdict := strings.Trim(strings.TrimSpace(cells[2]), "`")
		for class := range strings.SplitSeq(cells[1], ",") {
			table[strings.TrimSpace(class)] = verdict
		}
	}
	return table
}

// Where git is installed, it says of each object what its class says: the fixtures are what they claim to be.
func TestFixturesAreWhatGitCallsThem(t *testing.T) {
	// Classes that git of 2022 does not know, and those of files too large for a test: their fixtures stand for any file.
	elsewhere := []string{"gitattributesLarge", "gitmodulesLarge", "badGpgsig", "badHeaderContinuation", "largePathname"}
	kinds := []string{"commit", "tree", "tag", ".gitattributes", ".gitmodules"}
	repo := gittest.New(t)
	repo.Object("blob", "")
	repo.Object("tree", "")
	var args, classes, ids []string
	for _, b := range bads() {
		if !slices.Contains(elsewhere, b.class) && slices.Contains(kinds, b.kind) {
			args = append(args, "-c", "fsck."+b.class+"=error")
			classes, ids = append(classes, b.class), append(ids, write(repo, b))
		}
	}
	out, _ := repo.Try("", append(args, "fsck", "--strict", "--no-dangling")...)
	for i, class := range classes {
		// Some it cannot even parse before it comes to say what they are.
		if !strings.Contains(out, class) && !strings.Contains(out, ids[i]+": object could not be parsed") &&
			!strings.Contains(out, ids[i]+": badTree") {
			t.Errorf("%s (%s): git says %s", class, ids[i], out)
		}
	}
}
