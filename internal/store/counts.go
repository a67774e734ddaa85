package store

import "context"

// Counts are the number of statements run by the transactions of a context, the bytes of
// their arguments, the rows they read, and the round trips to the database.
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

// WithCounts returns a context whose transactions are counted, including reruns. Only one
// goroutine may use it at a time.
func WithCounts(ctx context.Context, c *Counts) context.Context {
	return context.WithValue(ctx, countsKey{}, c)
}

// countsOf returns the counts of a context, or counts to be discarded.
func countsOf(ctx context.Context) *Counts {
	if c, ok := ctx.Value(countsKey{}).(*Counts); ok {
		return c
	}
	return &Counts{}
}
