package ui

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"
	"time"
)

func TestColoured(t *testing.T) {
	for _, c := range []struct {
		name          string
		flag, setting When
		env           map[string]string
		terminal      bool
		want          bool
	}{
		{"pipe", Auto, Auto, nil, false, false},
		{"terminal", Auto, Auto, nil, true, true},
		{"dumb terminal", Auto, Auto, map[string]string{"TERM": "dumb"}, true, false},
		{"NO_COLOR", Auto, Always, map[string]string{"NO_COLOR": "1"}, true, false},
		{"NO_COLOR beats force", Auto, Auto, map[string]string{"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, false, false},
		{"force", Auto, Never, map[string]string{"CLICOLOR_FORCE": "1"}, false, true},
		{"force is off at 0", Auto, Auto, map[string]string{"CLICOLOR_FORCE": "0"}, false, false},
		{"flag beats NO_COLOR", Always, Auto, map[string]string{"NO_COLOR": "1"}, false, true},
		{"flag off", Never, Always, map[string]string{"CLICOLOR_FORCE": "1"}, true, false},
		{"setting on", Auto, Always, nil, false, true},
		{"setting off", Auto, Never, nil, true, false},
	} {
		env := func(key string) string { return c.env[key] }
		if got := Coloured(c.flag, c.setting, env, c.terminal); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if _, err := ParseWhen("blue"); err == nil {
		t.Error("blue is taken for an answer")
	}
}

func TestParseDate(t *testing.T) {
	zone := time.FixedZone("", 2*3600)
	now := time.Date(2026, 5, 31, 14, 0, 0, 0, zone)
	for in, want := range map[string]string{
		"2026-05-30":                      "2026-05-30T00:00:00+02:00",
		"2026-05-30 12:30":                "2026-05-30T12:30:00+02:00",
		"2026-05-30T12:30:01Z":            "2026-05-30T12:30:01Z",
		"2026-05-30 12:30:01 -0700":       "2026-05-30T12:30:01-07:00",
		"@0":                              "1970-01-01T02:00:00+02:00",
		"@0 +0000":                        "1970-01-01T00:00:00Z",
		"1700000000 +0530":                "2023-11-15T03:43:20+05:30",
		"now":                             "2026-05-31T14:00:00+02:00",
		"yesterday":                       "2026-05-30T14:00:00+02:00",
		"2 weeks ago":                     "2026-05-17T14:00:00+02:00",
		"2.weeks":                         "2026-05-17T14:00:00+02:00",
		"3d":                              "2026-05-28T14:00:00+02:00",
		"an hour ago":                     "2026-05-31T13:00:00+02:00",
		"last week":                       "2026-05-24T14:00:00+02:00",
		"1 year ago":                      "2025-05-31T14:00:00+02:00",
		"90 min ago":                      "2026-05-31T12:30:00+02:00",
		"Sun, 31 May 2026 14:00:00 +0200": "2026-05-31T14:00:00+02:00",
	} {
		got, err := ParseDate(in, now)
		if err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("ParseDate(%q) = %s, %v; want %s", in, got.Format(time.RFC3339), err, want)
		}
	}
	for _, in := range []string{"", "soon", "2 ago", "12345678901234567890 days ago", "2026-13-01", "17", "weeks ago"} {
		if got, err := ParseDate(in, now); err == nil {
			t.Errorf("ParseDate(%q) = %s, want an error", in, got)
		}
	}
}

func TestAgo(t *testing.T) {
	now := time.Unix(2_000_000_000, 0)
	for seconds, want := range map[int64]string{
		-5: "in the future", 0: "just now", 4: "just now", 5: "5 seconds ago", 89: "89 seconds ago", 90: "2 minutes ago",
		3600: "60 minutes ago", 7200: "2 hours ago", 3 * 86400: "3 days ago", 21 * 86400: "3 weeks ago",
		100 * 86400: "3 months ago", 800 * 86400: "2 years ago",
	} {
		if got := Ago(now.Unix()-seconds, now); got != want {
			t.Errorf("%d seconds: %q, want %q", seconds, got, want)
		}
	}
}

func TestAppendClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain é 漢\ttab\n": "plain é 漢\ttab\n",
		"a\x1b[31mred":     "a^[[31mred",
		"bell\a\x7f":       "bell^G^?",
		"win\r\nlines\r":   "win\nlines^M",
		"bad \xff byte":    "bad \ufffd byte",
		"c1 \u009b31m":     "c1 <009b>31m",
		"if \u202e admin":  "if <202e> admin",
		"":                 "",
	} {
		if got := string(AppendClean(nil, in)); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestPick(t *testing.T) {
	pieces := []Piece{
		{"1", "a", "one\n"}, {"2", "a", "two\n"}, {"3", "a", "three\n"}, {"4", "b", "four\n"}, {"5", "c", "five\n"},
	}
	for in, want := range map[string]string{
		"y\nn\ny\nn\ny\n":  "1 3 5",
		"a\ny\nn\n":        "1 2 3 4",
		"n\nd\ny\ny\n":     "4 5",
		"y\nq\n":           "1",
		"":                 "",
		"y":                "1",
		"what\n?\ny\nq\n":  "1",
		"n\nn\nn\nn\nn\ny": "",
	} {
		var out bytes.Buffer
		got, err := Pick(bufio.NewReader(strings.NewReader(in)), &out, "record", pieces, Palette{})
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q: picked %q, %v; want %q", in, got, err, want)
		}
		if !strings.HasPrefix(out.String(), "one\n(1/5) record this hunk") {
			t.Errorf("%q: began with %q", in, out.String())
		}
		if strings.Contains(in, "?") != strings.Contains(out.String(), "leave it\n") {
			t.Errorf("%q: help where none was asked for, or none where it was:\n%s", in, out.String())
		}
	}
}

func TestConfirm(t *testing.T) {
	for in, want := range map[string]bool{"y\n": true, "YES\n": true, "n\n": false, "\n": false, "": false, "yup\n": false} {
		got, err := Confirm(bufio.NewReader(strings.NewReader(in)), io.Discard, "Sure?")
		if err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", in, got, err, want)
		}
	}
}

func TestPagerLine(t *testing.T) {
	env := map[string]string{}
	get := func(key string) string { return env[key] }
	if got := PagerLine(get, ""); got != "less" {
		t.Errorf("nothing set: %q", got)
	}
	env["PAGER"] = "more"
	if got := PagerLine(get, "most -s"); got != "most -s" {
		t.Errorf("the setting is not before PAGER: %q", got)
	}
	env["OXY_PAGER"] = "cat"
	if got := PagerLine(get, "most"); got != "" {
		t.Errorf("cat is no pager: %q", got)
	}
}

func TestPagerGetsEverything(t *testing.T) {
	var out bytes.Buffer
	p, err := StartPager("cat | sort", &out, io.Discard, func(string) string { return "" })
	if err != nil {
		t.Skip("no shell here")
	}
	io.WriteString(p, "b\na\n")
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if out.String() != "a\nb\n" {
		t.Errorf("the pager showed %q", out.String())
	}
}
