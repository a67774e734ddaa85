// Package cli is the program umpire: its commands, their flags and texts, and the wiring of
// everything else.
package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/umpirehq/umpire/internal/sandbox"
)

// Main runs the program with the arguments, environment and streams of this process, and
// ends the process.
func Main() {
	sandbox.Main() // before anything else: this may be the sandbox of a command
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, system())
	stop()
	os.Exit(code)
}
