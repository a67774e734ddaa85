package judge

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/umpirehq/umpire/place"
)

// maxRecords bounds the records that are searched.
const maxRecords = 1000

// siblings returns the records of the other worktrees of a clone. A folder outside of a repository
// has no siblings.
func (l *CodeLedger) siblings(g *place.Bounds) (found []*record) {
	if g.Repository.Common == "" || l.Dir == "" {
		return nil
	}
	names, err := listEntries(l.Dir)
	if err != nil || len(names) > maxRecords {
		return nil
	}
	for _, name := range names {
		if !strings.HasSuffix(name, ".json") {
			continue
		}
		r, err := readRecord(filepath.Join(l.Dir, name))
		if err == nil && r.GitDir == g.Repository.Common && r.Root != g.Root &&
			l.path(r.Root) == filepath.Join(l.Dir, name) {
			found = append(found, r)
		}
	}
	return found
}

// adopt copies the trust from another worktree of the clone to this one, if the code is the same:
// every file that names code, and HEAD except for commits made here. It reports whether there is
// such a worktree. A confirmation there of an agent's changes does not cover the files here.
func (l *CodeLedger) adopt(g *place.Bounds) bool {
	if l.Digest == nil {
		return false
	}
	for _, r := range l.siblings(g) {
		r.Root, r.Confirmed = g.Root, time.Time{}
		if l.holds(g, r) == "" {
			return l.writeRecord(r) == nil
		}
	}
	return false
}
