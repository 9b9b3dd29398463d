package cli

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

var update = flag.Bool("update", false, "write docs/commands.md anew")

const reference = "../../docs/commands.md"

// TestCommandReference keeps docs/commands.md what the commands' own help says.
func TestCommandReference(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("# Commands\n\nMade of the commands' own help: `go test ./internal/cli -run TestCommandReference -update`.\n")
	root := newRoot(newApp(nil, Stdio{}, Env{Get: func(string) string { return "" }}))
	writeReference(&b, root)
	if *update {
		if err := os.WriteFile(reference, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	old, err := os.ReadFile(reference)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(old, b.Bytes()) {
		t.Errorf("%s is not what the help says; run this test with -update", reference)
	}
}

func writeReference(b *bytes.Buffer, c *cobra.Command) {
	var help bytes.Buffer
	c.SetOut(&help)
	c.InitDefaultHelpFlag()
	c.Help()
	fmt.Fprintf(b, "\n## %s\n\n```text\n%s\n```\n", c.CommandPath(), strings.TrimSpace(help.String()))
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			writeReference(b, sub)
		}
	}
}

// TestEveryVerbHasAnExample and says in its own words what it is for.
func TestEveryVerbHasAnExample(t *testing.T) {
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		if c.Example == "" || c.Short == "" {
			t.Errorf("%s has no example or no summary", c.CommandPath())
		}
		for _, sub := range c.Commands() {
			check(sub)
		}
	}
	check(newRoot(newApp(nil, Stdio{}, Env{Get: func(string) string { return "" }})))
}

// TestEveryVerbHasItsJSONDocumented holds docs/json.md against the verbs.
func TestEveryVerbHasItsJSONDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		if c.Runnable() && c.Parent() != nil && c.Name() != "help" && !c.HasSubCommands() {
			if heading := "\n### " + strings.TrimPrefix(c.CommandPath(), "oxy "); !bytes.Contains(page, []byte(heading)) {
				t.Errorf("docs/json.md has no section%q", heading)
			}
		}
		for _, sub := range c.Commands() {
			check(sub)
		}
	}
	check(newRoot(newApp(nil, Stdio{}, Env{Get: func(string) string { return "" }})))
}
