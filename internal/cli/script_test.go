package cli

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the stories run the real command: this test binary, started again under the name oxy.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"oxy": func() {
			os.Exit(Main(os.Args[1:], Stdio{os.Stdin, os.Stdout, os.Stderr}, Env{Get: os.Getenv, Dir: os.Getwd, Version: "1.2.3"}))
		},
	})
}

// TestStories runs testdata/script. Beside testscript's own, a story has these commands:
//
//	code N oxy …     the command ends with exit code N
//	field PATH WANT  the last output is JSON, and has WANT, with Go's escapes, at PATH: `files.0.what`, `files.count` for how many
//	lines N          the last output has N lines
//	keep VAR REGEX   puts what REGEX's group finds in the last output into $VAR
//	put NAME TEXT    writes a file; both may have Go's escapes
//	executable NAME  NAME has the executable bit
//	link NAME TARGET NAME is a symbolic link to TARGET
//	is NAME TEXT     the file has just this content, with Go's escapes
//	record MESSAGE … oxy commit -m MESSAGE …, a minute after the last in a story, so that ids are the same in each run
//	await URL       waits until a server answers there
//	certificate NAME  makes a certificate for this machine that vouches for itself, NAME.pem, and NAME.key
func TestStories(t *testing.T) {
	if dir := memoryDir(t); dir != "" && os.Getenv("GOTMPDIR") == "" {
		t.Setenv("GOTMPDIR", dir) // where testscript makes the stories' directories
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireUniqueNames:  true,
		Setup:               home,
		Condition:           condition,
		Cmds:                storyCommands,
		ContinueOnError:     false,
		RequireExplicitExec: false,
		UpdateScripts:       *update, // what `cmp` holds output against
	})
}

// memoryDir is a directory in memory, "" where there is none that runs programs. The stories wait for the disk in nearly every
// command, and say nothing about what a disk keeps: in memory they take less than half the time.
func memoryDir(t *testing.T) string {
	const memory = "/dev/shm"
	dir, err := os.MkdirTemp(memory, "oxy-stories")
	if err != nil {
		return ""
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	program := filepath.Join(dir, "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o777); err != nil || exec.Command(program).Run() != nil {
		return ""
	}
	return dir
}

func home(e *testscript.Env) error {
	e.Setenv("OXY_NAME", "Ada Lovelace")
	e.Setenv("OXY_EMAIL", "ada@example.org")
	e.Setenv("TZ", "UTC")
	e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
	e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, "home", ".config"))
	e.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	l, err := net.Listen("tcp", "127.0.0.1:0") // a port that is free, for a story with a server
	if err != nil {
		return err
	}
	e.Setenv("SERVER", l.Addr().String())
	if err := l.Close(); err != nil {
		return err
	}
	return os.MkdirAll(filepath.Join(e.WorkDir, "home"), 0o777)
}

func condition(name string) (bool, error) {
	if name == "root" { // who may read and write everything
		return os.Geteuid() == 0, nil
	}
	return false, errors.New("unknown condition")
}

var storyCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"code":       storyCode,
	"field":      storyField,
	"lines":      storyLines,
	"keep":       storyKeep,
	"put":        storyPut,
	"executable": storyExecutable,
	"link":       storyLink,
	"is":         storyIs,
	"record":     storyRecord,
	"await":      storyAwait,
	"store":      storyStore,

	"certificate": storyCertificate,
}

func storyCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N COMMAND")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

