// Umpire decides allow, ask or deny for every tool call of an AI coding agent, by
// what the call would really do.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, system())
	stop()
	os.Exit(code)
}
