package repo

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/sign"
)

// Signing says whether a command signs the changes that it makes.
type Signing uint8

// Whether to sign.
const (
	SignAsSet  Signing = iota // as the setting sign.commits says, what has the person's own email
	SignAlways                // also what others wrote
	SignNever
)

// The settings of signatures count only in a person's own file: a repository, which may come from anybody, must choose neither
// keys nor whom to trust.
const (
	settingSignCommits = "sign.commits" // true: sign each change that one makes
	settingSignKey     = "sign.key"     // the key's file, private or public
	settingSignAllowed = "sign.allowed" // the allowed_signers file
	settingSignRevoked = "sign.revoked" // a list of revoked keys
	settingSignAnyone  = "sign.anyone"  // true: whoever is allowed may sign for any author
)

// personalSetting gives a setting that only a person's own file may have: see namesProgram.
func (r *Repo) personalSetting(key string) (string, error) {
	v, _, err := r.ConfigGet(key)
	return strings.TrimSpace(v), err
}

// personalFile is a setting that names a file: from the home where it begins with ~/, else as it stands, and then absolute.
func (r *Repo) personalFile(key string) (string, error) {
	name, err := r.personalSetting(key)
	if err != nil || name == "" {
		return "", err
	}
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		name = filepath.Join(r.opt.Env("HOME"), rest)
	}
	if !filepath.IsAbs(name) {
		return "", &Error{Text: fmt.Sprintf("the setting %s names %q, from nowhere in particular", key, name), Next: "Give the whole path: oxy config --user " + key + " ~/NAME"}
	}
	return name, nil
}

// openSigner finds the person's key. The key given goes before the setting.
func (r *Repo) openSigner(key string) (sign.Signer, error) {
	if key == "" && r.signer != nil {
		return r.signer, nil
	}
	name := key
	if name == "" {
		var err error
		if name, err = r.personalFile(settingSignKey); err != nil {
			return nil, err
		}
	}
	if name == "" {
		return nil, &Error{Text: "nothing says which key to sign with", Next: "Say it in your own settings: oxy config --user sign.key ~/.ssh/id_ed25519"}
	}
	src := sign.Source{FS: r.fs, Agent: r.opt.Env("SSH_AUTH_SOCK"), Keygen: sign.Keygen{Stderr: r.opt.Err}, Ask: r.opt.Passphrase}
	s, err := src.Open(name)
	if err != nil {
		return nil, &Error{Text: "cannot sign: " + err.Error(), Next: "See whether ssh-keygen -Y sign can use that key, or give it to your agent with: ssh-add " + name, Err: err}
	}
	r.signer = s
	return s, nil
}

// signsBySetting tells whether the person has all changes signed.
func (r *Repo) signsBySetting() (bool, error) {
	v, err := r.personalSetting(settingSignCommits)
	switch {
	case err != nil:
		return false, err
	case v == "" || v == "false":
		return false, nil
	case v == "true":
		return true, nil
	}
	return false, &Error{Text: fmt.Sprintf("the setting %s is %q", settingSignCommits, v), Next: "It takes true or false."}
}

// readyToSign opens the key before the lock is taken, so that nobody waits while a passphrase is typed.
func (r *Repo) readyToSign(s Signing) error {
	by := s == SignAlways
	var err error
	if s == SignAsSet {
		if by, err = r.signsBySetting(); err != nil {
			return err
		}
	}
	if by {
		_, err = r.openSigner("")
	}
	return err
}

// signatureOf signs a change of this transaction if it is to be signed, and gives its unhashed part.
func (t *tx) signatureOf(id change.ID, author *change.Person) ([]byte, error) {
	r := t.r
	if t.sign == SignAsSet {
		by, err := r.signsBySetting()
		if err != nil || !by {
			return nil, err
		}
		// What one makes anew of others' changes stays theirs: by default nobody's signature but theirs counts there.
		if me, err := r.author(&CommitOptions{}); err != nil || me.Email != author.Email {
			return nil, nil
		}
	} else if t.sign == SignNever {
		return nil, nil
	}
	s, err := r.openSigner("")
	if err != nil {
		return nil, err
	}
	e, err := sign.Change(s, id)
	if err != nil {
		return nil, &Error{Text: "cannot sign: " + err.Error(), Next: "Nothing was recorded. Record without a signature with: oxy commit --no-sign", Err: err}
	}
	return sign.EncodePart([]sign.Entry{e})
}

