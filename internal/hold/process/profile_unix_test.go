//go:build unix

package process_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/umpirehq/umpire/internal/hold/process"
)

// A pipe with a reader can be opened, so it is refused afterwards; and so is a file of another user.
func TestProfileRefusesOpenedFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe, foreign := filepath.Join(dir, "pipe.trace"), filepath.Join(dir, "foreign.trace")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	names := []string{pipe}
	if os.Geteuid() == 0 {
		if err := os.WriteFile(foreign, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(foreign, 1, 1); err != nil {
			t.Fatal(err)
		}
		names = append(names, foreign)
	}
	for _, name := range names {
		p, err := process.StartProfile(func(string) string { return name }, "hook")
		if p != nil || err == nil {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
}
