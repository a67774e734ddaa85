// Umpire decides allow, ask or deny for every tool call of an AI coding agent, by
// what the call would really do.
package main

import "github.com/umpirehq/umpire/internal/cli"

func main() { cli.Main() }
