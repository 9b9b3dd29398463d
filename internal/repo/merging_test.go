package repo

import (
	"fmt"
	"testing"
)

// What the world throws at whoever merges: each case is told in words (see team), and what is to come out of it.
var merging = []struct{ name, story string }{
	{"the same change arriving twice, by two routes", `
		a = new f=1,2,3
		x = edit a: f=0,1,2,3
		left = edit x: f=0,1,2,3 g=1
		right = edit x: f=0,1,2,3 h=1
		show left + right: f=0,1,2,3 g=1 h=1
		show left + right + x: f=0,1,2,3 g=1 h=1`},
	{"two changes with the same text", `
		a = new f=1,2,3
		x = edit a: f=1,9,3
		y = edit a: f=1,9,3
		show x + y: f=1,9,3
		both = edit x + y: f=1,9,9,3
		show both: f=1,9,9,3
		show both - both: f=1,9,3`},
	{"two changes that insert the same line", `
		a = new f=1,2
		x = edit a: f=1,new,2
		y = edit a: f=1,new,2
		show x + y: f=1,new,2
		# who edits it edits it for both
		z = edit x: f=1,newer,2
		show z + y: f=1,newer,2 or f=1,[new; newer; base],2 {text f}`},
	{"A and B independent and C on both", `
		base = new f=1,2,3,4,5 g=1
		a = edit base: f=A,2,3,4,5 g=1
		b = edit base: f=1,2,3,4,B g=1
		c = edit a + b: f=A,2,C,4,B g=1
		deps a: base
		deps b: base
		deps c: base
		show c: f=A,2,C,4,B g=1
		d = edit c: f=AA,2,C,4,BB g=1
		deps d: a b
		show d + a + b: f=AA,2,C,4,BB g=1`},
	{"criss-cross", `
		base = new f=1,2,3
		a = edit base: f=1,a,3
		b = edit base: f=1,b,3
		left = edit a + b: f=1,ab,3
		right = edit a + b: f=1,ba,3
		show left: f=1,ab,3
		show left + right: f=1,[ab; ba; base a,b],3 {text f} or f=1,[ab; ba; base b,a],3 {text f}
		end = edit left + right: f=1,end,3
		show end: f=1,end,3
		show end + left + right + a + b: f=1,end,3`},
	{"criss-cross without a conflict", `
		base = new f=1,2,3,4,5
		a = edit base: f=a,2,3,4,5
		b = edit base: f=1,2,3,4,b
		left = edit a + b: f=a,2,left,3,4,b
		right = edit b + a: f=a,2,3,4,right,b
		show left + right: f=a,2,left,3,4,right,b`},
	{"staircase", `
		base = new f=1,2,3
		a1 = edit base: f=1,2,3,a1
		b1 = edit a1: f=b1,1,2,3,a1
		a2 = edit a1: f=1,2,3,a1,a2
		b2 = edit b1 + a2: f=b2,b1,1,2,3,a1,a2
		a3 = edit a2: f=1,2,3,a1,a2,a3
		b3 = edit b2 + a3: f=b3,b2,b1,1,2,3,a1,a2,a3
		show b3 + a3: f=b3,b2,b1,1,2,3,a1,a2,a3`},
	{"a conflict resolved on both sides alike", `
		base = new f=1,2,3
		a = edit base: f=1,a,3
		b = edit base: f=1,b,3
		show a + b: f=1,[a; b; base 2],3 {text f}
		one = edit a + b: f=1,both,3
		two = edit a + b: f=1,both,3
		show one + two: f=1,both,3
		side = edit a + b: f=1,a,3
		same = edit a + b: f=1,a,3
		show side + same: f=1,a,3`},
	{"a conflict resolved on both sides differently", `
		base = new f=1,2,3
		a = edit base: f=1,a,3
		b = edit base: f=1,b,3
		one = edit a + b: f=1,one,3
		two = edit a + b: f=1,two,3
		show one + two: f=1,[one; two; base a,b],3 {text f} or f=1,[one; two; base b,a],3 {text f}
		# who took one side does not see the other's resolution undone
		show one + b: f=1,one,3`},
	{"badmerge in one go", `
		base = new f=A,B,C,D,E
		b2 = edit base: f=G,G,G,A,B,C,D,E
		b3 = edit b2: f=A,B,C,D,E,G,G,G,A,B,C,D,E
		c = edit base: f=A,B,X,D,E
		show b3 + c: f=A,B,C,D,E,G,G,G,A,B,X,D,E`},
	{"badmerge stepwise", `
		base = new f=A,B,C,D,E
		c = edit base: f=A,B,X,D,E
		b2 = edit base: f=G,G,G,A,B,C,D,E
		step = set b2 + c
		show step: f=G,G,G,A,B,X,D,E
		b3 = edit b2: f=A,B,C,D,E,G,G,G,A,B,C,D,E
		show step + b3: f=A,B,C,D,E,G,G,G,A,B,X,D,E`},
	{"insert into what the other deleted", `
		base = new f=1,2,3,4,5
		del = edit base: f=1,5
		ins = edit base: f=1,2,new,3,4,5
		show del + ins: f=1,[; 2,new,3,4; base 2,3,4],5 {text f}
		keep = edit del + ins: f=1,new,5
		show keep: f=1,new,5
		show keep + ins: f=1,new,5`},
	{"both delete, one is taken back", `
		base = new f=1,2,3
		x = edit base: f=1,3
		y = edit base: f=1,3
		show x + y: f=1,3
		back = rollback x x
		show back: f=1,2,3
		show back + y: f=1,3
		other = rollback y y
		show back + other: f=1,2,3`},
	{"nested conflict regions", `
		base = new f=1,2,3,4,5,6,7
		wide = edit base: f=1,W,7
		in1 = edit base: f=1,2,x,4,5,6,7
		in2 = edit base: f=1,2,3,4,5,y,7
		show in1 + in2: f=1,2,x,4,5,y,7
		show wide + in1 + in2: f=1,[2,x,4,5,y; W; base 2,3,4,5,6],7 {text f}
		three = edit base: f=1,2,z,4,5,6,7
		show in1 + three + in2: f=1,2,[x; z; base 3],4,5,y,7 {text f}
		end = edit wide + in1 + in2 + three: f=1,end,7
		show end: f=1,end,7`},
	{"a conflict at the last line without a line break", `
		base = new f=1,2$
		x = edit base: f=1,x$
		y = edit base: f=1,y$
		show x + y: f=1,[x; y; base 2] {text f}
		end = edit x + y: f=1,end$
		show end: f=1,end$
		# one gives it a line break and one writes on
		z = edit base: f=1,2
		w = edit base: f=1,2,3$
		show z + w: f=1,[2; 2,3; base 2] {text f}`},
	{"a conflict in a file with the line breaks of Windows", `
		base = new f=1^,2^,3^
		x = edit base: f=1^,x^,3^
		y = edit base: f=1^,y^,3^
		show x + y: f=1^,[x^; y^; base 2^],3^ {text f}
		end = edit x + y: f=1^,x^,y^,3^
		show end: f=1^,x^,y^,3^`},
	{"an edit that touches a marker", `
		base = new f=1,2,3 g=1
		x = edit base: f=1,x,3 g=1
		y = edit base: f=1,y,3 g=1
		refuse x + y: f=1,{,3 g=1
		# an edit elsewhere leaves the block as it is
		z = edit x + y: f=0,1,{},3 g=2
		show z: f=0,1,[x; y; base 2],3 g=2 {text f}
		deps z: base`},
	{"text that looks like markers", `
		base = new f=<<<<<<<,1,=======,2,>>>>>>>
		x = edit base: f=<<<<<<<,1,=======,x,>>>>>>>
		y = edit base: f=<<<<<<<,1,=======,y,>>>>>>>
		show x + y: f=<<<<<<<,1,=======,[x; y; base 2],>>>>>>> {text f}
		z = edit x + y: f=<<<<<<<,1,=======,xy,>>>>>>>
		show z: f=<<<<<<<,1,=======,xy,>>>>>>>`},
	{"rollback of a resolution", `
		base = new f=1,2,3
		a = edit base: f=1,a,3
		b = edit base: f=1,b,3
		end = edit a + b: f=1,end,3
		back = rollback end end
		show back: f=1,[a; b; base 2],3 {text f}
		again = rollback back back
		show again: f=1,end,3`},
	{"unrecord of one side of a resolved conflict", `
		base = new f=1,2,3
		a = edit base: f=1,a,3
		b = edit base: f=1,b,3
		end = edit a + b: f=1,end,3
		stuck end - a: end
		stuck end - b: end`},
	{"unrecord of the resolution", `
		base = new f=1,2,3,4,5
		a = edit base: f=1,a,3,4,5
		b = edit base: f=1,b,3,4,5
		end = edit a + b: f=1,end,3,4,5
		later = edit end: f=1,end,3,4,later
		show later - end: f=1,[a; b; base 2],3,4,later {text f}`},
	{"a resolution holds under a third change", `
		base = new f=1,2,3,4,5
		a = edit base: f=1,a,3,4,5
		b = edit base: f=1,b,3,4,5
		c = edit base: f=1,2,3,4,c
		end = edit a + b: f=1,end,3,4,5
		show end + c: f=1,end,3,4,c
		d = edit base: f=1,d,3,4,5
		show end + d: f=1,[d; end; base 2],3,4,5 {text f} or f=1,[d; end; base],3,4,5 {text f}`},
	{"three sides", `
		base = new f=1,2,3
		a = edit base: f=1,a,3
		b = edit base: f=1,b,3
		c = edit base: f=1,c,3
		show a + b + c: f=1,[a; b; c; base 2],3 {text f}
		end = edit a + b + c: f=1,end,3
		show end + a: f=1,end,3`},
	{"adjacent edits with an untouched line between", `
		base = new f=1,2,3
		a = edit base: f=a,2,3
		b = edit base: f=1,2,b
		show a + b: f=a,2,b`},
	{"move against delete", `
		base = new d/f=1,2 e=1
		mv = edit base: f=1,2 e=1 d/f>f
		rm = edit base: e=1
		show mv + rm: e=1 f=1,2 {life f}
		keep = settle mv + rm
		show keep: e=1 f=1,2
		gone = edit mv + rm: e=1
		show gone: e=1
		show gone + mv: e=1`},
	{"move into a deleted directory", `
		base = new d/f=1 e=1
		rm = edit base: e=1
		mv = edit base: d/f=1 d/e=1 e>d/e
		show rm + mv: d/e=1`},
	{"add inside a directory that the other deletes", `
		base = new d/f=1 e=1
		rm = edit base: e=1
		add = edit base: d/f=1 d/new=1 e=1
		show rm + add: d/new=1 e=1`},
	{"two adds of one path, the same bytes", `
		base = new e=1
		x = edit base: e=1 k=1,2
		y = edit base: e=1 k=1,2
		show x + y: e=1 k=1,2
		z = edit x + y: e=1 k=1,2,3
		show z: e=1 k=1,2,3
		deps z: x y
		gone = edit x + y: e=1
		show gone: e=1`},
	{"two adds of one path, other bytes", `
		base = new e=1
		x = edit base: e=1 k=x
		y = edit base: e=1 k=y
		show x + y: e=1 k=x k~=y {name k~} or e=1 k=y k~=x {name k~}
		both = settle x + y
		show both: e=1 k=x k~=y or e=1 k=y k~=x`},
	{"two files to one name", `
		base = new a=a b=b
		x = edit base: k=a b=b a>k
		y = edit base: a=a k=b b>k
		show x + y: k=a k~=b {name k~} or k=b k~=a {name k~}`},
	{"one file to two names", `
		base = new a=a b=b
		x = edit base: x=a b=b a>x
		y = edit base: y=a b=b a>y
		show x + y: b=b x=a {place x} or b=b y=a {place y}
		end = settle x + y
		show end: b=b x=a or b=b y=a
		both = edit base: x=a b=b a>x
		show x + both: b=b x=a`},
	{"swap of two names", `
		base = new a=a b=b
		s = edit base: b=a a=b a>b b>a
		show s: a=b b=a
		t = edit base: b=a a=b a>b b>a
		show s + t: a=b b=a`},
	{"swap against edit", `
		base = new a=a,1 b=b,1
		s = edit base: b=a,1 a=b,1 a>b b>a
		x = edit base: a=a,2 b=b,1
		show s + x: a=b,1 b=a,2`},
	{"three names in a ring", `
		base = new a=a b=b c=c
		r = edit base: b=a c=b a=c a>b b>c c>a
		x = edit base: a=a,x b=b c=c
		show r + x: a=c b=a,x c=b`},
	{"a into b against b into a", `
		base = new a/f=1 b/g=2
		x = edit base: b/a/f=1 b/g=2 a/>b/a
		y = edit base: a/f=1 a/b/g=2 b/>a/b
		show x + y: a/b/g=2 b/a/f=1`},
	{"a directory renamed two ways, and edited", `
		base = new d/f=1 d/g=1
		x = edit base: x/f=1 x/g=1 d/>x
		y = edit base: d/f=1,2 d/g=1
		show x + y: x/f=1,2 x/g=1`},
	{"a file against a directory", `
		base = new e=1
		x = edit base: e=1 k=1
		y = edit base: e=1 k/k=2
		show x + y: e=1 k/k=2 k~=1 {name k~}
		end = settle x + y
		show end: e=1 k/k=2 k~=1`},
	{"a type change against an edit", `
		base = new e=1,2
		x = edit base: e=1,3
		link = edit base: e=@d
		show x + link: e=1,3 {body e} or e=@d {body e}
		text = settle x + link: e=1,3
		show text: e=1,3
		# a text that became a link and is text again has the lines that it had
		back = edit link: e=1,2
		show back + x: e=1,3`},
	{"both change the mode, one takes it back", `
		base = new e=1
		on = edit base: e=1!
		also = edit base: e=1!
		show on + also: e=1!
		off = edit also: e=1
		show on + off: e=1! {mode e} or e=1 {mode e}`},
	{"an edit against a removal", `
		base = new e=1 f=1,2
		rm = edit base: e=1
		x = edit base: e=1 f=1,3
		show rm + x: e=1 f=1,3 {life f}
		more = edit rm + x: e=1 f=1,3,4
		show more: e=1 f=1,3,4
		drop = edit rm + x: e=1
		show drop: e=1
		show more + drop: e=1 f=1,3,4 {life f}`},
}

