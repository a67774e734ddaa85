//go:build unix

package main

import (
	"fmt"
	"os"
	"syscall"
)

// handOver becomes the program umpire. It returns only when that cannot be started.
func handOver(args []string) error {
	name, err := findSibling()
	if err != nil {
		return err
	}
	err = syscall.Exec(name, append([]string{name}, args...), os.Environ())
	return fmt.Errorf("umpire-hook needs the program umpire beside it: %s: %w", name, err)
}
