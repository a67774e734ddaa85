package store

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/batch"
)

// Chain returns the hash of an event that follows another one in its stream: the
// SHA-256, in hex, of the hash before it ("" for the first) and the event's
// canonical JSON (sorted keys, no blanks) without seq, prev_hash and hash. Its
// time counts in UTC and microseconds.
//
// The events of one session are a stream, and so are those of none.
func Chain(prev string, e umpire.Event) (string, error) {
	e.Seq, e.PrevHash, e.Hash = 0, "", ""
	e.At = e.At.UTC().Truncate(time.Microsecond)
	text, err := json.Marshal(e)
	if err != nil {
		return "", fmt.Errorf("event %s: %w: %w", e.Kind, err, umpire.ErrInvalid)
	}
	// seq is written even when it is 0.
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return "", fmt.Errorf("event %s: %w: %w", e.Kind, err, umpire.ErrInvalid)
	}
	delete(fields, "seq")
	if text, err = json.Marshal(fields); err != nil {
		return "", fmt.Errorf("event %s: %w: %w", e.Kind, err, umpire.ErrInvalid)
	}
	canonical, err := batch.Canonical(text)
	if err != nil {
		return "", fmt.Errorf("event %s: %w", e.Kind, err)
	}
	sum := sha256.New()
	sum.Write([]byte(prev))
	sum.Write(canonical)
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// A Break is a place where a timeline is not what was written.
type Break struct {
	Session umpire.SessionID `json:"session_id,omitempty"`
	Seq     int64            `json:"seq"`
	Problem string           `json:"problem"`
}

// Verify walks events in the order of their seq, any mix of streams, each from its
// first event, and returns where they are broken: events that were altered, that
// do not follow the one before them, or that have none before them. An end that
// was cut off leaves no trace in the events themselves: see Store.Verify. The
// error is that of the walk.
func Verify(events iter.Seq2[umpire.Event, error]) ([]Break, error) {
	v := verifier{last: map[umpire.SessionID]link{}}
	for e, err := range events {
		if err != nil {
			return v.breaks, err
		}
		if err := v.see(&e); err != nil {
			return v.breaks, err
		}
	}
	return v.breaks, nil
}

// A link is the last event of a stream so far.
type link struct {
	seq, n int64
	hash   string
}

type verifier struct {
	seq    int64
	last   map[umpire.SessionID]link
	breaks []Break
}

func (v *verifier) see(e *umpire.Event) error {
	last := v.last[e.Session]
	if e.Seq <= v.seq {
		v.report(e, fmt.Sprintf("its seq does not follow %d", v.seq))
	}
	if e.PrevHash != last.hash {
		v.report(e, missing(last))
	}
	hash, err := Chain(e.PrevHash, *e)
	if err != nil {
		return err
	}
	if hash != e.Hash {
		v.report(e, "the event was altered: its hash is another one")
	}
	v.seq = max(v.seq, e.Seq)
	v.last[e.Session] = link{seq: e.Seq, n: last.n + 1, hash: e.Hash}
	return nil
}

// missing says what is wrong with an event whose prev_hash is not that of the one
// before it.
func missing(last link) string {
	if last.hash == "" {
		return "it is not the first event of its session, and there is none before it"
	}
	return fmt.Sprintf("it does not follow event %d: one between them is missing, or one was altered or moved", last.seq)
}

func (v *verifier) report(e *umpire.Event, problem string) {
	v.breaks = append(v.breaks, Break{Session: e.Session, Seq: e.Seq, Problem: problem})
}
