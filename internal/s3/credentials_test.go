package s3

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const credentialsFile = `
# the usual one
[default]
aws_access_key_id = one
aws_secret_access_key = secret/one=

[other]
aws_access_key_id=two
AWS_SECRET_ACCESS_KEY = secret two
aws_session_token = token two
; and one without a key
[empty]
`

const configFile = `[default]
region = eu-west-1
s3 =
    endpoint_url = http://nested.example
[profile other]
region=eu-west-2
endpoint_url = http://other.example
[other]
region = nowhere
[profile  spaced ]
aws_access_key_id = three
aws_secret_access_key = secret three
`

func TestLoad(t *testing.T) {
	home := filepath.FromSlash("/home/ada")
	files := map[string]string{filepath.Join(home, ".aws", "credentials"): credentialsFile, filepath.Join(home, ".aws", "config"): configFile,
		"elsewhere": "[default]\naws_access_key_id = four\naws_secret_access_key = secret four\n"}
	for _, c := range []struct {
		env  string
		want string // id, secret, token, region, endpoint
	}{
		{"", "one secret/one= - eu-west-1 -"},
		{"AWS_PROFILE=other", "two secret two token two eu-west-2 http://other.example"},
		{"AWS_DEFAULT_PROFILE=other AWS_REGION=here", "two secret two token two here http://other.example"},
		{"AWS_PROFILE=spaced", "three secret three - - -"},
		{"AWS_PROFILE=empty", "- - - - -"},
		{"AWS_PROFILE=missing", "no profile"},
		{"AWS_PROFILE=missing AWS_ACCESS_KEY_ID=a AWS_SECRET_ACCESS_KEY=b", "a b - - -"},
		{"AWS_ACCESS_KEY_ID=a AWS_SECRET_ACCESS_KEY=b AWS_SESSION_TOKEN=c", "a b c eu-west-1 -"},
		{"AWS_DEFAULT_REGION=x AWS_ENDPOINT_URL=http://a AWS_ENDPOINT_URL_S3=http://b", "one secret/one= - x http://b"},
		{"AWS_SHARED_CREDENTIALS_FILE=elsewhere AWS_CONFIG_FILE=nowhere", "four secret four - - -"},
		{"HOME=", "- - - - -"},
	} {
		env := map[string]string{"HOME": home}
		for _, kv := range strings.Fields(c.env) {
			k, v, _ := strings.Cut(kv, "=")
			env[k] = v
		}
		s, err := Load(func(k string) string { return env[k] }, func(name string) ([]byte, error) {
			b, ok := files[name]
			if !ok {
				return nil, fs.ErrNotExist
			}
			return []byte(b), nil
		})
		got := "no profile"
		if err == nil {
			var parts []string
			for _, p := range []string{s.Credentials.ID, s.Credentials.secret, s.Credentials.Token, s.Region, s.Endpoint} {
				if p == "" {
					p = "-"
				}
				parts = append(parts, p)
			}
			got = strings.Join(parts, " ")
		}
		if got != c.want {
			t.Errorf("%s:\n%s\n%s", c.env, got, c.want)
		}
	}
	_, err := Load(func(string) string { return "x" }, func(string) ([]byte, error) { return nil, errors.New("it may not be read") })
	if err == nil || !strings.Contains(err.Error(), "may not be read") {
		t.Error(err)
	}
}

// TestSecretsAreNotTold: what goes into a log by mistake has no secret in it.
func TestSecretsAreNotTold(t *testing.T) {
	c := NewCredentials("ada", "engine", "token")
	for _, s := range []string{fmt.Sprint(c), fmt.Sprintf("%+v", c), fmt.Sprintf("%#v", c), fmt.Sprint(Settings{Credentials: c}), fmt.Sprintf("%+v", &Settings{Credentials: c})} {
		if strings.Contains(s, "engine") || strings.Contains(s, "token") {
			t.Error(s)
		}
	}
}

func TestCredentialProcess(t *testing.T) {
	file := "[default]\ncredential_process = \"/opt/my tools/keys\"  --profile \"\" a\"b c\"d\n"
	s, err := Load(func(k string) string { return map[string]string{"HOME": "/h", "AWS_CA_BUNDLE": "ca.pem"}[k] }, func(string) ([]byte, error) { return []byte(file), nil })
	if err != nil || !slices.Equal(s.Process, []string{"/opt/my tools/keys", "--profile", "", "ab cd"}) || s.Roots != "ca.pem" {
		t.Errorf("%q %v", s.Process, err)
	}
	c, err := ParseProcess([]byte(`{"Version": 1, "AccessKeyId": "a", "SecretAccessKey": "b", "SessionToken": "c", "Expiration": "2030-01-01T00:00:00Z"}`))
	if err != nil || c != NewCredentials("a", "b", "c") {
		t.Error(err)
	}
	for _, bad := range []string{"", "{}", `{"Version": 2, "AccessKeyId": "a", "SecretAccessKey": "b"}`, `{"Version": 1, "AccessKeyId": "a"}`, `{"Version":1,"AccessKeyId":"a","SecretAccessKey":"secret`} {
		if _, err := ParseProcess([]byte(bad)); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
