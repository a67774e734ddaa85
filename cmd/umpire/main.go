// Umpire decides allow, ask or deny for every tool call of an AI coding agent, by
// what the call would really do.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/umpirehq/umpire/internal/sandbox"
)

func main() {
	sandbox.Main() // before anything else: this may be the sandbox of a command
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, system())
	stop()
	os.Exit(code)
}
