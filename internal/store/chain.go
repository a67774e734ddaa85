package store

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate/batch"
)

// Chain returns the hash of the next event in a stream: the SHA-256, in hex, of the
// previous hash ("" for the first event) and the event's canonical JSON without seq,
// prev_hash and hash. Canonical JSON has sorted keys, no whitespace, and <, > and &
// written as \u003c, \u003e and \u0026. The time is in UTC, truncated to microseconds.
//
// The events of one session form a stream, and so do the events without a session.
func Chain(prev string, e umpire.Event) (string, error) {
	var err error
	if len(e.Data) > 0 {
		if e.Data, err = batch.Canonical(e.Data); err != nil {
			return "", umpire.Errorf("event %s: data: %w", e.Kind, err)
		}
	}
	return chain(prev, &e)
}

// chain is Chain for an event with canonical data.
func chain(prev string, e *umpire.Event) (string, error) {
	c := canonicalEvent{
		Actor: e.Actor, Agent: e.Agent, At: e.At.UTC().Truncate(time.Microsecond), Batch: e.Batch, Call: e.Call,
		Data: e.Data, Kind: e.Kind, State: e.State, Type: e.Type, Project: e.Project, Reason: e.Reason, Code: e.Code,
		Request: e.Request, Risk: e.Risk, Rule: e.Rule, Scope: e.Scope, Session: e.Session, Tool: e.Tool,
		Verdict: e.Verdict,
	}
	var err error
	if len(e.Accesses) > 0 {
		if c.Accesses, err = canonical(e.Accesses); err != nil {
			return "", umpire.Errorf("event %s: accesses: %w", e.Kind, err)
		}
	}
	if e.Blocked != nil {
		if c.Blocked, err = canonical(e.Blocked); err != nil {
			return "", umpire.Errorf("event %s: blocked_reason: %w", e.Kind, err)
		}
	}
	text, err := json.Marshal(&c)
	if err != nil {
		return "", umpire.Errorf("event %s: %w: %w", e.Kind, err, umpire.ErrInvalid)
	}
	sum := sha256.New()
	sum.Write([]byte(prev))
	sum.Write(text)
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// canonicalEvent has the hashed fields of an event, sorted by name. Encoding them in
// order is much cheaper than sorting the result.
type canonicalEvent struct {
	Accesses json.RawMessage        `json:"accesses,omitempty"`
	Actor    string                 `json:"actor,omitempty"`
	Agent    string                 `json:"agent,omitempty"`
	At       time.Time              `json:"at"`
	Batch    umpire.BatchID         `json:"batch_id,omitempty"`
	Blocked  json.RawMessage        `json:"blocked_reason,omitempty"`
	Call     umpire.CallID          `json:"call_id,omitempty"`
	Data     json.RawMessage        `json:"data,omitempty"`
	Kind     umpire.EventKind       `json:"kind"`
	State    umpire.PermissionState `json:"permission_state,omitempty"`
	Type     umpire.PermissionType  `json:"permission_type,omitempty"`
	Project  umpire.ProjectID       `json:"project_id,omitempty"`
	Reason   umpire.Phrase          `json:"reason,omitempty"`
	Code     umpire.ReasonCode      `json:"reason_code,omitempty"`
	Request  umpire.RequestID       `json:"request_id,omitempty"`
	Risk     string                 `json:"risk_level,omitempty"`
	Rule     umpire.RuleID          `json:"rule_id,omitempty"`
	Scope    *umpire.Scope          `json:"scope,omitempty"`
	Session  umpire.SessionID       `json:"session_id,omitempty"`
	Tool     string                 `json:"tool,omitempty"`
	Verdict  *umpire.Verdict        `json:"verdict,omitempty"`
}

func canonical(v any) (json.RawMessage, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, umpire.Errorf("%w: %w", err, umpire.ErrInvalid)
	}
	return batch.Canonical(text)
}

// A Break is a place where a timeline differs from the recorded one.
type Break struct {
	Session umpire.SessionID `json:"session_id,omitempty"`
	Seq     int64            `json:"seq"`
	Problem string           `json:"problem"`
}

// Verify checks events in the order of their seq, from any mix of streams, each from its
// first event. It returns the breaks: events that were altered, do not follow the one
// before, or lack a predecessor. A truncated end leaves no trace in the events
// themselves: see Store.Verify. The error is that of the iteration.
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
	pruned map[int64]bool // seqs of accepted pruning events; nil if not needed
	breaks []Break
}

func (v *verifier) see(e *umpire.Event) error {
	last := v.last[e.Session]
	if before := max(v.seq, last.seq); e.Seq <= before {
		v.report(e, fmt.Sprintf("its seq does not follow %d", before))
	}
	if e.Kind == umpire.EventPruned && v.pruned != nil && !v.pruned[e.Seq] {
		v.report(e, "what it says was pruned is not what was")
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

// missing describes an event whose prev_hash is not the hash of the event before it.
func missing(last link) string {
	if last.hash == "" {
		return "it is not the first event of its session, and there is none before it"
	}
	return fmt.Sprintf("it does not follow event %d: one between them is missing, or one was altered or moved",
		last.seq)
}

func (v *verifier) report(e *umpire.Event, problem string) {
	v.breaks = append(v.breaks, Break{Session: e.Session, Seq: e.Seq, Problem: problem})
}