func storyField(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: field PATH WANT")
	}
	var v any
	d := json.NewDecoder(strings.NewReader(ts.ReadFile("stdout")))
	d.UseNumber()
	ts.Check(d.Decode(&v))
	for _, step := range strings.Split(args[0], ".") {
		switch at := v.(type) {
		case map[string]any:
			if step == "count" {
				v = json.Number(strconv.Itoa(len(at)))
			} else {
				v = at[step]
			}
		case []any:
			if step == "count" {
				v = json.Number(strconv.Itoa(len(at)))
				break
			}
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(at) {
				ts.Fatalf("no %s in a list of %d", step, len(at))
			}
			v = at[i]
		case string:
			if step != "count" {
				ts.Fatalf("a text has no %s", step)
			}
			v = json.Number(strconv.Itoa(len(at)))
		default:
			ts.Fatalf("%v has no %s", v, step)
		}
	}
	got, isText := v.(string)
	if !isText {
		b, err := json.Marshal(v)
		ts.Check(err)
		got = string(b)
	}
	if (got == unescape(ts, args[1])) == neg {
		ts.Fatalf("%s is %s, not what is wanted: %s", args[0], got, args[1])
	}
}

func storyLines(ts *testscript.TestScript, neg bool, args []string) {
	if n := strconv.Itoa(strings.Count(ts.ReadFile("stdout"), "\n")); len(args) != 1 || (n == args[0]) == neg {
		ts.Fatalf("%s lines", n)
	}
}

func storyKeep(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: keep VAR REGEX")
	}
	re, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	m := re.FindStringSubmatch(ts.ReadFile("stdout"))
	if len(m) < 2 {
		ts.Fatalf("%s finds nothing", args[1])
	}
	ts.Setenv(args[0], m[1])
}

func unescape(ts *testscript.TestScript, s string) string {
	out, err := strconv.Unquote(`"` + strings.ReplaceAll(s, `"`, `\"`) + `"`)
	ts.Check(err)
	return out
}

func storyPut(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: put NAME TEXT")
	}
	name := ts.MkAbs(unescape(ts, args[0]))
	ts.Check(os.MkdirAll(filepath.Dir(name), 0o777))
	ts.Check(os.WriteFile(name, []byte(unescape(ts, args[1])), 0o666))
}

func storyExecutable(ts *testscript.TestScript, neg bool, args []string) {
	info, err := os.Lstat(ts.MkAbs(args[0]))
	ts.Check(err)
	if (info.Mode()&0o100 != 0) == neg {
		ts.Fatalf("%s has mode %v", args[0], info.Mode())
	}
}

func storyLink(ts *testscript.TestScript, neg bool, args []string) {
	target, err := os.Readlink(ts.MkAbs(args[0]))
	if neg {
		if err == nil {
			ts.Fatalf("%s is a link to %s", args[0], target)
		}
		return
	}
	ts.Check(err)
	if target != args[1] {
		ts.Fatalf("%s is a link to %s", args[0], target)
	}
}

func storyIs(ts *testscript.TestScript, neg bool, args []string) {
	b, err := os.ReadFile(ts.MkAbs(unescape(ts, args[0])))
	ts.Check(err)
	if (string(b) == unescape(ts, args[1])) == neg {
		ts.Fatalf("%s holds %q", args[0], b)
	}
}

func storyRecord(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: record MESSAGE [ARGS]")
	}
	minute, _ := strconv.Atoi(ts.Getenv("MINUTE"))
	ts.Setenv("MINUTE", strconv.Itoa(minute+1))
	date := time.Date(2026, 5, 31, 12, minute, 0, 0, time.UTC).Format(time.RFC3339)
	ts.Check(ts.Exec("oxy", append([]string{"commit", "-m", args[0], "--date", date}, args[1:]...)...))
}

// storyAwait asks a server until it answers.
func storyAwait(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await URL")
	}
	// Whoever it is: a story looks at the certificate, if it wants to.
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	for range 500 {
		reply, err := client.Get(args[0])
		if err == nil {
			reply.Body.Close()
			if reply.StatusCode == http.StatusOK {
				return
			}
		}
		time.Sleep(10 * time.Millisecond) // the server is another process: there is nothing else to wait for
	}
	ts.Fatalf("nothing answers at %s", args[0])
}

// storyCertificate makes a certificate for this machine.
func storyCertificate(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: certificate NAME")
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ts.Check(err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	ts.Check(err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".key"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
}
