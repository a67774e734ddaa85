// Package checkpoint says what a timeline was at one moment, so that it can be seen
// later whether its past was rewritten or lost.
//
//	c, _, err := checkpoint.Take(tx, now)       // what the timeline is
//	line, err := key.Sign(&c)                   // one line of text, to keep elsewhere
//	signed, err := checkpoint.Parse(line)       // read and checked, later
//	breaks, err := signed.Compare(tx)           // what the timeline is no more
//
// The hashes within a store prove only that it agrees with itself: somebody who can write it
// can compute all of them anew. A checkpoint lies apart from the store. A checkpoint that was
// copied to where that person cannot write shows that what happened before it was changed. It
// shows nothing of what was written after it, or of events that were never written.
//
// The signature tells which installation made a checkpoint. The key lies with the
// person's other files: a program that runs as the person can read it, and then sign
// what it likes.
//
// # Pruning
//
// A [Pruner] removes whole sessions. What it removes is signed too, in an event of the timeline
// under the header umpire-pruned-1, and [Prunings] accepts exactly that when the store is
// verified. The store keeps where each stream ended, and the seq and hash of what was removed: a
// checkpoint compares as if nothing had been. The signature proves that the removal was made with
// the key of the installation, no more: who can read the key can remove a session in that
// form, and cannot hide that it was removed.
//
// # Format
//
// A signed checkpoint is four parts joined by dots, the last three in unpadded base64
// for URLs:
//
//	umpire-timeline-1.CHECKPOINT.PUBLIC-KEY.SIGNATURE
//
// CHECKPOINT is the JSON of a [Checkpoint]. SIGNATURE is Ed25519 over the first two
// parts with the dot between them.
package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/umpirehq/umpire/internal/store"
)

// A Checkpoint is a timeline at one moment.
type Checkpoint struct {
	At       time.Time `json:"at"`
	Seq      int64     `json:"seq"` // it is about the events up to this one
	Events   int64     `json:"events"`
	Sessions int       `json:"sessions"`
	// First is the hash of the first event, which tells stores apart; "" when there is none.
	First string `json:"first,omitempty"`
	// Heads is the SHA-256, in hex, of where the stream of each session ended.
	Heads string `json:"heads"`
}

// Take returns what the timeline is, up to the event below which none can appear any
// more, and where its streams end there. It must be the first use of the transaction.
func Take(tx *store.Tx, now time.Time) (Checkpoint, []store.Head, error) {
	seq, err := tx.Events.Horizon()
	if err != nil {
		return Checkpoint{}, nil, err
	}
	return takeAt(tx, seq, now)
}

// takeAll is Take with all events that the transaction sees. Only its heads can be
// compared later: others may still appear between them.
func takeAll(tx *store.Tx, now time.Time) (Checkpoint, []store.Head, error) {
	c, heads, err := takeAt(tx, math.MaxInt64, now)
	c.Seq = 0
	for _, h := range heads {
		c.Seq = max(c.Seq, h.Seq)
	}
	return c, heads, err
}

func takeAt(tx *store.Tx, seq int64, now time.Time) (Checkpoint, []store.Head, error) {
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
func digestHeads(heads []store.Head) string {
	sum := sha256.New()
	lines := json.NewEncoder(sum)
	for _, h := range heads {
		if err := lines.Encode(h); err != nil {
			panic(err) // text and numbers are always JSON
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Compare returns how the timeline differs from what it was at the checkpoint. No
// breaks mean that it is the same up to there, if [store.Store.Verify] finds no break.
// A nil transaction is a store that does not exist.
func (c *Checkpoint) Compare(tx *store.Tx) ([]store.Break, error) {
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
	return []store.Break{{Seq: c.Seq, Problem: c.difference(&now)}}, nil
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
