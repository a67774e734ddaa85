package postgres

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/umpirehq/umpire/internal/store"
)

// divisionByZero is the code of the error that a statement raises deliberately if it changes no row.
const divisionByZero = "22012"

// changing makes a statement fail if it changes no row. Later statements, including a commit, are then skipped.
func changing(query string) string {
	return "WITH changed AS (" + query + " RETURNING 1) SELECT 1 / COUNT(*) FROM changed"
}

// Send implements store.Pipeline.
func (c *connection) Send(ctx context.Context, all []store.Statement) ([]store.Result, error) {
	if c.server.IsClosed() {
		return nil, driver.ErrBadConn
	}
	s := &sending{connection: c, prepared: map[string]string{}}
	for i := range all {
		if err := s.addParts(ctx, i, &all[i]); err != nil {
			return nil, err
		}
	}
	s.pipeline = c.server.StartPipeline(ctx)
	for i := range s.parts {
		s.sendPart(&s.parts[i])
	}
	err := s.pipeline.Sync()
	results := make([]store.Result, len(all))
	done := 0
	for i := 0; err == nil && i < len(s.parts); i++ {
		part := &s.parts[i]
		if results[part.of], err = s.receive(part); err == nil && !part.goesOn {
			done++
		}
	}
	err = cmp.Or(err, s.pipeline.Close())
	if err == nil {
		return results, nil
	}
	failed := &all[min(done, len(all)-1)]
	if e, is := errors.AsType[*pgconn.PgError](err); is && e.Code == divisionByZero && failed.Changes {
		return results[:done], store.ErrUnchanged
	}
	return results[:done], c.explain(sentText(failed), err)
}

func sentText(s *store.Statement) string {
	if s.Changes {
		return changing(s.Query)
	}
	return s.Query
}

// A sending is a group of statements being sent.
type sending struct {
	*connection

	pipeline *pgconn.Pipeline
	parts    []part
	prepared map[string]string // statements prepared in this group, by text
}

// A part is a unit sent to the server: a prepared statement with arguments, or a statement without.
type part struct {
	of       int  // the statement's index
	goesOn   bool // other parts of the statement follow
	text     string
	values   [][]byte
	formats  []int16
	known    *pgconn.StatementDescription
	name     string // prepared under this name, in this group or just before
	prepares bool
	forgets  bool // the server's version under this name is out of date
}

// addParts adds the parts of a statement. A reading statement is prepared first, to learn its result types.
func (s *sending) addParts(ctx context.Context, of int, from *store.Statement) error {
	if len(from.Args) == 0 {
		for text := range strings.SplitSeq(sentText(from), "; ") {
			s.parts = append(s.parts, part{of: of, text: text, goesOn: true})
		}
		s.parts[len(s.parts)-1].goesOn = false
		return nil
	}
	args := make([]driver.NamedValue, len(from.Args))
	for i, arg := range from.Args {
		value, err := driver.DefaultParameterConverter.ConvertValue(arg)
		if err != nil {
			return err
		}
		args[i] = driver.NamedValue{Ordinal: i + 1, Value: value}
	}
	p := part{of: of, text: sentText(from)}
	var err error
	if p.values, p.formats, err = encodeValues(args); err != nil {
		return err
	}
	known, old := s.connection.prepared[p.text]
	p.known = known
	switch {
	case p.known != nil || !s.keeps():
	case from.Reads:
		p.known, err = s.keepStatement(ctx, p.text)
	default:
		p.name, p.prepares, p.forgets = s.prepared[p.text], s.prepared[p.text] == "", old
		if p.prepares {
			p.name = statementName(p.text)
			s.prepared[p.text] = p.name
		}
	}
	s.parts = append(s.parts, p)
	return err
}

func (s *sending) sendPart(p *part) {
	switch {
	case p.known != nil:
		s.pipeline.SendQueryStatement(p.known, p.values, p.formats, resultFormats(p.known))
	case p.name == "":
		s.pipeline.SendQueryParams(p.text, p.values, nil, p.formats, nil)
	default:
		if p.prepares && p.forgets {
			s.pipeline.SendDeallocate(p.name)
		}
		if p.prepares {
			s.pipeline.SendPrepare(p.name, p.text, nil)
		}
		s.pipeline.SendQueryPrepared(p.name, p.values, p.formats, nil)
	}
}

// receive reads the result of a part.
func (s *sending) receive(p *part) (store.Result, error) {
	for {
		answer, err := s.pipeline.GetResults()
		if err != nil {
			return store.Result{}, err
		}
		switch answer := answer.(type) {
		case *pgconn.ResultReader:
			return keepResult(answer)
		case *pgconn.StatementDescription:
			answer.Name, answer.SQL = p.name, p.text
			s.connection.prepared[p.text] = answer
		case nil:
			return store.Result{}, io.ErrUnexpectedEOF
		}
	}
}

// keepResult reads the complete result of one statement.
func keepResult(answer *pgconn.ResultReader) (store.Result, error) {
	r := &rows{answer: answer}
	kept := &keptRows{columns: r.Columns()}
	for {
		row := make([]driver.Value, len(kept.columns))
		err := r.Next(row)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return store.Result{}, err
		}
		kept.rows = append(kept.rows, row)
	}
	tag, err := answer.Close()
	return store.Result{Changed: tag.RowsAffected(), Rows: kept}, err
}

// keptRows are rows that were read ahead.
type keptRows struct {
	columns []string
	rows    [][]driver.Value
}

// Columns implements driver.Rows.
func (r *keptRows) Columns() []string { return r.columns }

// Close implements driver.Rows.
func (*keptRows) Close() error { return nil }

// Next implements driver.Rows.
func (r *keptRows) Next(dest []driver.Value) error {
	if len(r.rows) == 0 {
		return io.EOF
	}
	copy(dest, r.rows[0])
	r.rows = r.rows[1:]
	return nil
}

// CheckNamedValue implements driver.NamedValueChecker: rows that were read ahead are an argument of store.Replay.
func (*connection) CheckNamedValue(v *driver.NamedValue) error {
	if _, is := v.Value.(*keptRows); is {
		return nil
	}
	return driver.ErrSkip
}

// resultFormats requests bytes in binary and everything else as text.
func resultFormats(s *pgconn.StatementDescription) []int16 {
	formats := make([]int16, len(s.Fields))
	for i := range s.Fields {
		if s.Fields[i].DataTypeOID == bytesType {
			formats[i] = binaryFormat
		}
	}
	return formats
}