func TestMerging(t *testing.T) {
	for _, k := range merging {
		t.Run(k.name, func(t *testing.T) { tell(t, k.story) })
	}
}

// The supplier edits, we resolve, fifty times: each time we are asked about the last edits only, and build on these two and no more.
func TestFiftyRoundsOfTheirEditsAndOurResolutions(t *testing.T) {
	s := newTeam(t)
	s.do("supplier0 = new f=1,2,3,4,5,6,7,8")
	s.do("we0 = edit supplier0: f=1,2,we,4,5,6,7,8")
	for i := 1; i <= 50; i++ {
		s.do(fmt.Sprintf("supplier%d = edit supplier%d: f=1,2,supplier%d,4,5,6,7,8", i, i-1, i))
		s.do(fmt.Sprintf("we%d = edit we%d+supplier%d: f=1,2,we%d,4,5,6,7,8", i, i-1, i, i))
		s.do(fmt.Sprintf("deps we%d: supplier%d we%d", i, i, i-1))
		s.do(fmt.Sprintf("show we%d: f=1,2,we%d,4,5,6,7,8", i, i))
	}
	// Who took none of ours in between meets the last of each only.
	s.do("show we50 + supplier50: f=1,2,we50,4,5,6,7,8")
	check(t, s.r.Close())
}
