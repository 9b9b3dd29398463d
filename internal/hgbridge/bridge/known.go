// Package bridge brings Mercurial's history into a repository of oxy's, and proves that it is there to the last byte
// (docs/spec/hg.md). It alone of the Mercurial bridge's packages knows oxy's repositories.
package bridge

import (
	"fmt"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/revlog"
)

// The fields of a change that was a changeset. All but the first two are kept only where they do not follow from the rest.
const (
	fieldNode     = "hg.node"     // the changeset's node, as bytes
	fieldParents  = "hg.parents"  // the nodes of its parents, one after the other, without null ones
	fieldUser     = "hg.user"     // the user as written
	fieldDate     = "hg.date"     // time and zone as written
	fieldExtra    = "hg.extra"    // further fields as written: branch, close, source, …
	fieldTouched  = "hg.touched"  // the list of paths as written
	fieldFiles    = "hg.files"    // see record
	fieldManifest = "hg.manifest" // the manifest's parents; nothing for the null manifest; a single node that is taken on trust
	fieldText     = "hg.text"     // the changeset's text, where it is not what its parts make
)

// known tells which changesets are in a repository, and which states they lead to.
type known map[revlog.Node]uint32

// loadKnown reads from the changes which of them were changesets.
func loadKnown(r *repo.Repo) (known, error) {
	k := known{}
	err := r.EachRecorded(0, func(s uint32, c *change.Change) error {
		v, ok := field(c.Extra, fieldNode)
		if !ok {
			return nil
		}
		nodes, err := parseNodes(v)
		if err != nil || len(nodes) != 1 {
			return fmt.Errorf("change with malformed %s", fieldNode)
		}
		k[nodes[0]] = s
		return nil
	})
	return k, err
}

func field(fields []change.Field, key string) (string, bool) {
	for _, f := range fields {
		if f.Key == key {
			return f.Value, true
		}
	}
	return "", false
}

// parseNodes reads nodes that stand one after the other.
func parseNodes(s string) ([]revlog.Node, error) {
	var nodes []revlog.Node
	for ; s != ""; s = s[len(revlog.Node{}):] {
		if len(s) < len(revlog.Node{}) {
			return nil, errField
		}
		nodes = append(nodes, revlog.Node([]byte(s[:len(revlog.Node{})])))
	}
	return nodes, nil
}
