package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/umpirehq/umpire"
)

// A CheckpointRecord is the file with the latest checkpoint of one store on this machine, and the
// end of each session at that checkpoint.
type CheckpointRecord struct {
	Path  string
	Store string      // a name of the store for display
	Key   *SigningKey // signs and verifies; nil if the key is lost
}

// recorded is the content of the file.
type recorded struct {
	Store  string `json:"store"`
	Signed string `json:"checkpoint"`
	Heads  []Head `json:"heads"`
}

// Compare returns what the store has lost since the record: sessions that are missing,
// truncated or replaced. An empty record has no breaks. A nil transaction means that the
// store does not exist.
func (r *CheckpointRecord) Compare(tx *Tx) ([]Break, error) {
	known, breaks, err := r.readFile()
	if err != nil || known == nil {
		return breaks, err
	}
	missing, err := compareHeads(tx, known.Heads)
	return append(breaks, missing...), err
}

// Renew updates the record to the current store if nothing recorded was lost. Otherwise
// it returns the breaks and keeps the file, so the loss is not forgotten.
//
// If two processes renew at once, the later one may write an older state. The record is
// still true; it only covers less until the next time.
func (r *CheckpointRecord) Renew(ctx context.Context, s *Store, now time.Time) (breaks []Break, err error) {
	known, breaks, err := r.readFile()
	if err != nil || len(breaks) > 0 {
		return breaks, err
	}
	var c Checkpoint
	next := recorded{Store: r.Store}
	err = s.View(ctx, func(tx *Tx) (err error) {
		if known != nil {
			if breaks, err = compareHeads(tx, known.Heads); err != nil || len(breaks) > 0 {
				return err
			}
		}
		c, next.Heads, err = takeAll(tx, now)
		return err
	})
	if err != nil || len(breaks) > 0 || len(next.Heads) == 0 || known != nil && digestHeads(known.Heads) == c.Heads {
		return breaks, err
	}
	if next.Signed, err = r.Key.Sign(&c); err != nil {
		return nil, err
	}
	return nil, r.writeFile(&next)
}

// readFile returns the recorded state, or nil if there is no file. The breaks mean that
// the file was not signed with the key.
func (r *CheckpointRecord) readFile() (*recorded, []Break, error) {
	text, err := os.ReadFile(r.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, umpire.Errorf("the record of the timeline: %w", err)
	}
	known := &recorded{}
	doubt := func(why string) (*recorded, []Break, error) {
		return known, []Break{{Problem: fmt.Sprintf("%s, the record of what is known, %s", r.Path, why)}}, nil
	}
	if err := json.Unmarshal(text, known); err != nil {
		return doubt("was damaged")
	}
	signed, err := ParseCheckpoint(known.Signed)
	switch {
	case err != nil, signed.Heads != digestHeads(known.Heads):
		return doubt("was altered")
	case r.Key == nil:
		return doubt("cannot be checked: its key is missing")
	case signed.KeyID() != r.Key.ID():
		return doubt("was signed by another key, " + signed.KeyID())
	}
	return known, nil, nil
}

// writeFile replaces the file atomically.
func (r *CheckpointRecord) writeFile(known *recorded) error {
	text, err := json.Marshal(known)
	if err != nil {
		return umpire.Errorf("the record of the timeline: %w", err)
	}
	folder := filepath.Dir(r.Path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(folder, filepath.Base(r.Path)+".*")
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), r.Path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

// compareHeads returns the losses in each stream. Most streams still end at their
// recorded head; only the others are looked up.
func compareHeads(tx *Tx, heads []Head) ([]Break, error) {
	now := map[umpire.SessionID]Head{}
	if tx != nil {
		all, err := tx.Events.Heads(math.MaxInt64)
		if err != nil {
			return nil, err
		}
		for _, h := range all {
			now[h.Session] = h
		}
	}
	var breaks []Break
	for _, h := range heads {
		end := now[h.Session]
		holds := end == h
		if end.Events > h.Events {
			var err error
			if holds, err = tx.Events.Holds(h); err != nil {
				return nil, err
			}
		}
		if !holds {
			breaks = append(breaks, Break{Session: h.Session, Seq: h.Seq, Problem: describeLoss(h, end.Events)})
		}
	}
	return breaks, nil
}

// describeLoss describes the loss in a stream that lacks its head and has n events.
func describeLoss(h Head, n int64) string {
	switch {
	case n == 0:
		return fmt.Sprintf("the session is missing: it is known to have had %d events", h.Events)
	case n < h.Events:
		return fmt.Sprintf(
			"%d of the %d events that the session is known to have had are missing", h.Events-n, h.Events,
		)
	}
	return fmt.Sprintf("event %d of the session is not the one that is known: its past was rewritten", h.Events)
}
