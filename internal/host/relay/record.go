package relay

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// The names of call records in umpire's state folder. The call of a record with a pending file may
// still write.
const (
	KeptFolder  = "kept"
	PendingFile = "pending.json"
)

// MaxEqualCalls bounds the records of calls with the same id. Agents that give no ids may make
// several.
const MaxEqualCalls = 64

// CallRecord returns the name of the record of another program's call, the nth with the same id.
func CallRecord(session, call string, nth int) string {
	sum := fnv.New64a()
	_, _ = io.WriteString(sum, fmt.Sprintf("%q %q %d", session, call, nth)) // it never fails
	return fmt.Sprintf("c%016x", sum.Sum64())
}

// HasPendingRecord reports whether a call has a record that must be sealed after it has run.
func HasPendingRecord(state, session, call string) bool {
	for nth := range MaxEqualCalls {
		record := filepath.Join(state, KeptFolder, CallRecord(session, call, nth))
		if _, err := os.Lstat(filepath.Join(record, PendingFile)); err == nil {
			return true
		}
	}
	return false
}

// TurnMark returns the file whose time tells when a session's kept changes were last counted.
func TurnMark(state, session string) string {
	return filepath.Join(state, "turns", CallRecord(session, "", 0))
}

// KeptSinceTurn reports whether anything was kept since a session's kept changes were last counted.
func KeptSinceTurn(state, session string) bool {
	kept, err := os.Stat(filepath.Join(state, KeptFolder))
	if err != nil {
		return false
	}
	mark, err := os.Stat(TurnMark(state, session))
	return err != nil || kept.ModTime().After(mark.ModTime())
}

// Limits on the bytes of a call's files that are copied before they are written, in general and
// while another program waits for it.
const (
	MaxRecorded      = 256 << 20
	MaxRecordedLater = 16 << 20
)

// A LossReason is the reason why a record cannot restore the file at a path. "" means that it can.
type LossReason string

// The reasons.
const (
	LostNames      LossReason = "several-names" // its other names would change with it, or be left behind
	LostSize       LossReason = "too-large"     // together with those before it
	LostUnreadable LossReason = "unreadable"
	LostSpecial    LossReason = "special" // a socket, a pipe or a device
)

// Err returns the reason as an error, or nil for "".
func (r LossReason) Err() error {
	switch r {
	case LostNames:
		return errors.New("it has several names (hard links)")
	case LostSize:
		return errors.New("it is too large to keep a copy")
	case LostUnreadable:
		return errors.New("it cannot be read")
	case LostSpecial:
		return errors.New("it is a socket, a pipe or a device")
	}
	return nil
}

// LossOf returns the reason why a record cannot restore a file that is copied, given the remaining
// room in bytes. It does not check whether the file is readable.
func LossOf(mode fs.FileMode, links uint64, size, room int64) LossReason {
	switch {
	case mode.IsDir() || mode&fs.ModeSymlink != 0:
		return ""
	case !mode.IsRegular():
		return LostSpecial
	case links > 1:
		return LostNames
	case size > room:
		return LostSize
	}
	return ""
}
