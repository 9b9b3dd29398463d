package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"github.com/oxy-vcs/oxy/internal/bucket"
	"github.com/oxy-vcs/oxy/internal/s3"
	"github.com/oxy-vcs/oxy/internal/sync"
)

// dialBucket opens the way to a repository in object storage, for whom the person's environment and files for S3 say.
func (r *Repo) dialBucket(ctx context.Context, a sync.Address, name string, messages io.Writer) (sync.Peer, error) {
	at, err := s3.Load(r.opt.Env, func(name string) ([]byte, error) { return r.fs.ReadFile(name, maxConfig) })
	if err != nil {
		return nil, err
	}
	c := s3.Config{Bucket: a.Host, Endpoint: a.Bucket.Endpoint, Region: a.Bucket.Region, Credentials: at.Credentials}
	for _, say := range []struct {
		key  string
		in   *string
		last string
	}{{"endpoint", &c.Endpoint, at.Endpoint}, {"region", &c.Region, at.Region}} {
		if *say.in == "" && name != "" {
			if *say.in, _, err = r.ConfigGet("remote." + name + "." + say.key); err != nil {
				return nil, err
			}
		}
		if *say.in == "" {
			*say.in = say.last
		}
	}
	if len(at.Process) > 0 {
		if c.Credentials, err = askForKeys(ctx, at.Process, messages); err != nil {
			return nil, err
		}
	}
	if c.Roots, err = r.bucketRoots(at.Roots); err != nil {
		return nil, err
	}
	// Amazon wants the bucket in the host's name; others mostly have one host.
	c.Virtual = a.Bucket.Style == "virtual" || a.Bucket.Style == "" && c.Endpoint == ""
	client, err := s3.New(c)
	if err != nil {
		return nil, err
	}
	remote := bucket.New(client, a.Path, localStates{r})
	return remote.Dial(ctx, func() error {
		client.Close()
		return nil
	}), nil
}

// askForKeys runs the program that the person's files for S3 name for that.
func askForKeys(ctx context.Context, command []string, messages io.Writer) (s3.Credentials, error) {
	ctx, cancel := context.WithTimeout(ctx, helperTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &limited{w: &out, left: maxHelped}, messages
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	var c s3.Credentials
	if err == nil {
		c, err = s3.ParseProcess(out.Bytes())
	}
	if err != nil {
		return c, &Error{Text: "the program that credential_process names gave no key: " + err.Error(), Next: "See what is the matter with: " + command[0], Err: err}
	}
	return c, nil
}

// bucketRoots reads the certificates to trust, of the file that is named for S3 or else of the one for all.
func (r *Repo) bucketRoots(name string) (roots []byte, err error) {
	if name == "" {
		if name, err = r.personalFile(settingRoots); err != nil || name == "" {
			return nil, err
		}
	}
	if roots, err = r.fs.ReadFile(name, maxRoots); err != nil {
		err = readError("the certificates to trust", err)
	}
	return roots, err
}

// localStates is what a bucket asks of this side.
type localStates struct{ r *Repo }

func (l localStates) States() ([][32]byte, error) {
	v, err := l.r.view()
	if err != nil {
		return nil, err
	}
	var out [][32]byte
	for _, n := range namedStates(v) {
		s, err := l.r.stateRef(n)
		if err != nil {
			return nil, err
		}
		out = append(out, s.ID)
	}
	return out, nil
}

func (l localStates) IDs(id [32]byte) ([]changeID, error) {
	v, err := l.r.view()
	if err != nil {
		return nil, err
	}
	s, ok, err := l.r.stateBy(v, id)
	if err != nil || !ok {
		return nil, cause(err, fmt.Errorf("the state %x is not here", id[:6]))
	}
	var ids []changeID
	for at := s.Num; at != NoState; {
		st, parent, err := l.r.step(at)
		if err != nil {
			return nil, err
		}
		for _, n := range st.Changes {
			ids = append(ids, l.r.store.ChangeID(n))
		}
		at = parent
	}
	return ids, nil
}

// bucketNext says what to do about a fault of a bucket, or "".
func bucketNext(err error) string {
	switch {
	case errors.Is(err, bucket.ErrUncertain):
		return "Push again: what was taken is up to date then."
	case errors.Is(err, bucket.ErrBusy), errors.Is(err, bucket.ErrSlow):
		return "Nothing was taken. Push again."
	case errors.Is(err, bucket.ErrDropped):
		return "Nothing of it was taken. Try again: somebody may have put it together with others meanwhile. If it stays so, the bucket lost it."
	case errors.Is(err, bucket.ErrNoConditions):
		return "Nothing was pushed. Take a store that keeps to If-Match and If-None-Match, or a server of oxy: see docs/server.md."
	case errors.Is(err, bucket.ErrMalformed):
		return "Nothing of it was taken. What lies in the bucket was damaged, or is no oxy's."
	case errors.Is(err, s3.ErrNoBucket):
		return "Check its name, and where it is: s3://BUCKET/PREFIX?endpoint=URL&region=NAME"
	case errors.Is(err, s3.ErrDenied):
		return "Give a key that may in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a profile in AWS_PROFILE."
	}
	return ""
}