// PolicyOptions say otherwise than the settings whom to trust.
type PolicyOptions struct {
	Allowed string    // the allowed_signers file; "": the setting's
	Revoked string    // the list of revoked keys; "": the setting's
	Anyone  bool      // whoever is allowed may sign for any author
	At      time.Time // when keys must be good; zero: at each change's own time
}

// Policy reads whom a person trusts. Without any list nobody is.
func (r *Repo) Policy(o PolicyOptions) (*sign.Policy, error) {
	p := &sign.Policy{AnyPerson: o.Anyone, At: o.At}
	if !o.Anyone {
		v, err := r.personalSetting(settingSignAnyone)
		if err != nil {
			return nil, err
		}
		p.AnyPerson = v == "true"
	}
	file := func(given, key string) (string, error) {
		if given != "" {
			return given, nil
		}
		return r.personalFile(key)
	}
	allowed, err := file(o.Allowed, settingSignAllowed)
	if err != nil {
		return nil, err
	}
	revoked, err := file(o.Revoked, settingSignRevoked)
	if err != nil {
		return nil, err
	}
	lists, err := r.policyOf(allowed, revoked)
	if err != nil {
		return nil, err
	}
	p.Allowed, p.Revoked = lists.Allowed, lists.Revoked
	return p, nil
}

// policyOf reads lists of keys; "" is none.
func (r *Repo) policyOf(allowed, revoked string) (*sign.Policy, error) {
	read := func(name string) ([]byte, error) {
		b, err := r.fs.ReadFile(name, sign.MaxSigners)
		if err != nil {
			return nil, readError("the list of keys in "+name, err)
		}
		return b, nil
	}
	p := &sign.Policy{}
	if allowed != "" {
		b, err := read(allowed)
		if err != nil {
			return nil, err
		}
		if p.Allowed, err = sign.ParseAllowed(b, time.Local); err != nil {
			return nil, &Error{Text: "the list of allowed signers: " + err.Error(), Err: err}
		}
	}
	if revoked != "" {
		b, err := read(revoked)
		if err != nil {
			return nil, err
		}
		if p.Revoked, err = sign.ParseRevocations(b); err != nil {
			return nil, &Error{Text: "the list of revoked keys: " + err.Error(), Next: "Mend it: a line passed over would leave a stolen key trusted.", Err: err}
		}
	}
	return p, nil
}

// Signed judges a change's signatures by the person's settings. false: it has none, and nothing was read.
func (r *Repo) Signed(c *ChangeInfo) (sign.Result, bool, error) {
	part, err := r.partOf(c.ID, c.part)
	if err != nil || len(part) == 0 {
		return sign.Result{}, false, err
	}
	if r.policy == nil {
		if r.policy, err = r.Policy(PolicyOptions{}); err != nil {
			return sign.Result{}, false, err
		}
	}
	return r.policy.Check(&sign.Subject{ID: c.ID, Author: c.Author, Time: c.Time, Part: part}), true, nil
}

// SignResult is what Sign did with one change.
type SignResult struct {
	ID      change.ID
	Key     string // the fingerprint
	Already bool   // it had this very signature
}

