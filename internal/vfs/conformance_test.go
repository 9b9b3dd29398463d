package vfs

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// conformance lists commands and what they answer on every file system.
var conformance = []struct{ name, steps string }{
	{"files", `
		write f hello
		cat f -> hello
		stat f -> -rw-r--r-- 5 exec=false
		append f _you
		at f 5 !
		cat f -> hello!you
		cut f 2
		cat f -> he
		cut f 4
		stat f -> -rw-r--r-- 4 exec=false
		excl f x -> exists
		excl g x
		readonly g y -> bad file
		cat h -> missing
		cat h/i -> missing
		cat f/i -> no directory
		readat g 0 -> x end
		readat g 7 ->  end
		at g 1 abc
		readat g 1 -> abc
		sync g
		limit g 1234 -> xabc
		limit g 123 -> too large
		rm f
		rm f -> missing`},
	{"names", `
		mkdir d
		@d write . x -> bad name
		@d write .. x -> bad name
		@d write a/b x -> bad name
		@d stat  -> bad name
		@d mkdir ../e -> bad name
		@d rm d/ -> bad name
		@d mv a/b c -> bad name
		@d in .. -> bad name
		@d link x a/b -> bad name
		@d chmod . 777 -> bad name
		@d readlink .. -> bad name
		@d write ` + strings.Repeat("n", 256) + ` x -> too long
		@d stat ` + strings.Repeat("n", 256) + ` -> too long
		@d write ` + strings.Repeat("n", 255) + ` x`},
	{"directories", `
		mkdir a/b/c
		mkdir a/b/c
		write a/f x
		mkdir a/f -> no directory
		mkdir a/f/g -> no directory
		ls a -> b f
		@a ls -> map[b:2 f:1]
		@a mkdir b -> exists
		@a rm b -> a directory
		@a rmdir f -> no directory
		@a rmdir b -> not empty
		@a rmdir z -> missing
		rm a/b -> not empty
		@a/b rmdir c
		rm a/b
		ls a -> f
		ls a/f -> no directory
		write a x -> a directory
		@a write ../x y -> bad name
		mkdir a/q/r
		write a/q/s x
		rmall a
		rmall a
		stat a -> missing
		syncdir a -> missing`},
	{"links", `
		mkdir d/e
		write d/f text
		@d link f l
		@d link e le
		@d link nowhere ln
		@d link lb la
		@d link la lb
		@d readlink l -> f
		@d readlink f -> invalid
		@d readlink z -> missing
		@d stat l -> Lrwxrwxrwx 1 exec=true
		cat d/l -> text
		@d cat l -> a link
		@d write l x -> a link
		@d excl l x -> exists
		@d in le -> no directory
		@d in e
		@d link x l -> exists
		@d link  empty -> missing
		write d/le/g through
		cat d/e/g -> through
		cat d/ln -> missing
		excl d/ln x -> exists
		write d/ln x -> a link
		cat d/nowhere -> missing
		write d/l x -> a link
		cat d/f -> text
		cat d/la -> a link
		@d chmod l 755 -> unsupported
		@d rmdir le -> no directory
		@d rm le
		ls d/e -> g
		rmall d/l
		cat d/f -> text
		@d ls -> map[e:2 f:1 la:3 lb:3 ln:3]`},
	{"renames", `
		mkdir a/x
		mkdir b/y/z
		write a/f F
		write b/g G
		mv a/f b/g
		cat b/g -> F
		stat a/f -> missing
		mv b/g b/g
		mv z q -> missing
		mv a b -> not empty
		mv a/x b/g -> no directory
		mv b/g a/x -> a directory
		mv b b/y/w -> invalid
		mv b/y/z b -> not empty
		mv b/g b -> not empty
		mv b/y/z a/x
		ls a -> x
		@b mv g ../a/x/h
		cat a/x/h -> F
		@a/x mv h h2
		@a mv x ../b/moved
		cat b/moved/h2 -> F
		@b mv moved ../b/moved/in -> invalid
		mv b/moved/h2 q/r -> missing
		@b mv .. x -> bad name`},
	{"exchanges", `
		mkdir a
		write a/f F
		write a/g G
		@a swap f g
		cat a/f -> G
		cat a/g -> F
		@a swap f f
		@a swap f q -> missing
		@a swap q f -> missing
		@a swap f ../a -> bad name
		@a swap .. f -> bad name
		@a rm f
		ls a -> g
		cat a/g -> F`},
	{"second names", `
		write f one
		ln f g
		cat g -> one
		append g two
		cat f -> onetwo
		ln f g -> exists
		ln q h -> missing
		ln f q/h -> missing
		@. link f l
		ln l m
		@. readlink m -> f
		rm f
		cat g -> onetwo`},
	{"shares", `
		write f hello
		share f g 5 -> copied
		share f h 2 -> copied
		cat h -> he
		append f !
		cat g -> hello
		share f g 2 -> exists
		share f z 99 -> too short
		share f q/z 2 -> missing`},
	{"modes", `
		write f x
		mkdir d
		fchmod f 755
		stat f -> -rwxr-xr-x 1 exec=true
		@. chmod f 600
		stat f -> -rw------- 1 exec=false
		@. chmod d 700
		stat d -> drwx------ 0 exec=true
		@. chmod q 700 -> missing`},
	{"maps", `
		write f hello
		map f 5 -> hello
		map f 2 -> he
		map f 0
		map f 6 -> too short
		write e 
		map e 0
		map e 1 -> too short`},
	{"locks", `
		lock l -> locked
		lock l -> locked
		stat l -> -rw-r--r-- 0 exec=false
		lock d/l -> missing`},
}

