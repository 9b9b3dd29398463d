package bridge

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/revlog"
)

// keptRefs is the key under which a view keeps what was last seen of Mercurial's names.
const keptRefs = "hg refs"

var errKept = errors.New("what was kept of Mercurial's names is damaged")

// named is a bookmark or tag that is to be.
type named struct {
	tag  bool
	name string // as it is here
	node revlog.Node
	from string // what it is there, for people
}

// place names a bookmark or tag here.
type place struct {
	tag  bool
	name string
}

// loadSeen reads what was last kept: lines "bookmark" or "tag", node, name.
func loadSeen(r *repo.Repo) (map[place]revlog.Node, error) {
	b, err := r.Kept(keptRefs)
	if err != nil {
		return nil, err
	}
	return decodeSeen(b)
}

func decodeSeen(b []byte) (map[place]revlog.Node, error) {
	seen := map[place]revlog.Node{}
	for line := range bytes.Lines(b) {
		words := strings.SplitN(strings.TrimSuffix(string(line), "\n"), " ", 3)
		if len(words) != 3 || words[0] != "bookmark" && words[0] != "tag" {
			return nil, errKept
		}
		node, err := revlog.ParseNode(words[1])
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errKept, err)
		}
		seen[place{words[0] == "tag", words[2]}] = node
	}
	return seen, nil
}

// encodeSeen is what decodeSeen reads.
func encodeSeen(seen map[place]revlog.Node) []byte {
	var lines []string
	for p, node := range seen {
		kind := "bookmark "
		if p.tag {
			kind = "tag "
		}
		lines = append(lines, kind+node.String()+" "+p.name+"\n")
	}
	slices.Sort(lines)
	return []byte(strings.Join(lines, ""))
}

// clean makes a name that a bookmark may have of one that Mercurial lets it have, so that the same gives the same.
func clean(name string) string {
	if safepath.CheckBookmark(name) == nil {
		return name
	}
	s := strings.ToValidUTF8(name, "-")
	s = strings.Map(func(r rune) rune {
		if safepath.CheckBookmark("a"+string(r)+"a") != nil {
			if r == '/' {
				return r
			}
			return '-'
		}
		return r
	}, s)
	parts := strings.Split(s, "/")
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
	for i, p := range parts {
		p = strings.TrimLeft(p, ".")
		p = strings.TrimRight(p, ".")
		for strings.Contains(p, "..") {
			p = strings.ReplaceAll(p, "..", ".")
		}
		p = strings.ReplaceAll(p, "@{", "@-")
		if p == "" || strings.HasSuffix(p, ".lock") {
			p += "-"
		}
		parts[i] = p
	}
	s = strings.Join(parts, "/")
	for len(s) > safepath.MaxBookmark {
		_, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
	}
	if safepath.CheckBookmark(s) != nil {
		s = "hg-" + s
	}
	for len(s) > safepath.MaxBookmark || safepath.CheckBookmark(s) != nil && len(s) > len("hg-") {
		_, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
	}
	if safepath.CheckBookmark(s) != nil {
		return "hg"
	}
	return s
}

// shortNode is how many digits of a node tell names apart.
const shortNode = 12

// list is what bookmarks and tags are to be: Mercurial's bookmarks, the heads of its branches, its tags.
func (in *importer) list() ([]named, error) {
	var all []named
	taken := map[place]revlog.Node{}
	add := func(tag bool, name string, node revlog.Node, from string) {
		if _, ok := in.known[node]; !ok {
			in.leave(from, fmt.Errorf("its changeset %s was left out", node))
			return
		}
		n := named{tag: tag, name: clean(name), node: node, from: from}
		if other, is := taken[place{tag, n.name}]; is {
			if other == node {
				return
			}
			n.name = clean(n.name[:min(len(n.name), safepath.MaxBookmark-shortNode-1)] + "-" + node.String()[:shortNode])
		}
		if _, is := taken[place{tag, n.name}]; is {
			in.leave(from, fmt.Errorf("another is named %s already", n.name))
			return
		}
		taken[place{tag, n.name}] = node
		all = append(all, n)
	}
	bookmarks, err := in.hg.Bookmarks()
	if err != nil {
		return nil, err
	}
	marked := map[revlog.Node]bool{}
	for _, b := range bookmarks {
		marked[b.Node] = true
		add(false, b.Name, b.Node, "bookmark "+safepath.Quote(b.Name))
	}
	child := make([]bool, len(in.sets))
	for i := range in.sets {
		if in.sets[i].out {
			continue
		}
		for _, p := range in.sets[i].parents() {
			child[p] = true
		}
	}
	heads := in.heads()
	for _, branch := range slices.Sorted(maps.Keys(heads)) {
		first := true
		for _, open := range []bool{true, false} {
			for _, rev := range heads[branch] {
				s := &in.sets[rev]
				if s.closes == open || !open && child[rev] {
					continue // a closed head that something stands upon is not lost without a name
				}
				name, from := branch, "branch "+safepath.Quote(branch)
				switch {
				case !open:
					name = "closed/" + branch
				case !first && marked[s.node]:
					continue
				case !first:
					name = clean(branch) + "-" + s.node.String()[:shortNode]
				}
				first = first && !open
				add(false, name, s.node, from)
			}
		}
	}
	tags, err := in.hg.Tags()
	if err != nil {
		return nil, err
	}
	for _, t := range tags {
		add(true, t.Name, t.Node, "tag "+safepath.Quote(t.Name))
	}
	return all, nil
}

