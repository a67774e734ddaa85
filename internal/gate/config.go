package gate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
	"github.com/umpirehq/umpire/internal/judge"
	"github.com/umpirehq/umpire/internal/store"
)

// A Config configures a gate. The zero value has neither a home nor a store: it decides by the
// built-in rules, the managed rule file and the projects' rule files, and trusts none of the
// latter.
type Config struct {
	UserHome string // the person's home directory
	Home     string // umpire's own folder, UMPIRE_HOME
	// Settings apply to every project, unless SettingsOf returns others for the project of a
	// folder.
	Settings   config.Settings
	SettingsOf func(dir string) (config.Settings, error)
	// Rules come from the command line, in addition to those of the files.
	Rules []umpire.Rule
	// Follow keeps the rules current while the gate runs. Without it they are read once for each
	// project.
	Follow bool
	// Store keeps sessions and batches. Without it the gate only decides.
	Store *store.Store
	// Masker hides secrets in text stored for people; if nil, nothing is masked.
	Masker Masker
	// Sealer encrypts the originals of masked text; if nil, originals are not kept.
	Sealer Sealer
	// Alive reports whether a runner is still running. known is false for runners on other
	// machines. If nil, no runner is known.
	Alive func(runner string) (alive, known bool)
	// Layers are the layers of trials on this machine. If nil, the runner of a trial keeps its
	// changes.
	Layers Layers
	// UndoAge is the longest time undo keeps the files a trial replaced, or 0 if unknown.
	UndoAge time.Duration
	// Warn receives the errors of background work; if nil, they are dropped.
	Warn func(error)
	// Now returns the current time; nil means time.Now.
	Now func() time.Time
}

// Layers are the layers of trials on one machine.
type Layers interface {
	// Waiting lists the trials with existing layers.
	Waiting() ([]umpire.TrialID, error)
	// Keep makes a layer real, all of it or nothing, and returns the outcome, with an error if it
	// is not kept. A layer that was kept before a crash counts as kept.
	Keep(ctx context.Context, id umpire.TrialID, digest string) (umpire.TrialSettlement, error)
	// Discard removes a layer, if it exists.
	Discard(id umpire.TrialID) error
}

// Code returns the ledger of clones that the user trusts to run code.
func (c *Config) Code() judge.CodeLedger {
	if c.Home == "" {
		return judge.CodeLedger{}
	}
	return judge.CodeLedger{Dir: filepath.Join(c.Home, judge.LedgerDir), Now: c.Now, Digest: func(data []byte) string {
		sum := sha256.Sum256(data)
		return "sha256:" + hex.EncodeToString(sum[:])
	}}
}

// scratch returns the ledger of temporary files that sessions made.
func (c *Config) scratch() sandbox.ScratchLedger {
	if c.Home == "" {
		return sandbox.ScratchLedger{}
	}
	return sandbox.NewScratchLedger(filepath.Join(c.Home, "state"), time.Now)
}

func (c *Config) cacheDir() string {
	if c.Home == "" {
		return ""
	}
	return filepath.Join(c.Home, "state", "projects")
}
