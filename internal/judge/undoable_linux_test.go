package judge

import (
	"path/filepath"
	"syscall"
	"testing"
)

// TestReadableDoesNotWait: what was a file when it was looked at may be a pipe when it is opened, which nobody
// may ever write to.
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
