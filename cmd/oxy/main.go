// Command oxy is a distributed version control system. All of it is in internal/cli.
package main

import (
	"os"

	"github.com/oxy-vcs/oxy/internal/cli"
)

// version is set by the build: -ldflags "-X main.version=1.2.3".
var version string

func main() {
	os.Exit(cli.Main(os.Args[1:], cli.Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, cli.Env{
		Get: os.Getenv, Dir: os.Getwd, Version: version, Exits: true,
	}))
}
