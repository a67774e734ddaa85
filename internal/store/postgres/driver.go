package postgres

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

// This file is the driver for database/sql. It sends every value as text and bytes
// unchanged, which is all that the store needs. The driver of pgx supports every type of
// PostgreSQL, which adds two megabytes to the program.

const (
	bytesType = 17 // the server's id of BYTEA

	textFormat   = 0
	binaryFormat = 1

	// maxPrepared limits the statements kept on one connection.
	maxPrepared = 512
	// pingAfter is the idle time after which a connection is tested.
	pingAfter = time.Second
	// partingTime limits how long closing a connection takes.
	partingTime = 5 * time.Second
)

// The codes of errors after which a statement must be prepared again: the server does not
// know it, or a table has changed.
const (
	unknownStatement = "26000"
	changedResult    = "0A000"
)

// errUnsupported is returned for operations that the store never uses.
var errUnsupported = errors.New("postgres: the driver runs statements alone")

// A connector dials the server.
type connector struct {
	config  *pgconn.Config
	unnamed bool // do not keep statements on the server
}

// parseConfig parses an address or its key-value form. Besides the server's own options it accepts
// those of pgx that choose how statements run, because a pooler may not keep them.
func parseConfig(dsn string) (connector, error) {
	config, err := pgconn.ParseConfig(dsn)
	if err != nil {
		return connector{}, err
	}
	mode := config.RuntimeParams["default_query_exec_mode"]
	for _, name := range []string{"default_query_exec_mode", "statement_cache_capacity", "description_cache_capacity"} {
		delete(config.RuntimeParams, name)
	}
	return connector{config: config, unnamed: mode != "" && mode != "cache_statement"}, nil
}

// Connect implements driver.Connector.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	server, err := pgconn.ConnectConfig(ctx, c.config)
	if err != nil {
		return nil, err
	}
	return &connection{
		server: server, unnamed: c.unnamed, prepared: map[string]*pgconn.StatementDescription{}, used: time.Now(),
	}, nil
}

// Driver implements driver.Connector.
func (c connector) Driver() driver.Driver { return c }

// Open implements driver.Driver.
func (connector) Open(string) (driver.Conn, error) { return nil, errUnsupported }

// A connection runs statements on one connection to the server.
type connection struct {
	server   *pgconn.PgConn
	unnamed  bool
	prepared map[string]*pgconn.StatementDescription // by text; nil if out of date
	used     time.Time                               // when it was last lent
}

// Prepare implements driver.Conn.
func (*connection) Prepare(string) (driver.Stmt, error) { return nil, errUnsupported }

// Begin implements driver.Conn.
func (*connection) Begin() (driver.Tx, error) { return nil, errUnsupported }

// Close implements driver.Conn.
func (c *connection) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), partingTime)
	defer cancel()
	return c.server.Close(ctx)
}

// ResetSession implements driver.SessionResetter: a connection that broke, or was left in
// a transaction, is not reused.
func (c *connection) ResetSession(ctx context.Context) error {
	if c.server.IsClosed() || c.server.TxStatus() != 'I' {
		return driver.ErrBadConn
	}
	now := time.Now()
	if now.Sub(c.used) > pingAfter && c.server.Ping(ctx) != nil {
		return driver.ErrBadConn
	}
	c.used = now
	return nil
}

// ExecContext implements driver.ExecerContext. Without arguments, the text may have several statements.
func (c *connection) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if c.server.IsClosed() {
		return nil, driver.ErrBadConn
	}
	var tag pgconn.CommandTag
	if len(args) == 0 {
		results, err := c.server.Exec(ctx, query).ReadAll()
		if err != nil {
			return nil, c.explain(query, err)
		}
		if len(results) > 0 {
			tag = results[len(results)-1].CommandTag
		}
		return driver.RowsAffected(tag.RowsAffected()), nil
	}
	answer, err := c.start(ctx, query, args)
	if err != nil {
		return nil, err
	}
	if tag, err = answer.Close(); err != nil {
		return nil, c.explain(query, err)
	}
	return driver.RowsAffected(tag.RowsAffected()), nil
}

// QueryContext implements driver.QueryerContext. It reads the first row, because an error may come instead.
func (c *connection) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if query == store.Replay {
		return args[0].Value.(*keptRows), nil //nolint:forcetypeassert // CheckNamedValue accepts nothing else
	}
	if c.server.IsClosed() {
		return nil, driver.ErrBadConn
	}
	answer, err := c.start(ctx, query, args)
	if err != nil {
		return nil, err
	}
	r := &rows{answer: answer, waiting: answer.NextRow()}
	if !r.waiting {
		if _, err := answer.Close(); err != nil {
			return nil, c.explain(query, err)
		}
	}
	return r, nil
}

