package jsonrpc

import (
	"cmp"
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

// A Side is one of the two programs from a relay's view. Read must be called by one goroutine;
// Write is safe for concurrent use. A *Peer is a Side.
type Side interface {
	Read() ([]byte, error)
	Write(message []byte) error
}

// A Relay reads the messages of two programs until one of them ends. It is used for one Run.
type Relay struct {
	// Client is the program that uses the other one, Server.
	Client, Server Side
	// HangUp tells the server that the client has ended; it may be nil.
	HangUp func()

	// ctx ends with the first side that ends: from then on nothing is allowed.
	ctx  context.Context //nolint:containedctx // Run's context, for the work that it started
	end  context.CancelCauseFunc
	work sync.WaitGroup
}

// parting is how long the programs may take to end, once one of them has.
const parting = 3 * time.Second

// errClientEnded means that the client no longer needs the server.
var errClientEnded = errors.New("the client has ended")

// Begin prepares for Run, whose context ends with ctx.
func (r *Relay) Begin(ctx context.Context) { r.ctx, r.end = context.WithCancelCause(ctx) }

// Run passes each line of the two programs to a function until one of them ends, or a function
// returns an error. The error is nil when the client has ended, and io.EOF when the server has.
func (r *Relay) Run(fromClient, fromServer func(line []byte) error) error {
	serverEnded := make(chan struct{})
	go func() { r.end(cmp.Or(readAll(r.Client, fromClient), errClientEnded)) }()
	go func() {
		r.end(cmp.Or(readAll(r.Server, fromServer), io.EOF))
		close(serverEnded)
	}()
	<-r.ctx.Done()
	if r.HangUp != nil {
		r.HangUp()
	}
	within(parting, func() { <-serverEnded })
	within(parting, r.work.Wait)
	if err := context.Cause(r.ctx); !errors.Is(err, errClientEnded) {
		return err
	}
	return nil
}

// Context ends with the first program that ends.
func (r *Relay) Context() context.Context { return r.ctx }

// Over reports whether a program has ended; calls must then no longer be allowed.
func (r *Relay) Over() bool { return r.ctx.Err() != nil }

// Go runs work in the background, with a context that stop ends. An error ends the relay.
func (r *Relay) Go(work func(ctx context.Context) error) (stop context.CancelCauseFunc) {
	ctx, stop := context.WithCancelCause(r.ctx)
	r.work.Go(func() {
		defer stop(nil)
		if err := work(ctx); err != nil {
			r.end(err)
		}
	})
	return stop
}

// readAll forwards the lines of one program until it ends, and then returns nil.
func readAll(side Side, forward func([]byte) error) error {
	for {
		line, err := side.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := forward(line); err != nil {
			return err
		}
	}
}

// within runs do, and waits for it no longer than limit.
func within(limit time.Duration, do func()) {
	done := make(chan struct{})
	go func() {
		do()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(limit):
	}
}
