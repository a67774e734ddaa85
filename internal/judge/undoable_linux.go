package judge

import (
	"errors"
	"math"
	"os"
	"strconv"
	"syscall"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/relay"
)

// beyondUndo says why a record could not bring back all that a call changes which autonomy lets run: the first
// path of which that is so, and why. It is "" when a record can. There is room for so many bytes.
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

// isReadable reports whether a regular file can be read. It does not wait for one that has become a pipe.
func isReadable(path string) bool {
	f, err := files.OpenSmall(path, math.MaxInt64)
	if err == nil {
		_ = f.Close() // nothing was read
	}
	return !errors.Is(err, os.ErrPermission)
}
