package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/gitbridge/gittest"
	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
	"github.com/oxy-vcs/oxy/internal/gitbridge/odb"
	"github.com/oxy-vcs/oxy/internal/gitbridge/tree"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// grow makes a history of n commits with several roots, merges of two and more, and every kind of entry.
func grow(r *gittest.Repo, n int, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 7))
	var s strings.Builder
	paths := []string{"a", "a.b", "d/x", "d/y", "d/e/z", "deep/er/still/f", "q\u00e9", "with space"}
	for i := range n {
		fmt.Fprintf(&s, "commit refs/heads/b%d\nmark :%d\nauthor Ada <ada@example.com> %d +0100\ncommitter Bob <bob@example.com> %d -0330\ndata 2\n%d\n",
			i, i+1, rng.IntN(1000), rng.IntN(1000), i%10)
		if i > 0 && rng.IntN(20) > 0 {
			parents := rng.Perm(min(i, 6))[:1+rng.IntN(min(i, 6))*rng.IntN(2)]
			for k, p := range parents {
				fmt.Fprintf(&s, "%s :%d\n", []string{"from", "merge"}[min(k, 1)], i-p)
			}
		}
		for range 1 + rng.IntN(4) {
			path := paths[rng.IntN(len(paths))]
			switch rng.IntN(8) {
			case 0:
				fmt.Fprintf(&s, "D %s\n", path)
			case 1:
				fmt.Fprintf(&s, "M 120000 inline %s\ndata 2\nto\n", path)
			case 2:
				fmt.Fprintf(&s, "M 160000 %040d %s\n", rng.IntN(9)+1, path)
			case 3:
				fmt.Fprintf(&s, "D d\nM 100755 inline d\ndata 1\nx\n")
			case 4:
				fmt.Fprintf(&s, "D d\nM 644 inline d/y\ndata 1\ny\n")
			default:
				text := strings.Repeat(fmt.Sprintln("line", rng.IntN(50)), rng.IntN(30))
				fmt.Fprintf(&s, "D d\nM 644 inline %s\ndata %d\n%s\n", path, len(text), text)
			}
		}
		s.WriteString("\n")
	}
	r.In(s.String(), "-c", "fastimport.unpackLimit=1", "fast-import", "--quiet")
}

