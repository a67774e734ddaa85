package store

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// Times are stored as microseconds since 1970 in UTC.

func stamp(t time.Time) int64 { return t.UnixMicro() }

// micros encodes an optional time: the zero time is NULL.
func micros(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

// A moment decodes a time.
type moment struct{ t *time.Time }

// Scan implements sql.Scanner.
func (m moment) Scan(value any) error {
	var n sql.NullInt64
	if err := n.Scan(value); err != nil {
		return err
	}
	*m.t = time.Time{}
	if n.Valid {
		*m.t = time.UnixMicro(n.Int64).UTC()
	}
	return nil
}

// A word is encoded as text.
type word interface{ MarshalText() ([]byte, error) }

func textOf(w word) string {
	t, err := w.MarshalText()
	if err != nil {
		return ""
	}
	return string(t)
}

// optional encodes an optional value.
func optional[T word](w *T) any {
	if w == nil {
		return nil
	}
	return textOf(*w)
}

// textTo decodes a value from text.
type textTo struct {
	to interface{ UnmarshalText([]byte) error }
}

// Scan implements sql.Scanner.
func (s textTo) Scan(value any) error {
	var n sql.NullString
	if err := n.Scan(value); err != nil {
		return err
	}
	return s.to.UnmarshalText([]byte(n.String))
}

// textOrNil decodes an optional value.
type textOrNil[T any, P interface {
	*T
	UnmarshalText([]byte) error
}] struct{ to **T }

// Scan implements sql.Scanner.
func (s textOrNil[T, P]) Scan(value any) error {
	if value == nil {
		*s.to = nil
		return nil
	}
	*s.to = new(T)
	return textTo{P(*s.to)}.Scan(value)
}

// A jsonTo decodes a value from JSON; NULL leaves it unchanged.
type jsonTo struct{ to any }

// Scan implements sql.Scanner.
func (s jsonTo) Scan(value any) error {
	var n sql.NullString
	if err := n.Scan(value); err != nil || !n.Valid {
		return err
	}
	if raw, ok := s.to.(*json.RawMessage); ok {
		*raw = json.RawMessage(n.String)
		return nil
	}
	return json.Unmarshal([]byte(n.String), s.to)
}

// jsonOf encodes a value as JSON. Encoding its types cannot fail.
func jsonOf(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("store: %T: %v", v, err))
	}
	return string(data)
}

// raw writes existing JSON, and nil as NULL.
func raw(data json.RawMessage) any {
	if data == nil {
		return nil
	}
	return string(data)
}

// null writes the empty text as NULL.
func null[T ~string](s T) any {
	if s == "" {
		return nil
	}
	return string(s)
}

// A nullTo reads NULL as the empty text.
type nullTo[T ~string] struct{ to *T }

// Scan implements sql.Scanner.
func (s nullTo[T]) Scan(value any) error {
	var n sql.NullString
	err := n.Scan(value)
	*s.to = T(n.String)
	return err
}

// A bytesTo reads bytes as text.
type bytesTo struct{ to *string }

// Scan implements sql.Scanner.
func (s bytesTo) Scan(value any) error {
	var n sql.NullString
	err := n.Scan(value)
	*s.to = n.String
	return err
}

// bound encodes a time for comparisons, and the zero time as 0.
func bound(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// limit returns the limit of rows; 0 means no limit.
func limit(n int) int64 {
	if n <= 0 {
		return math.MaxInt64
	}
	return int64(n)
}

// blob writes bytes, and NULL for nil.
func blob(data []byte) any {
	if data == nil {
		return nil
	}
	return data
}