// names moves bookmarks and tags to where Mercurial's are, and keeps what it saw.
func (in *importer) names(r *repo.Repo) error {
	was, err := loadSeen(r)
	lost := repo.Lost(err)
	if lost { // to damage: taken as it is there now
		was = map[place]revlog.Node{}
	} else if err != nil {
		return err
	}
	all, err := in.list()
	if err != nil {
		return err
	}
	now := map[place]revlog.Node{}
	for i := range all {
		n := &all[i]
		now[place{n.tag, n.name}] = n.node
		in.follow(was, n)
	}
	for _, p := range slices.SortedFunc(maps.Keys(was), func(a, b place) int { return strings.Compare(a.name, b.name) }) {
		if _, still := now[p]; !still {
			in.drop(p, was[p])
		}
	}
	if err := in.subrepos(); err != nil {
		return err
	}
	b := encodeSeen(now)
	if !lost && bytes.Equal(b, encodeSeen(was)) {
		return nil
	}
	return in.im.Keep(keptRefs, b)
}

func (in *importer) those(tag bool) map[string]uint32 {
	if tag {
		return in.im.View().Tags
	}
	return in.im.View().Bookmarks
}

// follow moves a bookmark or tag to where Mercurial has it, unless it was moved here since the last import.
func (in *importer) follow(was map[place]revlog.Node, n *named) {
	names, state := in.those(n.tag), in.known[n.node]
	if n.tag {
		in.rep.Tags++
	} else {
		in.rep.Bookmarks++
	}
	at, exists := names[n.name]
	if exists && at == state {
		return
	}
	last, had := was[place{n.tag, n.name}]
	lastState, there := in.known[last]
	had = had && there
	name := n.name
	if exists && !(had && lastState == at) {
		if had && lastState == state {
			return // it moved here, and not there
		}
		name = "hg/" + name
		in.leave(n.from, fmt.Errorf("%s was moved here too: what Mercurial has is %s, to be merged", n.name, name))
	}
	names[name] = state
	in.rep.Moved = append(in.rep.Moved, name)
	in.let(n.tag, name)
}

// drop removes a bookmark or tag that is gone in Mercurial, unless it was moved here.
func (in *importer) drop(p place, node revlog.Node) {
	names := in.those(p.tag)
	at, exists := names[p.name]
	if state, there := in.known[node]; !exists || !there || state != at {
		return
	}
	delete(names, p.name)
	in.rep.Moved = append(in.rep.Moved, p.name)
	in.let(p.tag, p.name)
}

// let has the working copy stand where it does by itself when its bookmark goes elsewhere.
func (in *importer) let(tag bool, name string) {
	if v := in.im.View(); !tag && v.Current == name {
		v.Current = ""
		if v.Base < 0 {
			return // the report says how to begin
		}
		in.leave("the working copy", fmt.Errorf("it stays where it is; go along with: oxy checkout %s", name))
	}
}

// subrepos lists those of the heads.
func (in *importer) subrepos() error {
	heads, err := in.hg.Heads()
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, rev := range heads {
		if in.sets[rev].out {
			continue
		}
		subs, err := in.hg.Subrepos(in.sets[rev].manifest)
		if err != nil {
			in.leave(fmt.Sprintf("subrepositories of %s", in.sets[rev].node), err)
			continue
		}
		for _, s := range subs {
			if !seen[s.Path] {
				seen[s.Path] = true
				in.rep.Subrepos = append(in.rep.Subrepos, s)
			}
		}
	}
	return nil
}
