package ui

import "fmt"

// Palette holds the escape sequences of a command's output. The zero value colours nothing.
type Palette struct {
	Reset, Bold, Dim, Red, Green, Yellow, Blue, Magenta, Cyan string
}

// Colours is the palette of the sixteen colours that every terminal has, which the person's own theme sets.
func Colours() Palette {
	return Palette{
		Reset: "\x1b[0m", Bold: "\x1b[1m", Dim: "\x1b[2m", Red: "\x1b[31m", Green: "\x1b[32m",
		Yellow: "\x1b[33m", Blue: "\x1b[34m", Magenta: "\x1b[35m", Cyan: "\x1b[36m",
	}
}

// When says when to colour.
type When uint8

// The answers to --color.
const (
	Auto When = iota
	Always
	Never
)

// ParseWhen reads an answer to --color; "" is Auto.
func ParseWhen(s string) (When, error) {
	switch s {
	case "", "auto":
		return Auto, nil
	case "always", "yes", "true":
		return Always, nil
	case "never", "no", "false":
		return Never, nil
	}
	return Auto, fmt.Errorf("colour is auto, always or never, not %q", s)
}

// Coloured decides: the flag first, then NO_COLOR (no-color.org), then CLICOLOR_FORCE, then the setting, then whether
// output goes to a terminal that knows colours.
func Coloured(flag, setting When, env func(string) string, terminal bool) bool {
	switch {
	case flag != Auto:
		return flag == Always
	case env("NO_COLOR") != "":
		return false
	case env("CLICOLOR_FORCE") != "" && env("CLICOLOR_FORCE") != "0":
		return true
	case setting != Auto:
		return setting == Always
	}
	return terminal && env("TERM") != "dumb"
}
