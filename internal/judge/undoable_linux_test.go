package judge

import (
	"path/filepath"
	"syscall"
	"testing"
)

// TestReadableDoesNotWait: a file may be replaced by a pipe without a writer between the check
// and the open, which must not block.
func TestReadableDoesNotWait(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if !isReadable(pipe) {
		t.Error("the pipe cannot be read")
	}
}
