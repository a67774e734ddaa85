package main

import (
	"fmt"
	"os"
)

// handOver lets the program umpire do it, and ends as it ends. It returns only when
// that cannot be started.
func handOver(args []string) error {
	name, err := sibling()
	if err != nil {
		return err
	}
	process, err := os.StartProcess(name, append([]string{name}, args...), &os.ProcAttr{
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
	})
	if err != nil {
		return fmt.Errorf("umpire-hook needs the program umpire beside it: %s: %w", name, err)
	}
	state, err := process.Wait()
	if err != nil || state.ExitCode() < 0 {
		os.Exit(exitDenied)
	}
	os.Exit(state.ExitCode())
	return nil
}