// start sends a statement with its arguments.
func (c *connection) start(
	ctx context.Context, query string, args []driver.NamedValue,
) (*pgconn.ResultReader, error) {
	values, formats, err := encodeValues(args)
	if err != nil {
		return nil, err
	}
	if !c.keeps() {
		return c.server.ExecParams(ctx, query, values, nil, formats, nil), nil
	}
	statement, err := c.keepStatement(ctx, query)
	if err != nil {
		return nil, err
	}
	return c.server.ExecStatement(ctx, statement, values, formats, resultFormats(statement)), nil
}

// keeps reports whether the server should keep statements.
func (c *connection) keeps() bool { return !c.unnamed && len(c.prepared) < maxPrepared }

// keepStatement makes the server keep a statement, unless it already does.
func (c *connection) keepStatement(ctx context.Context, query string) (*pgconn.StatementDescription, error) {
	statement, old := c.prepared[query]
	if statement != nil {
		return statement, nil
	}
	name := statementName(query)
	if old {
		if err := c.server.Deallocate(ctx, name); err != nil {
			return nil, c.explain(query, err)
		}
	}
	statement, err := c.server.Prepare(ctx, name, query, nil)
	if err != nil {
		return nil, c.explain(query, err)
	}
	c.prepared[query] = statement
	return statement, nil
}

// statementName identifies a statement on every connection of a pooler.
func statementName(query string) string {
	sum := sha256.Sum256([]byte(query))
	return "umpire_" + hex.EncodeToString(sum[:16])
}

// explain tells database/sql to use another connection if nothing was sent on this one.
func (c *connection) explain(query string, err error) error {
	if pgconn.SafeToRetry(err) {
		return driver.ErrBadConn
	}
	if e, is := errors.AsType[*pgconn.PgError](err); is && (e.Code == unknownStatement || e.Code == changedResult) {
		c.prepared[query] = nil
	}
	return err
}

// encodeValues encodes arguments for the server.
func encodeValues(args []driver.NamedValue) (values [][]byte, formats []int16, err error) {
	values, formats = make([][]byte, len(args)), make([]int16, len(args))
	for i, arg := range args {
		switch v := arg.Value.(type) {
		case nil:
		case string:
			values[i] = []byte(v)
		case []byte:
			values[i], formats[i] = v, binaryFormat
		case int64:
			values[i] = strconv.AppendInt(nil, v, 10)
		case bool:
			values[i] = strconv.AppendBool(nil, v)
		default:
			return nil, nil, umpire.Errorf("postgres: argument %d is a %T", arg.Ordinal, v)
		}
	}
	return values, formats, nil
}

// rows are the rows that a statement returns.
type rows struct {
	answer  *pgconn.ResultReader
	waiting bool // the first row has been read
}

// Columns implements driver.Rows.
func (r *rows) Columns() []string {
	fields := r.answer.FieldDescriptions()
	names := make([]string, len(fields))
	for i := range fields {
		names[i] = fields[i].Name
	}
	return names
}

// Close implements driver.Rows.
func (r *rows) Close() error {
	_, err := r.answer.Close()
	return err
}

// Next implements driver.Rows.
func (r *rows) Next(dest []driver.Value) error {
	if !r.waiting && !r.answer.NextRow() {
		if _, err := r.answer.Close(); err != nil {
			return err
		}
		return io.EOF
	}
	r.waiting = false
	fields := r.answer.FieldDescriptions()
	for i, data := range r.answer.Values() {
		var err error
		if dest[i], err = decodeValue(&fields[i], data); err != nil {
			return err
		}
	}
	return nil
}

// decodeValue decodes one value: bytes, or text that database/sql converts.
func decodeValue(field *pgconn.FieldDescription, data []byte) (driver.Value, error) {
	switch {
	case data == nil:
		return nil, nil
	case field.DataTypeOID != bytesType:
		return string(data), nil
	case field.Format == textFormat:
		digits, isHex := strings.CutPrefix(string(data), `\x`)
		if !isHex {
			return nil, umpire.Errorf("postgres: want bytea_output = hex")
		}
		return hex.DecodeString(digits)
	}
	return bytes.Clone(data), nil
}