// Sign signs changes by their numbers, with the person's key or another one, in one operation.
func (r *Repo) Sign(changes []uint32, key string) ([]SignResult, error) {
	s, err := r.openSigner(key)
	if err != nil {
		return nil, err
	}
	// Before the lock: a person may have to touch a device for each.
	out := make([]SignResult, 0, len(changes))
	add := map[change.ID][]sign.Entry{}
	for _, n := range changes {
		c, err := r.Info(n)
		if err != nil {
			return nil, err
		}
		e, err := sign.Change(s, c.ID)
		if err != nil {
			return nil, &Error{Text: "cannot sign: " + err.Error(), Err: err}
		}
		part, err := r.partOf(c.ID, c.part)
		if err != nil {
			return nil, err
		}
		old, err := sign.DecodePart(part)
		if err != nil {
			return nil, &Error{Text: fmt.Sprintf("the signatures that change %s has cannot be read", c.ID.Short()), Next: "Look for damage with: oxy fsck", Err: err}
		}
		merged := sign.MergeParts(old, []sign.Entry{e})
		already := len(merged) == len(old)
		if already && len(old) >= sign.MaxSignatures {
			return nil, &Error{Text: fmt.Sprintf("change %s has %d signatures, the most that one can have", c.ID.Short(), len(old))}
		}
		if !already {
			add[c.ID] = []sign.Entry{e}
		}
		out = append(out, SignResult{c.ID, sign.Fingerprint(s.Key()), already})
	}
	if len(add) == 0 {
		return out, nil
	}
	_, err = transact(r, func(t *tx) (struct{}, error) {
		if err := t.addSignatures(add); err != nil {
			return struct{}{}, err
		}
		return struct{}{}, t.commit("sign")
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Verified is a change and what a policy says of it.
type Verified struct {
	Info   *ChangeInfo
	Result sign.Result
}

// verifyAtOnce is how many changes are judged together: what they hold is in memory at a time.
const verifyAtOnce = 4096

// Verify judges the changes of a state, latest first, without those that another state has, if one is given. fn is called
// for each.
func (r *Repo) Verify(of StateRef, without *StateRef, p *sign.Policy, fn func(*Verified) error) (sign.Summary, error) {
	var sum sign.Summary
	numbers, err := r.changesBeyond(of, without)
	if err != nil {
		return sum, err
	}
	for len(numbers) > 0 {
		now := numbers[:min(len(numbers), verifyAtOnce)]
		numbers = numbers[len(now):]
		infos, subjects := make([]*ChangeInfo, len(now)), make([]sign.Subject, len(now))
		for i, n := range now {
			if infos[i], err = r.Info(n); err != nil {
				return sum, err
			}
			part, err := r.partOf(infos[i].ID, infos[i].part)
			if err != nil {
				return sum, err
			}
			// Nothing is believed that the id does not cover.
			if err := r.proveID(n, infos[i]); err != nil {
				return sum, err
			}
			subjects[i] = sign.Subject{ID: infos[i].ID, Author: infos[i].Author, Time: infos[i].Time, Part: part}
		}
		for i, res := range p.CheckAll(subjects) {
			sum[res.Verdict]++
			if err := fn(&Verified{infos[i], res}); err != nil {
				return sum, err
			}
		}
	}
	return sum, nil
}

// proveID proves that a change's id is that of what stands under it: a repository from elsewhere may show another author.
func (r *Repo) proveID(n uint32, c *ChangeInfo) error {
	rec, err := r.store.Change(n)
	if err != nil {
		return storeError(err)
	}
	if change.Sum(rec.Meta, rec.Body) != c.ID {
		return &Error{Text: fmt.Sprintf("change %s is not what its id says", c.ID.Short()), Next: "Look for damage with: oxy fsck", Err: errors.New("another hash")}
	}
	return nil
}

// changesBeyond lists the changes of a state that another has not, latest first.
func (r *Repo) changesBeyond(of StateRef, without *StateRef) ([]uint32, error) {
	set, err := r.setOf(of.Num)
	if err != nil {
		return nil, err
	}
	if without != nil {
		not, err := r.setOf(without.Num)
		if err != nil {
			return nil, err
		}
		set = set.Minus(not)
	}
	out := make([]uint32, 0, set.Len())
	for n := range set.Down() {
		out = append(out, n)
	}
	return out, nil
}