func TestConformance(t *testing.T) {
	for _, c := range conformance {
		t.Run("OS/"+c.name, func(t *testing.T) { runSteps(t, &script{t, OS(), t.TempDir()}, c.steps) })
		t.Run("Mem/"+c.name, func(t *testing.T) {
			m := NewMem()
			runSteps(t, &script{t, m, "/"}, c.steps)
			if m.Handles() != 0 {
				t.Errorf("%d handles were not closed", m.Handles())
			}
		})
		t.Run("Faulty/"+c.name, func(t *testing.T) {
			f := Inject(NewMem(), 0, nil, FaultReads)
			runSteps(t, &script{t, f, "/"}, c.steps)
			if f.Fired() || f.Calls() == 0 {
				t.Errorf("%d calls, fired: %v", f.Calls(), f.Fired())
			}
		})
	}
}

func runSteps(t *testing.T, s *script, steps string) {
	for line := range strings.SplitSeq(strings.Trim(steps, "\n\t"), "\n") {
		cmd, want, _ := strings.Cut(strings.TrimLeft(line, "\t"), " ->")
		want = strings.TrimPrefix(want, " ")
		if got := s.run(cmd); got != want {
			t.Errorf("%s: %q, want %q", cmd, got, want)
		}
	}
}

// TestMemActsLikeOS runs random commands on both.
func TestMemActsLikeOS(t *testing.T) {
	base := t.TempDir()
	round := 0
	rapid.Check(t, func(rt *rapid.T) {
		round++
		root := fmt.Sprintf("%s/%d", base, round)
		mem := NewMem()
		real := &script{t, OS(), root}
		model := &script{t, mem, root}
		real.run("mkdir .")
		model.run("mkdir .")
		path := rapid.Custom(func(rt *rapid.T) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "l"}), 1, 3).Draw(rt, "path"), "/")
		})
		elem := rapid.SampledFrom([]string{"a", "b", "c", "l"})
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			p, q, e := path.Draw(rt, "p"), path.Draw(rt, "q"), elem.Draw(rt, "e")
			line := rapid.SampledFrom([]string{
				"mkdir " + p, "mkdir " + p, "write " + p + " " + e, "excl " + p + " x", "append " + p + " " + e + e,
				"at " + p + " 3 zz", "cut " + p + " 1", "cat " + p, "mv " + p + " " + q, "mv " + p + " " + q, "rm " + p,
				"ls " + p, "stat " + p, "rmall " + p,
				"@" + p + " mkdir " + e, "@" + p + " write " + e + " new", "@" + p + " cat " + e, "@" + p + " in " + e,
				"@" + p + " link " + q + " " + e, "@" + p + " readlink " + e, "@" + p + " rm " + e, "@" + p + " rmdir " + e,
				"@" + p + " stat " + e, "@" + p + " ls " + e, "@. mv " + e + " " + q,
			}).Draw(rt, "command")
			want, got := real.run(line), model.run(line)
			if got != want {
				rt.Fatalf("%s: Mem gives %q, OS %q", line, got, want)
			}
		}
		if mem.Handles() != 0 {
			rt.Fatalf("%d handles were not closed", mem.Handles())
		}
	})
}
