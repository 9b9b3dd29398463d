package s3

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"time"
)

// sign puts a signature of version 4 on a request, whose body has the given hash. Without credentials it stays anonymous.
func sign(r *http.Request, c Credentials, region, bodyHash string, now time.Time) {
	stamp := now.UTC().Format("20060102T150405Z")
	r.Header.Set("X-Amz-Content-Sha256", bodyHash)
	r.Header.Set("X-Amz-Date", stamp)
	if c.ID == "" {
		return
	}
	if c.Token != "" {
		r.Header.Set("X-Amz-Security-Token", c.Token)
	}
	// Conditions and ranges are signed too: nobody on the way can take them off.
	names := []string{"host"}
	for name := range r.Header {
		if lower := strings.ToLower(name); strings.HasPrefix(lower, "x-amz-") || lower == "range" || lower == "if-match" || lower == "if-none-match" {
			names = append(names, lower)
		}
	}
	slices.Sort(names)
	var b strings.Builder
	b.WriteString(r.Method + "\n" + r.URL.EscapedPath() + "\n" + canonicalQuery(r.URL.RawQuery) + "\n")
	for _, name := range names {
		value := r.Header.Get(name)
		if name == "host" {
			value = r.URL.Host
		}
		b.WriteString(name + ":" + strings.TrimSpace(value) + "\n")
	}
	signed := strings.Join(names, ";")
	b.WriteString("\n" + signed + "\n" + bodyHash)
	sum := sha256.Sum256([]byte(b.String()))

	scope := stamp[:8] + "/" + region + "/s3/aws4_request"
	key := mac([]byte("AWS4"+c.secret), stamp[:8])
	for _, part := range []string{region, "s3", "aws4_request"} {
		key = mac(key, part)
	}
	signature := mac(key, "AWS4-HMAC-SHA256\n"+stamp+"\n"+scope+"\n"+hex.EncodeToString(sum[:]))
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+c.ID+"/"+scope+",SignedHeaders="+signed+",Signature="+hex.EncodeToString(signature))
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	_, _ = h.Write([]byte(text)) // a hash never fails
	return h.Sum(nil)
}

// canonicalQuery sorts a query; a name without a value gets an empty one.
func canonicalQuery(raw string) string {
	if raw == "" {
		return ""
	}
	parts := strings.Split(raw, "&")
	for i, p := range parts {
		if !strings.Contains(p, "=") {
			parts[i] = p + "="
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, "&")
}

// escape encodes all but what never needs it, in the one way that signatures are made of.
func escape(s string, path bool) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0 || path && c == '/' {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', digits[c>>4], digits[c&15]})
		}
	}
	return b.String()
}
