package repo

import (
	"context"
	"fmt"
	"testing"
)

// BenchmarkReword gives the first of 300 changes, each of which depends on the one before, another message.
func BenchmarkReword(b *testing.B) {
	w := born(b)
	w.commit(b, "first")
	for i := range 300 {
		put(b, w.mem, "a", lines(0, 10)+fmt.Sprint("step ", i, "\n")+lines(11, 30))
		w.commit(b, fmt.Sprint(i))
	}
	n := 0
	for b.Loop() {
		n++
		w.with(b, func(r *Repo) error {
			_, err := r.Reword(context.Background(), "main~299", RewriteOptions{Message: fmt.Sprint("said ", n)})
			return err
		})
	}
}
