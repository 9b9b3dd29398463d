package ui

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// layouts are the dates that ParseDate reads beside the relative ones. Those without a zone are local.
var layouts = [...]string{
	time.RFC3339, "2006-01-02 15:04:05 -0700", "2006-01-02T15:04:05-0700", "2006-01-02 15:04 -0700",
	"Mon, 2 Jan 2006 15:04:05 -0700", "Mon Jan 2 15:04:05 2006 -0700",
	"2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02",
}

// ParseDate reads what a person writes for a moment: a date, `@SECONDS`, `now`, `yesterday`, `2 weeks ago`, `3d`.
func ParseDate(s string, now time.Time) (time.Time, error) {
	s = strings.TrimSpace(s)
	for _, layout := range layouts {
		if t, err := time.ParseInLocation(layout, s, now.Location()); err == nil {
			return t, nil
		}
	}
	if t, ok := parseSeconds(s, now.Location()); ok {
		return t, nil
	}
	if t, ok := parseAgo(strings.ToLower(s), now); ok {
		return t, nil
	}
	return time.Time{}, fmt.Errorf("%q is not a date: write 2026-05-31, 2026-05-31 14:00, yesterday or 2 weeks ago", s)
}

// parseSeconds reads `@1700000000` and `@1700000000 +0100`, as Git writes them.
func parseSeconds(s string, zone *time.Location) (time.Time, bool) {
	digits, offset, zoned := strings.Cut(strings.TrimPrefix(s, "@"), " ")
	sec, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || !zoned && !strings.HasPrefix(s, "@") {
		return time.Time{}, false
	}
	if zoned {
		t, err := time.Parse("-0700", strings.TrimSpace(offset))
		if err != nil {
			return time.Time{}, false
		}
		zone = t.Location()
	}
	return time.Unix(sec, 0).In(zone), true
}

// parseAgo reads `yesterday`, `2 weeks ago`, `2.weeks`, `2w`.
func parseAgo(s string, now time.Time) (time.Time, bool) {
	switch s {
	case "now", "today":
		return now, true
	case "yesterday":
		return now.AddDate(0, 0, -1), true
	}
	s = strings.TrimSpace(strings.TrimSuffix(s, "ago"))
	digits := 0
	for digits < len(s) && s[digits] >= '0' && s[digits] <= '9' {
		digits++
	}
	n, err := strconv.Atoi(s[:digits])
	unit := strings.Trim(s[digits:], " .")
	if digits == 0 {
		word, rest, _ := strings.Cut(s, " ")
		if word != "a" && word != "an" && word != "last" {
			return time.Time{}, false
		}
		n, err, unit = 1, nil, rest
	}
	if err != nil || n > 1e6 { // a million of anything is before writing
		return time.Time{}, false
	}
	if len(unit) > 2 {
		unit = strings.TrimSuffix(unit, "s")
	}
	switch unit {
	case "s", "sec", "second":
		return now.Add(-time.Duration(n) * time.Second), true
	case "min", "minute":
		return now.Add(-time.Duration(n) * time.Minute), true
	case "h", "hour":
		return now.Add(-time.Duration(n) * time.Hour), true
	case "d", "day":
		return now.AddDate(0, 0, -n), true
	case "w", "week":
		return now.AddDate(0, 0, -7*n), true
	case "m", "month":
		return now.AddDate(0, -n, 0), true
	case "y", "year":
		return now.AddDate(-n, 0, 0), true
	}
	return time.Time{}, false
}

// In is the moment in the zone it was told in, minutes east of UTC.
func In(sec int64, zone int16) time.Time {
	return time.Unix(sec, 0).In(time.FixedZone("", int(zone)*60))
}

// AppendDate appends a moment as `2026-05-31 14:00:05 +0200`.
func AppendDate(dst []byte, sec int64, zone int16) []byte {
	return In(sec, zone).AppendFormat(dst, "2006-01-02 15:04:05 -0700")
}

// Ago tells how long before now a moment was, in the one unit that says most.
func Ago(sec int64, now time.Time) string {
	d := now.Unix() - sec
	switch {
	case d < 0:
		return "in the future"
	case d < 5:
		return "just now"
	case d < 90:
		return count(d, "second")
	case d < 90*60:
		return count((d+30)/60, "minute")
	case d < 36*3600:
		return count((d+1800)/3600, "hour")
	case d < 14*86400:
		return count((d+43200)/86400, "day")
	case d < 70*86400:
		return count((d+7*43200)/(7*86400), "week")
	case d < 730*86400:
		return count((d+15*86400)/(30*86400), "month")
	}
	return count((d+182*86400)/(365*86400), "year")
}

func count(n int64, unit string) string {
	if n == 1 {
		return "1 " + unit + " ago"
	}
	return strconv.FormatInt(n, 10) + " " + unit + "s ago"
}
