package app

import (
	"context"
	"time"

	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/hold/trial"
)

// TidyUp removes trials and undo records beyond their limits, concurrently with this
// process's work. The function that it returns waits for the end.
func TidyUp(ctx context.Context, a *App, conf *config.Config) (wait func()) {
	if a.Home() == "" {
		return func() {}
	}
	done := make(chan error, 1)
	go func() { done <- trial.TidyUp(ctx, a.StateDir(), UndoLimits(conf), NewVault(a), a.Now()) }()
	return func() {
		if err := <-done; err != nil && ctx.Err() == nil {
			a.RemarkError(err)
		}
	}
}

// UndoLimits returns the configured limits of undo.
func UndoLimits(conf *config.Config) trial.UndoLimits {
	return trial.UndoLimits{Bytes: conf.UndoSize, Age: conf.UndoAge}
}

// TidyRegularly does so until ctx ends, and removes sessions whose retention is over.
func (g *StartedGate) TidyRegularly(ctx context.Context, a *App, conf *config.Config) {
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	for {
		TidyUp(ctx, a, conf)()
		g.prune(ctx, a, conf)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
