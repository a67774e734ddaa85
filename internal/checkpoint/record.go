package checkpoint

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
	"github.com/umpirehq/umpire/internal/store"
)

// A Record is the file that says what is known of one store: its latest checkpoint on
// this machine, and where each session ended at it.
type Record struct {
	Path  string
	Store string // names the store, for people
	Key   *Key   // signs and is compared with; nil is a key that is lost
}

// recorded is what the file holds.
type recorded struct {
	Store  string       `json:"store"`
	Signed string       `json:"checkpoint"`
	Heads  []store.Head `json:"heads"`
}

// Compare returns what is known of the store and not there any more: sessions that are
// missing, cut or other ones than they were. An empty record has no breaks. A nil transaction
// is a store that does not exist.
func (r *Record) Compare(tx *store.Tx) ([]store.Break, error) {
	known, breaks, err := r.readFile()
	if err != nil || known == nil {
		return breaks, err
	}
	missing, err := compareHeads(tx, known.Heads)
	return append(breaks, missing...), err
}

// Renew makes the store as it is now what is known of it, if all that was known is
// still there. The breaks are what is not; then the file stays as it is, and so what
// was lost is not forgotten.
//
// Of two processes that renew at once, the later one may write what is older. The record is
// still true; it only says less until the next time.
func (r *Record) Renew(ctx context.Context, s *store.Store, now time.Time) (breaks []store.Break, err error) {
	known, breaks, err := r.readFile()
	if err != nil || len(breaks) > 0 {
		return breaks, err
	}
	var c Checkpoint
	next := recorded{Store: r.Store}
	err = s.View(ctx, func(tx *store.Tx) (err error) {
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

// readFile returns what is known, nil when nothing is. The breaks say that the file is not
// one that the key has signed.
func (r *Record) readFile() (*recorded, []store.Break, error) {
	text, err := os.ReadFile(r.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, umpire.Errorf("the record of the timeline: %w", err)
	}
	known := &recorded{}
	doubt := func(why string) (*recorded, []store.Break, error) {
		return known, []store.Break{{Problem: fmt.Sprintf("%s, the record of what is known, %s", r.Path, why)}}, nil
	}
	if err := json.Unmarshal(text, known); err != nil {
		return doubt("was damaged")
	}
	signed, err := Parse(known.Signed)
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

// writeFile puts the file in its place whole.
func (r *Record) writeFile(known *recorded) error {
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

// compareHeads says of each stream what is missing. Most streams end where they ended;
// only the others are looked up.
func compareHeads(tx *store.Tx, heads []store.Head) ([]store.Break, error) {
	now := map[umpire.SessionID]store.Head{}
	if tx != nil {
		all, err := tx.Events.Heads(math.MaxInt64)
		if err != nil {
			return nil, err
		}
		for _, h := range all {
			now[h.Session] = h
		}
	}
	var breaks []store.Break
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
			breaks = append(breaks, store.Break{Session: h.Session, Seq: h.Seq, Problem: describeLoss(h, end.Events)})
		}
	}
	return breaks, nil
}

// describeLoss says what became of a stream that does not hold its head, and has n events.
func describeLoss(h store.Head, n int64) string {
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
