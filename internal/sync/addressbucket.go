package sync

import (
	"net/url"
	"strings"
)

// Place is what an address of a bucket may say of where it is, each "" if it says nothing.
type Place struct {
	Endpoint string // http or https
	Region   string
	Style    string // path or virtual: where a request has the bucket's name
}

// maxPrefix leaves room for the names of objects in the 1024 bytes that a store allows.
const maxPrefix = 512

// parseBucket reads what follows s3://.
func parseBucket(s string) (a Address, why string) {
	a.Scheme = S3
	s, query, _ := strings.Cut(s, "?")
	a.Host, a.Path, _ = strings.Cut(s, "/")
	a.Path = strings.TrimSuffix(a.Path, "/")
	switch {
	case strings.ContainsAny(a.Host, "@:"):
		return a, "it has a key in it: give that in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
	case a.Host == "" || len(a.Host) > 255:
		return a, "it has no bucket"
	case len(a.Path) > maxPrefix:
		return a, "its prefix is too long"
	case strings.ContainsAny(a.Path, `%#\`):
		return a, `its prefix has a %, # or \`
	}
	for i := range len(a.Host) {
		if c := a.Host[i]; !(isLetter(c) || c >= '0' && c <= '9' || c == '_' || i > 0 && (c == '.' || c == '-')) {
			return a, "its bucket has a character that no bucket has"
		}
	}
	if a.Path != "" {
		for part := range strings.SplitSeq(a.Path, "/") {
			if part == "" || part == "." || part == ".." {
				return a, "its prefix has a part that is empty or dots"
			}
		}
	}
	return a, a.Bucket.parse(query)
}

func (p *Place) parse(query string) string {
	values, err := url.ParseQuery(query)
	if err != nil {
		return "what follows its ? cannot be read"
	}
	for k, v := range values {
		if len(v) != 1 || v[0] == "" {
			return "it says " + clean([]byte(k)) + " twice, or nothing of it"
		}
		switch k {
		case "endpoint":
			u, err := url.Parse(v[0])
			if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
				return "its endpoint is no http or https address"
			}
			p.Endpoint = strings.TrimSuffix(v[0], "/")
		case "region":
			for i := range len(v[0]) {
				if c := v[0][i]; !(isLetter(c) || c >= '0' && c <= '9' || c == '-' || c == '_') {
					return "its region has a character that no region has"
				}
			}
			p.Region = v[0]
		case "style":
			if v[0] != "path" && v[0] != "virtual" {
				return "its style is neither path nor virtual"
			}
			p.Style = v[0]
		default:
			return "of a bucket it can say endpoint, region and style"
		}
	}
	return ""
}

func (a Address) bucketString() string {
	s := "s3://" + a.Host
	if a.Path != "" {
		s += "/" + a.Path
	}
	sep := "?"
	for _, kv := range [][2]string{{"endpoint", a.Bucket.Endpoint}, {"region", a.Bucket.Region}, {"style", a.Bucket.Style}} {
		if kv[1] != "" {
			s += sep + kv[0] + "=" + kv[1]
			sep = "&"
		}
	}
	return s
}
