package worktree

import (
	"bytes"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

const vectorGen = 0x0102030405060708

var (
	vectorF   = Entry{Mtime: -1, Ctime: 2, Size: 3, Ino: 4, Hash: [32]byte{5, 31: 6}}
	vectorX   = Entry{Mtime: 0x1122334455667788, Ctime: 1, Size: 1 << 40, Ino: 9, Hash: text("x").hash(), Kind: Link, Exec: true, Valid: true, Alias: 2}
	vectorDir = DirInfo{Mtime: 10, Ctime: 11, Ino: 12, Rules: 13, Flags: Listed | HasGitignore}
)

// vector makes the files that the page shows.
func vector(t *testing.T) (base, log []byte) {
	t.Helper()
	var b builder
	b.dir("", DirInfo{})
	b.entry("f", &vectorF)
	b.dir("d", DirInfo{})
	b.entry("x", &vectorX)
	base, err := b.bytes(vectorGen, 2, [32]byte{0xaa, 31: 0xbb})
	if err != nil {
		t.Fatal(err)
	}
	batch := appendRemoveRecord(nil, "f")
	batch = appendDirRecord(batch, "d", &vectorDir)
	batch = appendBaseRecord(batch, 3, &[32]byte{0xcc, 31: 0xdd})
	log = append(logHead(vectorGen), frame(batch, 3, vectorGen)...)
	return base, append(log, batch...)
}

func TestVectorOfThePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/spec/manifest.md")
	if err != nil {
		t.Fatal(err)
	}
	wantBase, wantLog := vector(t)
	_, block, ok := strings.Cut(strings.ReplaceAll(string(page), "\r\n", "\n"), "```vector\n")
	block, _, closed := strings.Cut(block, "```")
	if !ok || !closed {
		t.Fatalf("the page has no vector; it would be\n%s", dump(wantBase)+"\n"+dump(wantLog))
	}
	baseText, logText, _ := strings.Cut(block, "\n\n")
	base, log := undump(t, baseText), undump(t, logText)
	if !bytes.Equal(base, wantBase) || !bytes.Equal(log, wantLog) {
		t.Errorf("these values encode as\n%s", dump(wantBase)+"\n"+dump(wantLog))
	}
	m, err := fromBytes(vfs.NewMem(), "/m", base)
	if err != nil {
		t.Fatal(err)
	}
	got := content(t, m)
	if len(got) != 2 || got["f"] != vectorF || got["d/x"] != vectorX {
		t.Errorf("the base file has %v", got)
	}
	if fits, err := m.applyLog(log); err != nil || !fits {
		t.Fatal(fits, err)
	}
	got = content(t, m)
	state, id := m.Base()
	if len(got) != 1 || got["d/x"] != vectorX || m.info(m.ref("d")) != vectorDir || state != 3 || id[31] != 0xdd {
		t.Errorf("with the log it has %v, state %d", got, state)
	}
}

// dump writes bytes in lines of 32.
func dump(data []byte) string {
	var out strings.Builder
	for len(data) > 0 {
		n := min(len(data), 32)
		out.WriteString(hex.EncodeToString(data[:n]) + "\n")
		data = data[n:]
	}
	return out.String()
}

func undump(t *testing.T, text string) []byte {
	t.Helper()
	data, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
