package repo

import "testing"

// Faults that the mirrored stories found, each as a story of its own (see team).
var found = []struct{ name, story string }{
	{"a change that only settles is recorded", `
		a = new e=1 f=1
		rm = edit a: e=1
		x = edit a: e=1 f=2
		show rm + x: e=1 f=2 {life f}
		keep = settle rm + x
		show keep: e=1 f=2
		deps keep: rm x`},
	{"of two files that one change is at odds over each is settled by itself", `
		a = new e=1 f=1 g=1
		rm = edit a: e=1
		x = edit a: e=1 f=2 g=2
		show rm + x: e=1 f=2 g=2 {life f; life g}
		more = edit rm + x: e=1 f=3 g=2
		show more: e=1 f=3 g=2 {life g}`},
	{"a text undone beneath its edit leaves two values, which is said", `
		a = new e=%1
		text = edit a: e=1,2
		x = edit text: e=1,2,3
		back = rollback x text
		show back: e=%1 {body e} or e=1,2,3 {body e} or e=3 {body e}
		again = rollback back back
		show again: e=1,2,3`},
	{"a move that is undone, overtaken and brought back", `
		a = new e=1
		x = edit a: x=1 e>x
		back = rollback x x
		y = edit back: y=1 e>y
		again = rollback y back
		show again: x=1 {place x} or y=1 {place y}
		end = settle again: z=1 x>z y>z
		show end: z=1`},
	{"what undoes an undoing is found though it builds on what came between", `
		a = new e=1 f=1
		x = edit a: e=2 f=1
		back = rollback x x
		y = edit back: f=1
		again = rollback y back
		# who removed it had never seen what comes back
		show again: e=2 f=1`},
	{"who comes to a path builds on who left it, not on who only touched the file that stood there", `
		a = new c=1 k=1
		mode = edit a: c=1! k=1
		mv = edit mode: d=1! k=1 c>d
		more = edit mv: d=1 k=1
		in = edit more: d=1 c/k=1 k>c/k
		deps in: mv
		show in: c/k=1 d=1`},
	{"who comes to a path builds on all that makes a file be gone which would else stand there", `
		a = new b/b=1 k=1
		x = edit a: b=1 k=1 b/b>b
		y = edit a: a=1 k=1 b/b>a
		rx = edit x: k=1
		ry = edit y: k=1
		show rx + ry: k=1
		in = edit rx + ry: b/a=1 k>b/a
		deps in: rx ry
		show in: b/a=1`},
	{"who removes a file builds on an undoing that acts nowhere", `
		a = new f=1
		x = edit a: f=x
		y = edit a: f=y
		z = edit x + y: f=x,y
		back = rollback z z
		again = rollback back back
		rm = edit again: k=1
		deps rm: again`},
	{"a file that one side alone touched meets another only where all is united", `
		a = new p=1 z=1
		mv = edit a: q=1 z=1 p>q
		k = edit mv: p=2 q=1 z=1
		one = edit k: p=2! q=1,2 z=1
		rm = edit k: p=2 z=1
		back = rollback rm mv
		show back: p=2 z=1
		show one + back: p=2! p~=1,2 z=1 {life p~; name p~} or p=1,2 p~=2! z=1 {life p; name p~}`},
	{"what a change settled is settled by the one that amends it", `
		a = new e=1 f=1
		rm = edit a: e=1
		x = edit a: e=1 f=2
		keep = settle rm + x: e=1 f=2 g=1
		show keep: e=1 f=2 g=1
		again = amend keep: e=1 f=2 g=2
		show again: e=1 f=2 g=2
		mv = edit a: m=1 f=1 e>m
		mv2 = edit a: n=1 f=1 e>n
		place = settle mv + mv2: f=9 o=1 m>o n>o
		show place: f=9 o=1
		other = amend place: f=8 o=1
		show other: f=8 o=1`},
	{"two files and a directory at one name", `
		a = new e=1
		x = edit a: e=1 k=1
		y = edit a: e=1 k=2
		in = edit a: e=1 k/k=3
		show x + y + in: e=1 k/k=3 k~=1 k~=2 {name k~; name k~} or e=1 k/k=3 k~=2 k~=1 {name k~; name k~}`},
	{"the side that deleted all can be taken", `
		a = new f=1
		x = edit a: f=
		y = edit a: f=2
		show x + y: f=[; 2; base 1] {text f}
		end = edit x + y: f=
		show end: f=`},
}

func TestFound(t *testing.T) {
	for _, k := range found {
		t.Run(k.name, func(t *testing.T) { tell(t, k.story) })
	}
}
