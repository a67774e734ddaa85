package store

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// A Checkpoint summarizes a timeline at one moment.
type Checkpoint struct {
	At       time.Time `json:"at"`
	Seq      int64     `json:"seq"` // it covers the events up to this one
	Events   int64     `json:"events"`
	Sessions int       `json:"sessions"`
	// First is the hash of the first event, which identifies the store; "" if there are no events.
	First string `json:"first,omitempty"`
	// Heads is the SHA-256, in hex, of the ends of all streams.
	Heads string `json:"heads"`
}

// TakeCheckpoint summarizes the timeline up to its horizon, up to which no event can still appear,
// and returns the ends of its streams there. It must be the first use of the transaction.
func TakeCheckpoint(tx *Tx, now time.Time) (Checkpoint, []Head, error) {
	seq, err := tx.Events.Horizon()
	if err != nil {
		return Checkpoint{}, nil, err
	}
	return takeAt(tx, seq, now)
}

// takeAll is Take with all events visible to the transaction. Only its heads can be
// compared later, because other events may still appear in between.
func takeAll(tx *Tx, now time.Time) (Checkpoint, []Head, error) {
	c, heads, err := takeAt(tx, math.MaxInt64, now)
	c.Seq = 0
	for _, h := range heads {
		c.Seq = max(c.Seq, h.Seq)
	}
	return c, heads, err
}

func takeAt(tx *Tx, seq int64, now time.Time) (Checkpoint, []Head, error) {
	heads, err := tx.Events.Heads(seq)
	if err != nil {
		return Checkpoint{}, nil, err
	}
	c := Checkpoint{At: now.UTC().Truncate(time.Second), Seq: seq, Heads: digestHeads(heads)}
	for _, h := range heads {
		c.Events += h.Events
		if h.Session != "" {
			c.Sessions++
		}
	}
	c.First, err = tx.Events.FirstHash(seq)
	return c, heads, err
}

// digestHeads hashes heads, each as a line of JSON.
func digestHeads(heads []Head) string {
	sum := sha256.New()
	lines := json.NewEncoder(sum)
	for _, h := range heads {
		if err := lines.Encode(h); err != nil {
			panic(err) // text and numbers are always valid JSON
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Compare returns how the timeline has changed since the checkpoint. Without breaks, it
// is unchanged up to there, provided that [Store.Verify] finds no break. A nil
// transaction means that the store does not exist.
func (c *Checkpoint) Compare(tx *Tx) ([]Break, error) {
	now := Checkpoint{Seq: c.Seq, Heads: digestHeads(nil)}
	if tx != nil {
		var err error
		if now, _, err = takeAt(tx, c.Seq, c.At); err != nil {
			return nil, err
		}
	}
	if now.At = c.At; now == *c {
		return nil, nil
	}
	return []Break{{Seq: c.Seq, Problem: c.difference(&now)}}, nil
}

func (c *Checkpoint) difference(now *Checkpoint) string {
	about := fmt.Sprintf(
		"the checkpoint of %s has %d events of %d sessions up to here", c.At.Format(time.RFC3339), c.Events, c.Sessions,
	)
	switch {
	case now.Events == 0:
		return about + ", and none is left"
	case now.First != c.First:
		return about + ", and they begin with another event: it is another store, or the past was rewritten"
	case now.Events < c.Events:
		return fmt.Sprintf(
			"%s: %d events and %d sessions are missing", about, c.Events-now.Events, max(0, c.Sessions-now.Sessions),
		)
	}
	return about + ", and they are not the same any more: the past was rewritten"
}
