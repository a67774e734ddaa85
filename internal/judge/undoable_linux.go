package judge

import (
	"errors"
	"math"
	"os"
	"strconv"
	"syscall"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/host/relay"
)

// beyondUndo says why a record could not restore everything that a call allowed by autonomy changes. It names the first
// such path and the reason, or returns "" if a record can restore all. room is the space for the record in bytes.
func beyondUndo(d *umpire.Decision, roots []string, room int64) umpire.Phrase {
	paths, whole := editedFiles(d, roots)
	if !whole {
		return umpire.Say("Undo could not bring it back: it may change more than %s files", strconv.Itoa(maxEdited))
	}
	for _, path := range paths {
		info, err := os.Lstat(path)
		if files.Missing(err) {
			continue
		}
		reason := relay.LostUnreadable
		if err == nil {
			st, _ := info.Sys().(*syscall.Stat_t)
			links := uint64(st.Nlink) //nolint:unconvert // 32 bits on some machines
			reason = relay.LossOf(info.Mode(), links, info.Size(), room)
			if reason == "" && info.Mode().IsRegular() {
				room -= info.Size()
				if !isReadable(path) {
					reason = relay.LostUnreadable
				}
			}
		}
		if reason != "" {
			return umpire.Say("Undo could not bring back %s: %s", path, reason.Err())
		}
	}
	return ""
}

// isReadable reports whether a regular file can be read. It does not block if the file has become a pipe.
func isReadable(path string) bool {
	f, err := files.OpenSmall(path, math.MaxInt64)
	if err == nil {
		_ = f.Close() // the file was only opened
	}
	return !errors.Is(err, os.ErrPermission)
}
