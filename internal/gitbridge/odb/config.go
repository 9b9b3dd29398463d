package odb

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// Config is what of a repository's configuration says how it must be read.
type Config struct {
	Format    object.Format
	Reftable  bool // refs are in a reftable
	Partial   bool // objects may be left with a remote
	Bare      bool
	Worktrees bool // worktrees have configurations of their own
	Shallow   bool // the parents of some commits were never fetched
	Grafts    bool // an old file gives commits other parents; it is not heeded
}

// readConfig reads the few settings that matter from a repository's config. Included files are not looked at: Git does
// not take these settings from there either when it tells whether it can read the repository.
func readConfig(fsys vfs.FS, name string) (Config, error) {
	b, err := fsys.ReadFile(name, maxSmallFile)
	if errors.Is(err, fs.ErrNotExist) {
		return Config{}, nil
	}
	if err != nil {
		return Config{}, err
	}
	return parseConfig(string(b))
}

func parseConfig(text string) (c Config, err error) {
	version, section := "0", ""
	extensions := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			var after string
			section, after, _ = strings.Cut(line[1:], "]")
			section = strings.ToLower(strings.TrimSpace(section))
			line = strings.TrimSpace(after)
		}
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		key, value, has := strings.Cut(line, "=")
		key = strings.ToLower(strings.TrimSpace(key))
		value = plainValue(value)
		if !has {
			value = "true"
		}
		switch {
		case section == "core" && key == "repositoryformatversion":
			version = value
		case section == "core" && key == "bare":
			c.Bare = isTrue(value)
		case section == "extensions":
			extensions[key] = value
		}
	}
	// Version 0 has no extensions, but Git heeds these few that older ones wrote there.
	if version != "0" && version != "1" {
		return c, fmt.Errorf("%w: format version %.40q", ErrUnsupported, version)
	}
	for key, value := range extensions {
		switch key {
		case "noop", "noop-v1", "preciousobjects", "relativeworktrees":
		case "partialclone":
			c.Partial = true
		case "worktreeconfig":
			c.Worktrees = isTrue(value)
		case "objectformat":
			switch strings.ToLower(value) {
			case "sha1":
			case "sha256":
				c.Format = object.SHA256
			default:
				return c, fmt.Errorf("%w: object format %.40q", ErrUnsupported, value)
			}
		case "compatobjectformat":
			// Names under a second hash; the repository reads without them.
		case "refstorage":
			switch strings.ToLower(value) {
			case "files":
			case "reftable":
				c.Reftable = true
			default:
				return c, fmt.Errorf("%w: refs stored as %.40q", ErrUnsupported, value)
			}
		default:
			if version == "1" {
				return c, fmt.Errorf("%w: %.40q", ErrUnsupported, key)
			}
		}
	}
	return c, nil
}

// plainValue takes comments and quotes away. The settings read here are words.
func plainValue(s string) string {
	if i := strings.IndexAny(s, "#;"); i >= 0 {
		s = s[:i]
	}
	return strings.Trim(strings.TrimSpace(s), `"`)
}

func isTrue(s string) bool {
	switch strings.ToLower(s) {
	case "true", "yes", "on", "1":
		return true
	}
	return false
}
