// Umpire decides allow, ask or deny for every tool call of an AI coding agent, by the
// actual effects of the call.
package main

import "github.com/umpirehq/umpire/internal/cli"

func main() { cli.Main() }
