package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"time"

	"github.com/umpirehq/umpire/internal/store"
)

// KeysDir holds the key that signs checkpoints, apart from the store.
func (a *App) KeysDir() string { return filepath.Join(a.Home(), "keys") }

// ConfiguredStore is the store that the configuration names. Checkpoints of it need a
// home folder.
func ConfiguredStore(a *App) (StoreAddress, error) {
	conf, err := a.LoadConfig(a.Dir)
	if err != nil {
		return StoreAddress{}, err
	}
	if a.Home() == "" {
		return StoreAddress{},
			Usage("export HOME=... or UMPIRE_HOME=...", "there is no home folder for the gate's keys")
	}
	return a.ReadStoreAddress(conf.Store)
}

// ReadCheckpointKey reads the key that signs checkpoints. It returns nil if the key does not exist.
func ReadCheckpointKey(keysDir string) (*store.SigningKey, error) {
	key, err := store.ReadKey(keysDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return key, err
}

// CheckpointRecord returns this machine's record of a store.
func CheckpointRecord(home string, at StoreAddress, key *store.SigningKey) *store.CheckpointRecord {
	name := at.Public()
	sum := sha256.Sum256([]byte(name))
	return &store.CheckpointRecord{
		Path:  filepath.Join(home, "checkpoints", hex.EncodeToString(sum[:8])+".json"),
		Store: name, Key: key,
	}
}

// Public names a store without the credentials that open it.
func (s StoreAddress) Public() string {
	if s.Kind != storePostgres {
		return s.Kind + ":" + s.Name
	}
	u, err := url.Parse(s.Name)
	if err != nil {
		return s.Kind
	}
	query := u.Query()
	for _, secret := range []string{"user", "password", "sslpassword"} {
		query.Del(secret)
	}
	u.User, u.RawQuery, u.Scheme = nil, query.Encode(), s.Kind
	return u.String()
}

const (
	// checkpointPause is how long after an event, at most, a gate that runs on records it.
	checkpointPause = 10 * time.Second
	// recordTime bounds recording, so an unreachable database does not delay the end.
	recordTime = 10 * time.Second
)

// A keeper records the state of a gate's timeline, so a later loss is noticed.
type keeper struct {
	app    *App
	store  *store.Store
	record *store.CheckpointRecord // nil if there is no key
	said   bool                    // that a loss was reported
}

// keepCheckpoints creates a keeper. Its errors are only reported, because decisions do
// not depend on it.
func keepCheckpoints(a *App, s *store.Store, at StoreAddress) *keeper {
	k := &keeper{app: a, store: s}
	key, err := store.OpenKey(a.KeysDir())
	if err != nil {
		a.RemarkError(err)
		return k
	}
	k.record = CheckpointRecord(a.Home(), at, key)
	return k
}

// renewOnChange renews the record soon after every change, until ctx ends.
func (k *keeper) renewOnChange(ctx context.Context) {
	for {
		changed := k.store.Changed()
		k.renew(ctx)
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(checkpointPause):
		case <-ctx.Done():
			return
		}
	}
}

// renew records the current timeline. It reports a loss only once.
func (k *keeper) renew(ctx context.Context) {
	if k.record == nil {
		return
	}
	working, cancel := context.WithTimeout(ctx, recordTime)
	defer cancel()
	breaks, err := k.record.Renew(working, k.store, time.Now())
	switch {
	case err != nil && ctx.Err() == nil:
		k.app.RemarkError(err)
	case len(breaks) > 0 && !k.said:
		k.said = true
		lost := k.app.Text.Of(
			"the timeline has changed: %d sessions are missing or changed; see umpire timeline verify")
		k.app.Remark(fmt.Sprintf(lost, len(breaks)))
	}
}
