package store

import "context"

// Counts are how many statements the transactions of a context ran, how many bytes of values these were
// given, how many rows they read, and how often they waited for an answer of the database.
type Counts struct{ Statements, Bytes, Rows, Trips int }

func (c *Counts) countStatement(args []any) {
	c.Statements++
	for _, arg := range args {
		switch value := arg.(type) {
		case string:
			c.Bytes += len(value)
		case []byte:
			c.Bytes += len(value)
		}
	}
}

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
