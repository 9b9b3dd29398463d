package sync

import "context"

// Caller is who asks, as far as the way in made sure of it.
type Caller struct {
	Name string                 // "": nobody was asked for a name
	From string                 // where from, for hooks and logs; "" of this machine
	Push bool                   // may push at all
	Move func(name string) bool // which bookmarks and tags a push may move; nil: all
}

type callerKey struct{}

// WithCaller says to a Handler who asks.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf tells who asks: anybody who may do all that the file system lets them where the way in did not ask.
func CallerOf(ctx context.Context) Caller {
	if c, ok := ctx.Value(callerKey{}).(Caller); ok {
		return c
	}
	return Caller{Push: true}
}
