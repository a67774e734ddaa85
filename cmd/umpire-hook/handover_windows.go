package main

import "os"

// handOver lets the program umpire do it, and ends as it ends. It returns only when
// that cannot be started.
func handOver(args []string) error { return startUmpire(args, os.Stdin) }
