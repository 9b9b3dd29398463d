package serve

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"

	"github.com/oxy-vcs/oxy/internal/safepath"
	csync "github.com/oxy-vcs/oxy/internal/sync"
)

// MaxAccess bounds an access file: some ten thousand people.
const MaxAccess = 4 << 20

// maxKnown bounds how many passwords that were right are remembered: bcrypt costs 60 ms, and a clone asks several times.
const maxKnown = 1024

// Access says who may do what. It does not change: a file that was edited is read anew.
type Access struct {
	people []*Person
	anyone *Person // without showing anything; nil: nobody
	decoy  string  // what a password is held against where there is no such person: the answer shall take as long

	mu    sync.Mutex
	key   []byte                        // of what is remembered; of this process only
	known map[[sha256.Size]byte]*Person // passwords that were right
}

// Person is whom a token or a password belongs to, and what they may.
type Person struct {
	Name     string
	tokens   [][sha256.Size]byte
	password string
	read     []string
	write    []string
	move     []string // nil: all
}

// accessFile is how the file is written: docs/server.md.
type accessFile struct {
	People map[string]*rights `toml:"people"`
	Anyone *rights            `toml:"anyone"`
}

type rights struct {
	Tokens   []string `toml:"tokens"`
	Password string   `toml:"password"`
	Read     []string `toml:"read"`
	Write    []string `toml:"write"`
	Move     []string `toml:"move"`
}

// ParseAccess reads an access file. A key that it does not know is an error: a slip must not give a right, nor take one.
func ParseAccess(b []byte) (*Access, error) {
	if len(b) > MaxAccess {
		return nil, fmt.Errorf("it is larger than %d bytes", MaxAccess)
	}
	var f accessFile
	d := toml.NewDecoder(bytes.NewReader(b)).DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		if strict := (*toml.StrictMissingError)(nil); errors.As(err, &strict) && len(strict.Errors) > 0 {
			row, _ := strict.Errors[0].Position()
			return nil, fmt.Errorf("line %d: there is no %s", row, strings.Join(strict.Errors[0].Key(), "."))
		}
		if bad := (*toml.DecodeError)(nil); errors.As(err, &bad) {
			row, _ := bad.Position()
			return nil, fmt.Errorf("line %d: %w", row, err)
		}
		return nil, err
	}
	a := newAccess()
	for name, r := range f.People {
		p, err := newPerson(name, r)
		if err != nil {
			return nil, fmt.Errorf("people.%s: %w", name, err)
		}
		a.people = append(a.people, p)
	}
	if f.Anyone != nil {
		if len(f.Anyone.Tokens) > 0 || f.Anyone.Password != "" {
			return nil, errors.New("anyone: whoever shows nothing has no token and no password")
		}
		a.anyone = &Person{read: f.Anyone.Read, write: f.Anyone.Write, move: f.Anyone.Move}
	}
	slices.SortFunc(a.people, func(x, y *Person) int { return strings.Compare(x.Name, y.Name) })
	return a, nil
}

func newAccess() *Access {
	a := &Access{key: make([]byte, 32), known: map[[sha256.Size]byte]*Person{}}
	_, _ = rand.Read(a.key) // never fails
	return a
}

func newPerson(name string, r *rights) (*Person, error) {
	if name == "" || len(name) > 100 || strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c == ':' || c == 0x7f }) {
		return nil, errors.New("the name is empty, too long, or has a space, a colon or a control character")
	}
	p := &Person{Name: name, password: r.Password, read: r.Read, write: r.Write, move: r.Move}
	for _, kept := range r.Tokens {
		sum, err := parseToken(kept)
		if err != nil {
			return nil, err
		}
		p.tokens = append(p.tokens, sum)
	}
	if r.Password != "" {
		if err := checkKept(r.Password); err != nil {
			return nil, err
		}
	}
	if len(p.tokens) == 0 && r.Password == "" {
		return nil, errors.New("there is neither a token nor a password")
	}
	return p, nil
}

// OneToken lets whoever shows a token do everything, and nobody else anything.
func OneToken(token string) *Access {
	a := newAccess()
	sum, _ := parseToken(keptToken(token)) // of its own making
	a.people = []*Person{{Name: "token", tokens: [][sha256.Size]byte{sum}, read: []string{"*"}, write: []string{"*"}}}
	return a
}

// Everybody lets everyone do everything.
func Everybody() *Access {
	a := newAccess()
	a.anyone = &Person{read: []string{"*"}, write: []string{"*"}}
	return a
}

// Token finds whose token was shown. Every one is looked at, so that the time tells nothing.
func (a *Access) Token(shown string) *Person {
	if len(shown) > maxSecret {
		return nil
	}
	sum := sha256.Sum256([]byte(shown))
	var found *Person
	for _, p := range a.people {
		for i := range p.tokens {
			if sameToken(&p.tokens[i], &sum) {
				found = p
			}
		}
	}
	return found
}

// Password finds a person by name and password.
func (a *Access) Password(name, shown string) *Person {
	if len(shown) > MaxPassword {
		return nil
	}
	mac := hmac.New(sha256.New, a.key)
	fmt.Fprintf(mac, "%d %s%s", len(name), name, shown)
	sum := [sha256.Size]byte(mac.Sum(nil))
	a.mu.Lock()
	p := a.known[sum]
	a.mu.Unlock()
	if p != nil {
		return p
	}
	kept := ""
	if i, ok := slices.BinarySearchFunc(a.people, name, func(p *Person, name string) int { return strings.Compare(p.Name, name) }); ok {
		p = a.people[i]
		kept = p.password
	}
	if kept == "" {
		samePassword(a.unlike(), shown)
		return nil
	}
	if !samePassword(kept, shown) {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.known) < maxKnown {
		a.known[sum] = p
	}
	return p
}

// unlike is what is kept of a password that nobody has. It is made when first needed: that takes a try's time.
func (a *Access) unlike() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.decoy == "" {
		b := make([]byte, 24)
		_, _ = rand.Read(b)
		a.decoy, _ = KeptPassword(fmt.Sprintf("%x", b))
	}
	return a.decoy
}

// Person finds somebody by name: of a way in that made sure of it itself, as ssh.
func (a *Access) Person(name string) *Person {
	for _, p := range a.people {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// MayRead tells whether a person may read a repository; nil is whoever showed nothing.
func (a *Access) MayRead(p *Person, repository string) bool {
	if p != nil && (safepath.LikeAny(p.read, repository) || safepath.LikeAny(p.write, repository)) {
		return true
	}
	return a.anyone != nil && (safepath.LikeAny(a.anyone.read, repository) || safepath.LikeAny(a.anyone.write, repository))
}

// Caller is a person as who serves a repository knows them.
func (a *Access) Caller(p *Person, repository, from string) csync.Caller {
	c := csync.Caller{From: from}
	if p != nil {
		c.Name = p.Name
	} else {
		p = a.anyone
	}
	if p == nil {
		return c
	}
	c.Push = safepath.LikeAny(p.write, repository)
	if p.move != nil {
		c.Move = func(name string) bool { return safepath.LikeAny(p.move, name) }
	}
	return c
}

// hasPasswords tells whether there is any: else what is shown as one need not be tried.
func (a *Access) hasPasswords() bool {
	return slices.ContainsFunc(a.people, func(p *Person) bool { return p.password != "" })
}

// People tells how many there are.
func (a *Access) People() int { return len(a.people) }
