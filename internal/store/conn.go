package store

import (
	"context"
	"database/sql"
	"errors"
	"strconv"

	"github.com/umpirehq/umpire/internal/files/lazyregexp"
)

// A conn is one connection with its prepared statements. Only one goroutine may use it at
// a time.
type conn struct {
	*sql.Conn

	dialect  *Dialect
	prepared map[string]*prepared
}

// A prepared statement has one unnamed parameter for each occurrence in the text, because
// drivers look names up, and treat numbers as names.
type prepared struct {
	*sql.Stmt

	places []int // the parameter's number for each occurrence, from 0
}

// parameters matches the parameters in statements.
var parameters = lazyregexp.Regexp{Text: `\$[0-9]+`}

// args returns the arguments for the occurrences.
func (p *prepared) args(args []any) []any {
	placed := make([]any, len(p.places))
	for i, n := range p.places {
		placed[i] = args[n]
	}
	return placed
}

func newConn(ctx context.Context, db *sql.DB, d *Dialect) (*conn, error) {
	c, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, dialect: d, prepared: map[string]*prepared{}}, nil
}

func (c *conn) exec(ctx context.Context, query string, args []any) (sql.Result, error) {
	if !c.dialect.Prepare {
		return c.ExecContext(ctx, query, args...)
	}
	s, err := c.stmt(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.ExecContext(ctx, s.args(args)...)
}

func (c *conn) query(ctx context.Context, query string, args []any) (*sql.Rows, error) {
	if !c.dialect.Prepare {
		return c.QueryContext(ctx, query, args...)
	}
	s, err := c.stmt(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(ctx, s.args(args)...)
}

// stmt prepares a statement once. Statements are constants, so their number is bounded by
// the source.
func (c *conn) stmt(ctx context.Context, query string) (*prepared, error) {
	if p, ok := c.prepared[query]; ok {
		return p, nil
	}
	p := &prepared{}
	text := parameters.Get().ReplaceAllStringFunc(query, func(parameter string) string {
		n, err := strconv.Atoi(parameter[1:])
		if err != nil {
			panic(err) // only digits match
		}
		p.places = append(p.places, n-1)
		return "?"
	})
	var err error
	if p.Stmt, err = c.PrepareContext(ctx, text); err != nil {
		return nil, err
	}
	c.prepared[query] = p
	return p, nil
}

// sendAll runs statements in one round trip.
func (c *conn) sendAll(ctx context.Context, all []Statement) (results []Result, err error) {
	broken := c.Raw(func(driver any) error {
		results, err = driver.(pipeline).Send(ctx, all) //nolint:forcetypeassert // the dialect says so
		return nil
	})
	return results, errors.Join(err, broken)
}

// run executes a statement without parameters.
func (c *conn) run(ctx context.Context, query string) error {
	_, err := c.exec(ctx, query, nil)
	return err
}

func (c *conn) close() error { return errors.Join(c.forget(), c.Conn.Close()) }

// forget closes the statements. They must be closed before their connection, because the
// driver still uses it.
func (c *conn) forget() error {
	var errs []error
	for _, s := range c.prepared {
		errs = append(errs, s.Close())
	}
	clear(c.prepared)
	return errors.Join(errs...)
}

// drop closes a connection for good, because the pool must not lend it again.
func (c *conn) drop() {
	_ = c.forget()
	_ = c.Raw(func(any) error { return errBad })
	_ = c.Conn.Close()
}

// A pool lends connections, and makes callers wait while all are lent. It keeps
// connections with prepared statements; database/sql manages the others.
type pool struct {
	db      *sql.DB
	dialect *Dialect
	lent    chan struct{} // has a slot for each connection that may be lent
	idle    chan *conn
	closed  chan struct{}
}

func newPool(db *sql.DB, d *Dialect) *pool {
	return &pool{
		db: db, dialect: d,
		lent: make(chan struct{}, d.Connections), idle: make(chan *conn, d.Connections), closed: make(chan struct{}),
	}
}

func (p *pool) take(ctx context.Context) (*conn, error) {
	select {
	case <-p.closed:
		return nil, errClosed
	default:
	}
	select {
	case p.lent <- struct{}{}:
	case <-p.closed:
		return nil, errClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case c := <-p.idle:
		return c, nil
	default:
	}
	c, err := p.dial(ctx)
	if err != nil {
		<-p.lent
	}
	return c, err
}

func (p *pool) dial(ctx context.Context) (*conn, error) {
	c, err := newConn(ctx, p.db, p.dialect)
	if err != nil || p.dialect.Reader == "" {
		return c, err
	}
	if err := c.script(ctx, p.dialect.Reader); err != nil {
		c.drop()
		return nil, err
	}
	return c, nil
}

// give takes a connection back. It closes one that is not good.
func (p *pool) give(c *conn, good bool) {
	switch {
	case !good:
		c.drop()
	case p.dialect.Prepare:
		p.idle <- c
	default:
		_ = c.close() // database/sql keeps it
	}
	<-p.lent
}

// close waits for the lent connections, and closes all.
func (p *pool) close() error {
	close(p.closed)
	for range cap(p.lent) {
		p.lent <- struct{}{}
	}
	var errs []error
	for {
		select {
		case c := <-p.idle:
			errs = append(errs, c.close())
		default:
			return errors.Join(errs...)
		}
	}
}
