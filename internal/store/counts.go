package store

import "context"

// Counts are how many statements the transactions of a context ran, and how many rows they read.
type Counts struct{ Statements, Rows int }

type countsKey struct{}

// WithCounts returns a context whose transactions are counted, those that run again too. One
// goroutine at a time may use it.
func WithCounts(ctx context.Context, c *Counts) context.Context {
	return context.WithValue(ctx, countsKey{}, c)
}

// countsOf returns the counts of a context, or new ones that are not read.
func countsOf(ctx context.Context) *Counts {
	if c, ok := ctx.Value(countsKey{}).(*Counts); ok {
		return c
	}
	return &Counts{}
}
