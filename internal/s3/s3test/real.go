// Package s3test starts a real server of object storage for tests, where there is one to start.
package s3test

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// ID and Secret are the key of whoever may.
const (
	ID     = "ada"
	Secret = "engine/no+1"
	Region = "eu-central-1"
)

// Real starts versitygw, a server that keeps objects as files, with the directories in dir as its buckets. It is what OXY_S3_SERVER names, or is in the PATH or in
// the repository's bin/tools, where `make s3-server` puts it. Without one the test is passed over.
func Real(t testing.TB, dir string) string {
	t.Helper()
	program := os.Getenv("OXY_S3_SERVER")
	for _, name := range []string{"versitygw", filepath.FromSlash("../../bin/tools/versitygw")} {
		if path, err := exec.LookPath(name); program == "" && err == nil {
			program = path
		}
	}
	if program == "" {
		t.Skip("there is no versitygw: make s3-server")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") // a port that is free
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--port", at, "--region", Region, "--quiet", "posix", dir)
	cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY_ID="+ID, "ROOT_SECRET_ACCESS_KEY="+Secret)
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	for range 1000 {
		if reply, err := http.Get("http://" + at); err == nil {
			reply.Body.Close()
			return "http://" + at
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("%s: %v\n%s", program, err, said.String())
		case <-time.After(10 * time.Millisecond): // the server is another process: there is nothing else to wait for
		}
	}
	t.Fatalf("%s does not answer", program)
	return ""
}
