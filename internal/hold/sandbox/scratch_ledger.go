package sandbox

import (
	"bufio"
	"encoding/json"
	"hash/fnv"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// Limits of a ledger.
const (
	maxLedger = 1 << 20            // bytes of claims of one session
	soon      = 2 * time.Minute    // time until a claimed file must exist
	maxAge    = 7 * 24 * time.Hour // age of a session's last claim
)

// A ScratchLedger stores the claims of each session in a file. Without a folder it stores nothing.
type ScratchLedger struct {
	Dir string
	Now func() time.Time
}

// NewScratchLedger returns the ledger in umpire's state folder.
func NewScratchLedger(state string, now func() time.Time) ScratchLedger {
	return ScratchLedger{Dir: filepath.Join(state, "scratch"), Now: now}
}

// A claim is a line of a ledger's file.
type claim struct {
	Session umpire.SessionID `json:"session"`
	Path    string           `json:"path"`
	Time    time.Time        `json:"time"`
}

// Claim records that a session is about to make missing files.
func (l ScratchLedger) Claim(session umpire.SessionID, paths []string) error {
	if l.Dir == "" || session == "" || len(paths) == 0 {
		return nil
	}
	if err := os.MkdirAll(l.Dir, 0o700); err != nil {
		return err
	}
	name := l.fileOf(session)
	if _, err := os.Lstat(name); files.Missing(err) {
		l.sweep()
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Size() > maxLedger {
		return err
	}
	var lines []byte
	for _, path := range paths {
		line, err := json.Marshal(claim{session, umpire.EscapePath(path), l.Now()})
		if err != nil {
			return err
		}
		lines = append(append(lines, line...), '\n')
	}
	_, err = f.Write(lines)
	return err
}

// Made reports whether a session made the file at a path with links resolved: this user's
// regular file with a single name, created shortly after a claim.
func (l ScratchLedger) Made(session umpire.SessionID, path string) bool {
	if l.Dir == "" || session == "" {
		return false
	}
	born, own := birthOf(path)
	if !own {
		return false
	}
	f, err := files.OpenSmall(l.fileOf(session), 2*maxLedger)
	if err != nil {
		return false
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var c claim
		if json.Unmarshal(lines.Bytes(), &c) != nil || c.Session != session || c.Path != umpire.EscapePath(path) {
			continue
		}
		// Kernels stamp files with a clock that lags a few milliseconds behind.
		if after := born.Sub(c.Time); after > -20*time.Millisecond && after < soon {
			return true
		}
	}
	return false
}

func (l ScratchLedger) fileOf(session umpire.SessionID) string {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(session)) // it never fails
	return filepath.Join(l.Dir, strconv.FormatUint(sum.Sum64(), 16)+".jsonl")
}

// sweep removes the files of sessions without recent claims.
func (l ScratchLedger) sweep() {
	entries, _ := os.ReadDir(l.Dir) // files that cannot be listed stay
	for _, e := range entries {
		if info, err := e.Info(); err == nil && l.Now().Sub(info.ModTime()) > maxAge {
			_ = os.Remove(filepath.Join(l.Dir, e.Name())) // the next sweep tries again
		}
	}
}
