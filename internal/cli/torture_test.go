package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

var (
	killRounds = flag.Int("kills", 12, "rounds in which commands are killed")
	killSeed   = flag.Uint64("killseed", 1, "what the rounds are drawn by")
)

// torturer runs random commands in a repository on the real file system and kills them.
type torturer struct {
	t     *testing.T
	dir   string
	rnd   *rand.Rand
	acked []string // ids of changes that commands said they recorded, since history was dropped last
	count map[string]int
}

// command draws a command, and edits files where it is one that records.
func (k *torturer) command() []string {
	edit := func() {
		for range 1 + k.rnd.IntN(3) {
			name := []string{"a", "b", "d/a", "d/e/b", "c"}[k.rnd.IntN(5)]
			var b strings.Builder
			for i := range 3 + k.rnd.IntN(40) {
				if k.rnd.IntN(9) == 0 {
					fmt.Fprintln(&b, "edited", k.rnd.Uint32())
				} else {
					fmt.Fprintln(&b, "line", i)
				}
			}
			name = filepath.Join(k.dir, name)
			_ = os.MkdirAll(filepath.Dir(name), 0o777)
			_ = os.WriteFile(name, []byte(b.String()), 0o666) // a killed checkout may have left a directory there
		}
	}
	bookmark := []string{"main", "one", "two"}[k.rnd.IntN(3)]
	older := fmt.Sprint("@~", k.rnd.IntN(4))
	message := fmt.Sprint("round ", k.rnd.Uint32())
	switch k.rnd.IntN(18) {
	case 0, 1, 2, 3, 4:
		edit()
		return []string{"commit", "-m", message, "--json"}
	case 5:
		edit()
		return []string{"commit", "--amend", "-m", message, "--json"}
	case 6, 7:
		return []string{"merge", bookmark}
	case 8:
		return []string{"pick", bookmark}
	case 9:
		return []string{"unrecord", "--with-dependents", older}
	case 10:
		return []string{"rollback", older}
	case 11:
		edit()
		return []string{"amend", older}
	case 12:
		return []string{"checkout", bookmark}
	case 13:
		return []string{"undo"}
	case 14:
		return []string{"discard", "--all"}
	case 15:
		return []string{"reword", older, "-m", message}
	case 16:
		return []string{"checkpoint"}
	}
	if k.rnd.IntN(3) == 0 {
		k.acked = nil // what an undone operation recorded may go
		return []string{"gc", "--keep-ops", "60"}
	}
	return []string{"gc", "--keep-all"}
}

// start runs a command, and kills it after a while unless it is done.
func (k *torturer) start(after time.Duration, args []string) (wait func()) {
	ctx, cancel := context.WithTimeout(context.Background(), after)
	cmd := exec.CommandContext(ctx, "oxy", args...) // which kills with SIGKILL
	cmd.Dir = k.dir
	cmd.Env = append(os.Environ(), "OXY_NAME=Ada", "OXY_EMAIL=ada@example.org", "TZ=UTC", "HOME="+k.dir, "XDG_CONFIG_HOME="+k.dir)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		defer cancel()
		if ctx.Err() == nil {
			k.t.Fatal(err)
		}
		k.count["killed"]++ // before it began
		return func() {}
	}
	return func() {
		err := cmd.Wait()
		killed := ctx.Err() != nil
		cancel()
		exit, _ := errors.AsType[*exec.ExitError](err)
		switch {
		case err == nil:
			k.count["done"]++
			var res struct{ ID string }
			if json.Unmarshal(out.Bytes(), &res) == nil && res.ID != "" {
				k.acked = append(k.acked, res.ID)
				k.count["acknowledged"]++
			}
		case killed:
			k.count["killed"]++
		case exit != nil && exit.ExitCode() <= 2 && !strings.Contains(errs.String(), "goroutine"):
			k.count["refused"]++
		default:
			k.t.Errorf("oxy %v: %v: %s", args, err, errs.String())
		}
		if strings.Contains(errs.String(), "damaged") {
			k.t.Errorf("oxy %v: %s", args, errs.String())
		}
	}
}

// Commands are killed at a random moment, one or two at once, on the real file system. After each round nothing is damaged,
// and what was acknowledged is there.
func TestKills(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no SIGKILL")
	}
	k := &torturer{t: t, dir: t.TempDir(), rnd: rand.New(rand.NewPCG(*killSeed, 9)), count: map[string]int{}}
	must(t, k.dir, "init")
	write(t, k.dir, ".oxyignore", ".config\n/oxy\n")
	write(t, k.dir, "a", "first\n")
	must(t, k.dir, "commit", "-m", "first")
	must(t, k.dir, "bookmark", "one")
	must(t, k.dir, "bookmark", "two")
	for round := range *killRounds {
		var waits []func()
		most := 24_000
		if round%4 > 1 {
			most = 150_000 // so that some come to their end
		}
		for range 1 + round%2 {
			waits = append(waits, k.start(time.Duration(k.rnd.IntN(most))*time.Microsecond, k.command()))
		}
		for _, wait := range waits {
			wait()
		}
		// What is derived may be old or missing after a kill, and is made anew; the truth is whole.
		out, errs, code := run(t, k.dir, "fsck", "--json")
		var res struct {
			Problems []struct {
				Text    string
				Derived bool
			}
		}
		if code > 1 || json.Unmarshal([]byte(out), &res) != nil {
			t.Fatalf("round %d: fsck: exit %d: %s%s", round, code, out, errs)
		}
		for _, p := range res.Problems {
			if !p.Derived {
				t.Fatalf("round %d: %s", round, p.Text)
			}
			k.count["stale"]++
		}
		if n := len(k.acked); n > 0 {
			for _, id := range []string{k.acked[n-1], k.acked[k.rnd.IntN(n)], k.acked[k.rnd.IntN(n)]} {
				// One that was taken back later is known as such.
				if _, errs, code := run(t, k.dir, "show", id); code != 0 && !strings.Contains(errs, "It was taken back") {
					t.Fatalf("round %d: change %s was acknowledged: %s", round, id, errs)
				}
				k.count["looked"]++
			}
		}
		if _, errs, code := run(t, k.dir, "status"); code != 0 {
			t.Fatalf("round %d: status: %s", round, errs)
		}
	}
	t.Logf("%d rounds: %v; %d changes looked for", *killRounds, k.count, k.count["looked"])
	fmt.Printf("kills: %d rounds, %d commands killed, %d done, %d refused, %d changes acknowledged, %d times one was looked for and there, derived files stale %d times, damage 0\n",
		*killRounds, k.count["killed"], k.count["done"], k.count["refused"], k.count["acknowledged"], k.count["looked"], k.count["stale"])
}
