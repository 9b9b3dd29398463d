package s3

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// Credentials are who asks. The zero value is nobody.
type Credentials struct {
	ID     string
	Token  string // of credentials that last for a while only
	secret string
}

// NewCredentials are a key with its secret.
func NewCredentials(id, secret, token string) Credentials { return Credentials{id, token, secret} }

// String tells neither secret nor token.
func (c Credentials) String() string { return "credentials " + c.ID }

// GoString is String: %#v tells no more.
func (c Credentials) GoString() string { return c.String() }

// Settings are what a person's environment and files for S3 say.
type Settings struct {
	Credentials Credentials
	Region      string
	Endpoint    string
	Roots       string   // a file of certificates to trust
	Process     []string // a program that gives credentials, where there are no others
}

// Load reads the usual environment and files: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION, AWS_DEFAULT_REGION,
// AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, AWS_CA_BUNDLE; and of the profile that AWS_PROFILE names, or default, what AWS_SHARED_CREDENTIALS_FILE and
// AWS_CONFIG_FILE have, or ~/.aws/credentials and ~/.aws/config. A variable counts before a file. read gives fs.ErrNotExist for a file that is not there.
func Load(env func(string) string, read func(name string) ([]byte, error)) (Settings, error) {
	var s Settings
	first := func(names ...string) string {
		for _, name := range names {
			if v := env(name); v != "" {
				return v
			}
		}
		return ""
	}
	profile := first("AWS_PROFILE", "AWS_DEFAULT_PROFILE")
	asked := profile != ""
	if !asked {
		profile = "default"
	}
	values := map[string]string{}
	found := false
	for _, f := range []struct{ variable, name, section string }{
		{"AWS_CONFIG_FILE", "config", "profile " + profile}, {"AWS_SHARED_CREDENTIALS_FILE", "credentials", profile},
	} {
		name := env(f.variable)
		if name == "" {
			home := first("HOME", "USERPROFILE")
			if home == "" {
				continue
			}
			name = filepath.Join(home, ".aws", f.name)
		}
		b, err := read(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return s, fmt.Errorf("read %s: %w", name, err)
		}
		if section(string(b), f.section, values) || profile == "default" && section(string(b), profile, values) {
			found = true
		}
	}
	if env("AWS_ACCESS_KEY_ID") != "" {
		s.Credentials = NewCredentials(env("AWS_ACCESS_KEY_ID"), env("AWS_SECRET_ACCESS_KEY"), env("AWS_SESSION_TOKEN"))
	} else {
		if asked && !found {
			return s, fmt.Errorf("there is no profile %q in the files of AWS", plain(profile))
		}
		s.Credentials = NewCredentials(values["aws_access_key_id"], values["aws_secret_access_key"], values["aws_session_token"])
		if s.Credentials.ID == "" {
			s.Process = words(values["credential_process"])
		}
	}
	if s.Roots = env("AWS_CA_BUNDLE"); s.Roots == "" {
		s.Roots = values["ca_bundle"]
	}
	if s.Region = first("AWS_REGION", "AWS_DEFAULT_REGION"); s.Region == "" {
		s.Region = values["region"]
	}
	if s.Endpoint = first("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"); s.Endpoint == "" {
		s.Endpoint = values["endpoint_url"]
	}
	return s, nil
}

// words divides a command line at spaces that are not within double quotes.
func words(line string) (out []string) {
	var word strings.Builder
	quoted, some := false, false
	for _, c := range line {
		switch {
		case c == '"':
			quoted, some = !quoted, true
		case !quoted && (c == ' ' || c == '\t'):
			if some {
				out = append(out, word.String())
				word.Reset()
			}
			some = false
		default:
			word.WriteRune(c)
			some = true
		}
	}
	if some {
		out = append(out, word.String())
	}
	return out
}

// ParseProcess reads what a program that gives credentials prints.
func ParseProcess(b []byte) (Credentials, error) {
	var p struct {
		Version                                    int
		AccessKeyID, SecretAccessKey, SessionToken string
	}
	// Its errors could show what it was read from.
	if err := json.Unmarshal(b, &p); err != nil || p.Version != 1 || p.AccessKeyID == "" || p.SecretAccessKey == "" {
		return Credentials{}, errors.New("it prints no credentials, which are JSON with Version 1, AccessKeyId and SecretAccessKey")
	}
	return NewCredentials(p.AccessKeyID, p.SecretAccessKey, p.SessionToken), nil
}

// section reads the keys of one section of a file of AWS into values, and tells whether it is there. Lines that are moved in belong to the key
// above them, which is none of ours.
func section(text, name string, values map[string]string) bool {
	in, found := false, false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		switch {
		case line == "" || line[0] == '#' || line[0] == ';' || line[0] == ' ' || line[0] == '\t':
		case line[0] == '[':
			head, _, _ := strings.Cut(line[1:], "]")
			in = strings.Join(strings.Fields(head), " ") == name
			found = found || in
		case in:
			if k, v, ok := strings.Cut(line, "="); ok {
				values[strings.ToLower(strings.TrimSpace(k))] = strings.TrimSpace(v)
			}
		}
	}
	return found
}
