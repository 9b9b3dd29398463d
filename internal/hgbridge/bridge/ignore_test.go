package bridge

import (
	"strings"
	"testing"
)

func TestTranslateIgnore(t *testing.T) {
	for in, want := range map[string]string{
		`\.pyc$`:                       "*.pyc",
		`^build/`:                      "/build/",
		`^build$`:                      "/build",
		`(^|/)core$`:                   "core",
		`tmp`:                          "*tmp*",
		`a/b$`:                         "**/*a/b",
		`^docs/[^/]*\.html$`:           "/docs/*.html",
		`.*\.orig$`:                    "*.orig",
		`\#.*`:                         "*#*",
		"glob:*.o":                     "*.o",
		"syntax: glob\n*.{a,so}\nb/c":  "*.a\n*.so\n**/b/c",
		"syntax: glob\nsrc/**.c":       "**/src/**/*.c",
		"rootglob:dist/*":              "/dist/*",
		"# nothing\n\nglob:x # not it": "x",
		"glob:!odd":                    `\!odd`,
	} {
		out, left := TranslateIgnore([]byte(in))
		if got := strings.TrimSuffix(string(out), "\n"); got != want || len(left) > 0 {
			t.Errorf("%q becomes %q, want %q; left %+v", in, got, want, left)
		}
	}
	for _, in := range []string{`(a|b)+`, `a.*b`, "syntax: rust\nx", "glob:{a,{b}}", `.*`, "glob:a**b", "glob:" + strings.Repeat("{a,b}", 9)} {
		if out, left := TranslateIgnore([]byte(in)); len(left) != 1 || len(out) > 0 {
			t.Errorf("%q becomes %q", in, out)
		}
	}
}