func openRepo(t *testing.T, r *gittest.Repo) (*odb.DB, []object.ID) {
	t.Helper()
	db, err := odb.Open(vfs.OS(), r.Dir, odb.Options{CacheBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	var tips []object.ID
	for hex := range strings.FieldsSeq(r.Git("for-each-ref", "--format=%(objectname)", "refs/heads")) {
		id, err := object.ParseID(db.Format, hex)
		if err != nil {
			t.Fatal(err)
		}
		tips = append(tips, id)
	}
	return db, tips
}

func TestEveryCommitIsRebuiltFromItsRows(t *testing.T) {
	for seed, init := range [][]string{nil, nil, {"--object-format=sha256"}} {
		r := gittest.New(t, init...)
		if init == nil {
			grow(r, 200, uint64(seed))
		} else {
			sum := r.Commit(r.Tree(map[string]string{"a": "1", "d/e": "2"}), "first")
			r.Git("update-ref", "refs/heads/b", r.Commit(r.Tree(map[string]string{"d/f": "3"}), "second", sum))
		}
		db, tips := openRepo(t, r)
		order, err := Walk(db.NewReader(), db.Format, tips, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if want := len(strings.Fields(r.Git("rev-list", "--branches"))); order.Len() != want {
			t.Fatalf("%d commits, git has %d", order.Len(), want)
		}
		for workers := range 4 {
			replay(t, db, order, workers)
		}
	}
}

// replay makes each commit's tree and bytes again from what the pipeline gives.
func replay(t *testing.T, db *odb.DB, order *Order, workers int) {
	t.Helper()
	hasher := object.NewHasher(db.Format, nil)
	b := tree.NewBuilder(db.Format, nil)
	trees := map[object.ID]tree.Tree{}
	p := Read(context.Background(), db, order, 0, ReadOptions{Workers: workers})
	defer p.Close()
	n := 0
	for s := p.Next(); s != nil; s = p.Next() {
		if s.Err != nil || s.Index != n || s.ID != order.ID(n) || s.More {
			t.Fatalf("step %d is %+v", n, s)
		}
		base := b.Empty()
		for i, parent := range s.Parents {
			known, found := trees[parent]
			if !found {
				t.Fatalf("%s comes before its parent %s", s.ID, parent)
			}
			if i == 0 {
				base = known
			}
		}
		var list []tree.Edit
		for _, row := range s.Rows {
			if len(row.Sides) != 1+len(s.Parents) {
				t.Fatalf("%s: %+v", s.ID, row)
			}
			if row.HasBlob {
				if id, _ := hasher.Sum(object.BlobKind, row.Blob); id != row.Sides[0].ID {
					t.Fatalf("%s: %q is %s", s.ID, row.Path, id)
				}
			}
			isNew := row.Sides[0].Mode != object.ModeSubmodule && row.Sides[0].Mode != 0
			for _, side := range row.Sides[1:] {
				isNew = isNew && side.ID != row.Sides[0].ID
			}
			if isNew != row.HasBlob {
				t.Fatalf("%s: %+v", s.ID, row)
			}
			list = append(list, tree.Edit{Path: string(row.Path), Side: row.Sides[0]})
		}
		made, err := b.Apply(base, list, nil)
		if err != nil || made.ID() != s.Commit.Tree {
			t.Fatalf("%s: tree %s, want %s: %v", s.ID, made.ID(), s.Commit.Tree, err)
		}
		trees[s.ID] = made
		native, fields := s.Commit.Split()
		raw, err := object.JoinCommit(db.Format, made.ID(), s.Commit.Parents, native, fields)
		if err != nil {
			t.Fatal(err)
		}
		if id, _ := hasher.Sum(object.CommitKind, raw); id != s.ID || !bytes.Equal(raw, s.Raw) {
			t.Fatalf("%s becomes %q", s.ID, raw)
		}
		n++
	}
	if p.Err() != nil || n != order.Len() {
		t.Fatalf("%d of %d steps: %v", n, order.Len(), p.Err())
	}
}

// What is known is left out with all before it, and the order of the rest stays.
func TestWalkFromWhatIsKnown(t *testing.T) {
	r := gittest.New(t)
	grow(r, 150, 3)
	db, tips := openRepo(t, r)
	rng := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		old := tips[:rng.IntN(len(tips))]
		before, err := Walk(db.NewReader(), db.Format, old, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		known := map[object.ID]bool{}
		for i := range before.Len() {
			known[before.ID(i)] = true
		}
		var want []string
		args := []string{"rev-list", "--branches"}
		for _, id := range old {
			args = append(args, "^"+id.String())
		}
		want = strings.Fields(r.Git(args...))
		after, err := Walk(db.NewReader(), db.Format, tips, func(id object.ID) bool { return known[id] }, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range after.Len() {
			got = append(got, after.ID(i).String())
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("%d new commits, git has %d", len(got), len(want))
		}
		p := Read(context.Background(), db, after, 0, ReadOptions{NoBlobs: true})
		for s := p.Next(); s != nil; s = p.Next() {
			for _, parent := range s.Parents {
				if s.Err != nil || !known[parent] {
					t.Fatalf("%s has the parent %s: %v", s.ID, parent, s.Err)
				}
			}
			known[s.ID] = true
		}
		p.Close()
	}
}

func TestBadCommitsAreLeftOut(t *testing.T) {
	r := gittest.New(t)
	root := r.Object("tree", "")
	good := r.Commit(root, "good")
	bad := r.Object("commit", "tree 12\n")
	blob := r.Object("blob", "x")
	tip := r.In("m", "commit-tree", root, "-p", good)
	child := r.Object("commit", "tree "+root+"\nparent "+bad+"\nparent "+tip+"\nparent "+blob+"\nparent "+strings.Repeat("1", 40)+"\n"+authored+"\nm\n")
	r.Git("update-ref", "--no-deref", "refs/heads/main", tip)
	db, _ := openRepo(t, r)
	id, _ := object.ParseID(object.SHA1, child)
	if _, err := Walk(db.NewReader(), db.Format, []object.ID{id}, nil, nil); !errors.Is(err, object.ErrBadTreeID) || !strings.Contains(err.Error(), bad) {
		t.Error(err)
	}
	var said []string
	order, err := Walk(db.NewReader(), db.Format, []object.ID{id, id}, nil, func(id object.ID, err error) error {
		said = append(said, fmt.Sprint(errors.Is(err, object.ErrBadTreeID), errors.Is(err, ErrNotCommit), errors.Is(err, odb.ErrMissing)))
		return nil
	})
	if err != nil || order.Len() != 3 || fmt.Sprint(said) != "[true false false false true false false false true]" {
		t.Fatalf("%d commits, %v: %v", order.Len(), said, err)
	}
	p := Read(context.Background(), db, order, 2, ReadOptions{})
	defer p.Close()
	if s := p.Next(); s.Err != nil || len(s.Parents) != 1 || s.Parents[0].String() != tip || len(s.Commit.Parents) != 4 || p.Next() != nil {
		t.Errorf("%+v", s)
	}
}

// A commit of more than fits in a part comes in several, and all of it comes.
func TestLargeCommitComesInParts(t *testing.T) {
	r := gittest.New(t)
	var s strings.Builder
	s.WriteString("commit refs/heads/main\ncommitter Ada <ada@example.com> 1 +0000\ndata 1\nm\n")
	noise := strings.Repeat("0123456789abcdef", 1<<14)
	for i := range 50 {
		text := fmt.Sprint(i, noise)
		fmt.Fprintf(&s, "M 644 inline f%d\ndata %d\n%s\n", i, len(text), text)
	}
	r.In(s.String(), "fast-import", "--quiet")
	db, tips := openRepo(t, r)
	order, err := Walk(db.NewReader(), db.Format, tips, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := Read(context.Background(), db, order, 0, ReadOptions{})
	defer p.Close()
	hasher := object.NewHasher(db.Format, nil)
	parts, rows := 0, 0
	for s := p.Next(); s != nil; s = p.Next() {
		parts++
		for _, row := range s.Rows {
			rows++
			if id, _ := hasher.Sum(object.BlobKind, row.Blob); id != row.Sides[0].ID {
				t.Fatalf("%q is %s", row.Path, id)
			}
		}
		if s.More != (rows < 50) || s.ID != tips[0] || !bytes.HasSuffix(s.Commit.Rest, []byte("\n\nm")) {
			t.Fatalf("part %d of %d rows: %+v", parts, rows, s.Commit)
		}
	}
	if parts < 3 || rows != 50 {
		t.Errorf("%d rows in %d parts", rows, parts)
	}
}

func TestPeel(t *testing.T) {
	r := gittest.New(t)
	tip := r.Commit(r.Object("tree", ""), "m")
	tag := func(of, kind string) string {
		return r.Object("tag", "object "+of+"\ntype "+kind+"\ntag x\ntagger "+ada+"\n\nm\n")
	}
	one := tag(tip, "commit")
	two := tag(one, "tag")
	deep := two
	for range maxTagDepth {
		deep = tag(deep, "tag")
	}
	blob := tag(r.Object("blob", "x"), "blob")
	db, _ := openRepo(t, r)
	for _, test := range []struct {
		hex  string
		tags int
		kind object.Kind
		want error
	}{
		{tip, 0, object.CommitKind, nil},
		{one, 1, object.CommitKind, nil},
		{two, 2, object.CommitKind, nil},
		{blob, 1, object.BlobKind, nil},
		{deep, maxTagDepth, object.TagKind, ErrTagDepth},
		{r.Object("tag", "object 12\n"), 1, object.TagKind, object.ErrTagObject},
		{tag(strings.Repeat("1", 40), "commit"), 1, 0, odb.ErrMissing},
	} {
		id, _ := object.ParseID(object.SHA1, test.hex)
		tags, to, kind, err := Peel(db.NewReader(), db.Format, id)
		if len(tags) != test.tags || kind != test.kind || !errors.Is(err, test.want) || err == nil && kind == object.CommitKind && to.String() != tip {
			t.Errorf("%s: %d tags, %s %s, %v", test.hex, len(tags), kind, to, err)
		}
	}
}

// Whoever stops early leaves no worker behind: Close returns.
func TestStop(t *testing.T) {
	r := gittest.New(t)
	grow(r, 300, 5)
	db, tips := openRepo(t, r)
	order, err := Walk(db.NewReader(), db.Format, tips, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for take := range 5 {
		p := Read(context.Background(), db, order, 0, ReadOptions{Workers: 3})
		for range take * 30 {
			p.Next()
		}
		p.Close()
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := Read(ctx, db, order, 0, ReadOptions{})
	defer p.Close()
	cancel()
	for s := p.Next(); s != nil; s = p.Next() {
	}
	if !errors.Is(p.Err(), context.Canceled) && p.Err() != nil {
		t.Error(p.Err())
	}
}

func TestNumbersAgainstMap(t *testing.T) {
	n := newNumbers(object.SHA256)
	want := map[object.ID]uint32{}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		id := object.ID{byte(rng.Uint32()), byte(rng.IntN(40)), 31: 1}
		got, isNew := n.number(id)
		if old, found := want[id]; found == isNew || found && old != got {
			t.Fatalf("%s: %d %v, want %d", id, got, isNew, old)
		}
		want[id] = got
		if n.id(got) != id {
			t.Fatalf("%d is %s", got, n.id(got))
		}
	}
}
