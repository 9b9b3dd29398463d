package history

import (
	"errors"
	"fmt"

	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
	"github.com/oxy-vcs/oxy/internal/gitbridge/odb"
)

// ErrTagDepth is a tag of a tag of a tag, and so on.
var ErrTagDepth = errors.New("tags of tags are nested too deep")

// maxTagDepth bounds tags of tags; anybody's own are two at most.
const maxTagDepth = 64

// Peel follows tags from what a ref names. It gives their ids, the first one first, and what they lead to: a commit
// that Walk takes for a tip, or a tree or blob that somebody tagged.
func Peel(r *odb.Reader, f object.Format, id object.ID) (tags []object.ID, to object.ID, kind object.Kind, err error) {
	for to = id; ; {
		kind, raw, err := r.View(to)
		if err != nil || kind != object.TagKind {
			return tags, to, kind, err
		}
		if len(tags) == maxTagDepth {
			return tags, to, kind, fmt.Errorf("tag %s: %w", id, ErrTagDepth)
		}
		tags = append(tags, to)
		tag, err := object.ParseTag(f, raw)
		if err != nil {
			return tags, to, kind, fmt.Errorf("tag %s: %w", to, err)
		}
		to = tag.Object
	}
}
