package repo

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/sign"
	"github.com/oxy-vcs/oxy/internal/sync"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// rulesFile says, in a repository's own directory, what pushes to it must keep to. It never travels, and no command writes it.
const rulesFile = "server.toml"

// maxRules bounds it: a list of people for each of a thousand bookmarks.
const maxRules = 1 << 20

// rules are what pushes to a repository must keep to: docs/server.md. The zero rules let everything pass.
type rules struct {
	Hooks   hooks       `toml:"hooks"`
	Signers signers     `toml:"signers"`
	Protect []protected `toml:"protect"`

	policy *sign.Policy // read when first needed
}

// signers say whose signatures count. The person's own settings, whoever that is here, count for nothing.
type signers struct {
	Allowed string `toml:"allowed"`
	Revoked string `toml:"revoked"`
	Anyone  bool   `toml:"anyone"`
}

// protected is what holds for some names.
type protected struct {
	Names  []string `toml:"names"`
	Keep   bool     `toml:"keep"`   // they lose no change, forced or not
	Signed bool     `toml:"signed"` // each change that they come to have is signed by whom the signers allow
	Move   []string `toml:"move"`   // who may move them; left out: all
}

// rules reads the rules. What cannot be read is no leave to push.
func (s *Server) rules(r *Repo) (*rules, error) {
	out, err := r.readRules()
	if err == nil {
		if len(out.Hooks.Before)+len(out.Hooks.After) > 0 && !s.opt.Hooks {
			return nil, &Error{Text: "programs look at pushes to that repository, and only its server runs them: push over ssh or http"}
		}
		return out, nil
	}
	s.tell(err)
	return nil, &Error{Text: "the rules of that repository cannot be used: who runs it has to mend its " + rulesFile, Err: err}
}

func (r *Repo) readRules() (*rules, error) {
	name := filepath.Join(r.dir, rulesFile)
	bad := func(err error) (*rules, error) {
		return nil, &Error{Text: fmt.Sprintf("the rules in %s: %v", name, err), Next: "Mend the file: docs/server.md says what it may hold.", Err: err}
	}
	f, err := r.fs.OpenFile(name, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return &rules{}, nil
	}
	if err != nil {
		return bad(err)
	}
	var st vfs.Stat
	if err := errors.Join(f.Stat(&st), f.Close()); err != nil {
		return bad(err)
	}
	b, err := r.fs.ReadFile(name, maxRules)
	if err != nil {
		return bad(err)
	}
	out, err := parseRules(b)
	if err != nil {
		return bad(err)
	}
	// Whoever can write the file has their programs run by whoever serves.
	if uid := os.Geteuid(); len(out.Hooks.Before)+len(out.Hooks.After) > 0 && uid >= 0 && st.UID != 0 && st.UID != uint32(uid) {
		return bad(errors.New("it names programs, and belongs to somebody else than who serves"))
	}
	return out, nil
}

func parseRules(b []byte) (*rules, error) {
	out := &rules{}
	if err := toml.NewDecoder(bytes.NewReader(b)).DisallowUnknownFields().Decode(out); err != nil {
		if strict := (*toml.StrictMissingError)(nil); errors.As(err, &strict) && len(strict.Errors) > 0 {
			row, _ := strict.Errors[0].Position()
			err = fmt.Errorf("line %d: there is no %s", row, strings.Join(strict.Errors[0].Key(), "."))
		}
		return nil, err
	}
	return out, out.check()
}

func (r *rules) check() error {
	for _, command := range [][]string{r.Hooks.Before, r.Hooks.After} {
		if len(command) > 0 && !filepath.IsAbs(command[0]) {
			return fmt.Errorf("the program %s: give its whole path", safepath.Quote(command[0]))
		}
	}
	for _, name := range []string{r.Signers.Allowed, r.Signers.Revoked} {
		if name != "" && !filepath.IsAbs(name) {
			return fmt.Errorf("the list of keys %s: give its whole path", safepath.Quote(name))
		}
	}
	for i := range r.Protect {
		p := &r.Protect[i]
		if len(p.Names) == 0 {
			return fmt.Errorf("protect %d: it names nothing", i+1)
		}
		if p.Signed && r.Signers.Allowed == "" {
			return errors.New("signed changes are asked for, and signers.allowed does not say by whom")
		}
	}
	if r.Hooks.Time != "" {
		d, err := time.ParseDuration(r.Hooks.Time)
		if err != nil || d <= 0 {
			return fmt.Errorf("hooks.time is %q, and takes a time as 30s or 5m", r.Hooks.Time)
		}
		r.Hooks.time = d
	}
	return nil
}

// against says why a name may not be moved as a push would have it; "" is that it may.
func (r *rules) against(repo *Repo, m *pushedName, caller sync.Caller) (string, error) {
	name := safepath.Quote(m.u.Name)
	signed := false
	for i := range r.Protect {
		p := &r.Protect[i]
		if !safepath.LikeAny(p.Names, m.u.Name) {
			continue
		}
		if p.Move != nil && (caller.Name == "" || !slices.Contains(p.Move, caller.Name)) {
			return name + " is protected there, and not for you to move: push to a bookmark of your own", nil
		}
		if p.Keep && len(m.minus) > 0 {
			return fmt.Sprintf("%s is protected there: it may lose no change, and would lose %d", name, len(m.minus)), nil
		}
		signed = signed || p.Signed
	}
	if !signed {
		return "", nil
	}
	return r.unsigned(repo, m)
}

// unsigned finds a change that a name would come to have and that nobody whom the signers allow has signed.
func (r *rules) unsigned(repo *Repo, m *pushedName) (string, error) {
	if r.policy == nil {
		var err error
		if r.policy, err = repo.policyOf(r.Signers.Allowed, r.Signers.Revoked); err != nil {
			return "", err
		}
		r.policy.AnyPerson = r.Signers.Anyone
	}
	for plus := m.plus; len(plus) > 0; plus = plus[min(len(plus), verifyAtOnce):] {
		now := plus[:min(len(plus), verifyAtOnce)]
		subjects := make([]sign.Subject, len(now))
		for i, n := range now {
			c, err := repo.Info(n)
			if err != nil {
				return "", err
			}
			part, err := repo.partOf(c.ID, c.part)
			if err != nil {
				return "", err
			}
			subjects[i] = sign.Subject{ID: c.ID, Author: c.Author, Time: c.Time, Part: part}
		}
		for _, res := range r.policy.CheckAll(subjects) {
			if res.Verdict != sign.Good {
				return fmt.Sprintf("%s takes signed changes only there, and change %s is %s: sign what you record with: oxy commit --sign", safepath.Quote(m.u.Name), res.Change.Short(), res), nil
			}
		}
	}
	return "", nil
}
