package safepath

import (
	"strings"
	"unicode/utf8"
)

// CheckPortable is Check and refuses too, as ErrNotPortable, what Windows cannot hold. On Windows it is the gate; elsewhere
// it is for warnings.
func CheckPortable(path string) error {
	if err := Check(path); err != nil {
		return err
	}
	for name := range strings.SplitSeq(path, "/") {
		if !portable(name) {
			return refuse(path, ErrNotPortable)
		}
	}
	return nil
}

func portable(name string) bool {
	for i := range len(name) {
		if c := name[i]; c < 0x20 || strings.IndexByte(`<>:"|?*\`, c) >= 0 {
			return false
		}
	}
	if last := name[len(name)-1]; last == '.' || last == ' ' {
		return false
	}
	// Windows keeps names in UTF-16.
	return utf8.ValidString(name) && !isDevice(name)
}

// isDevice tells whether Windows opens a device under name, which it does whatever the extension: "aux.c".
func isDevice(name string) bool {
	stem, _, _ := strings.Cut(name, ".")
	stem = strings.TrimRight(stem, " ")
	if len(stem) < 3 || len(stem) > 7 {
		return false
	}
	switch stem = strings.ToUpper(stem); stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	if !strings.HasPrefix(stem, "COM") && !strings.HasPrefix(stem, "LPT") {
		return false
	}
	switch number := stem[3:]; number {
	case "¹", "²", "³": // Latin-1 digits count too
		return true
	default:
		return len(number) == 1 && number[0] >= '0' && number[0] <= '9'
	}
}
