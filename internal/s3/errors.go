package s3

import (
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// What callers tell apart, for errors.Is.
var (
	// ErrNotFound: there is no such object.
	ErrNotFound = errors.New("there is no such object")
	// ErrNoBucket: there is no such bucket.
	ErrNoBucket = errors.New("there is no such bucket")
	// ErrCondition: the object is not, or no longer, the one that a write was to replace.
	ErrCondition = errors.New("the object was replaced meanwhile")
	// ErrDenied: whoever asks may not.
	ErrDenied = errors.New("it is not allowed")
	// ErrTooLarge: an object is larger than it may be.
	ErrTooLarge = errors.New("an object is too large")
)

// Error is a refusal in the store's own words.
type Error struct {
	Status  int
	Code    string
	Message string

	conditional bool
	region      string // where the bucket is, if the store says so
	after       time.Duration
}

func (e *Error) Error() string {
	if e.region != "" && (e.Status/100 == 3 || e.Code == "AuthorizationHeaderMalformed") {
		return "the bucket is in the region " + e.region
	}
	if e.Code == "" {
		return fmt.Sprintf("the store says %d %s", e.Status, http.StatusText(e.Status))
	}
	return strings.TrimSpace(fmt.Sprintf("the store says %s: %s", e.Code, e.Message))
}

// Is puts the store's codes into the few classes that callers tell apart.
func (e *Error) Is(target error) bool {
	switch target {
	case ErrCondition:
		// A missing object that was to be replaced is a 404 at some, a 412 at others; 409 is a write at the same time.
		return e.conditional && e.Code != "NoSuchBucket" && (e.Status == 404 || e.Status == 409 || e.Status == 412)
	case ErrNoBucket:
		return e.Code == "NoSuchBucket"
	case ErrNotFound:
		return e.Status == 404 && e.Code != "NoSuchBucket"
	case ErrDenied:
		return e.Status == 401 || e.Status == 403
	}
	return false
}

// again tells whether the same may go well later.
func (e *Error) again() bool {
	switch e.Code {
	case "SlowDown", "RequestTimeout", "InternalError", "ServiceUnavailable", "ThrottlingException", "RequestTimeTooSkewed", "IncompleteBody", "BadDigest":
		return e.Code != "RequestTimeTooSkewed"
	}
	switch e.Status {
	case 408, 429, 500, 502, 503, 504:
		return true
	}
	return false
}

func readError(page []byte) (code, message string) {
	var e struct {
		Code, Message string
	}
	if xml.Unmarshal(page, &e) != nil {
		return "", ""
	}
	return plain(e.Code), plain(e.Message)
}

// plain makes what a store says fit for a terminal: one line, not long.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	if r := []rune(s); len(r) > maxText {
		s = string(r[:maxText]) + "…"
	}
	return strings.TrimSpace(s)
}
