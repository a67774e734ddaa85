package judge

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/files/gitdir"
	"github.com/umpirehq/umpire/place"
)

// maxLog bounds the part of the log of HEAD that is read, from its end: some thousand moves.
const maxLog = 1 << 20

// commitOf returns the current commit of a clone, or "" without a commit.
func commitOf(g *place.Bounds) (string, error) {
	if g.Repository.Common == "" {
		return "", nil
	}
	commit, err := gitdir.ReadHead(g.Repository.GitDir, g.Repository.Common)
	if errors.Is(err, gitdir.ErrNoCommits) {
		return "", nil
	}
	return commit, err
}

// movedSince describes how HEAD moved away from a commit. It returns "" if HEAD has not moved, or
// only by commits made in this clone, as recorded in the log of HEAD: a pull, a merge or a checkout
// brings other people's code.
func movedSince(g *place.Bounds, commit string) string {
	now, err := commitOf(g)
	switch {
	case err != nil:
		return "the commit of HEAD cannot be told"
	case now == commit:
		return ""
	}
	log, err := readTail(filepath.Join(g.Repository.GitDir, "logs", "HEAD"), maxLog)
	if err != nil {
		return "HEAD moved, and its log does not tell how"
	}
	return findMoves(log, commit, now)
}

// findMoves follows the log of HEAD back from one commit to another, as long as each move was a
// commit.
func findMoves(log []byte, from, to string) string {
	lines := bytes.Split(bytes.TrimRight(log, "\n"), []byte("\n"))
	for i := len(lines) - 1; i >= 0 && to != from; i-- {
		who, message, _ := strings.Cut(string(lines[i]), "\t")
		ids := strings.Fields(who)
		if len(ids) < 2 || ids[1] != to {
			break
		}
		if ids[0] != ids[1] && !isCommit(message) {
			verb, _, _ := strings.Cut(message, ":")
			verb, _, _ = strings.Cut(verb, " ")
			return "HEAD moved by " + shownName(files.Clip(verb))
		}
		if to = ids[0]; strings.Trim(to, "0") == "" {
			to = "" // the first commit
		}
	}
	if to != from {
		return "HEAD moved, and its log does not tell how"
	}
	return ""
}

// isCommit reports whether a line of the log is a commit made here.
func isCommit(message string) bool {
	for _, begin := range []string{"commit: ", "commit (amend): ", "commit (initial): "} {
		if strings.HasPrefix(message, begin) {
			return true
		}
	}
	return false
}

// readTail reads the end of a regular file.
func readTail(name string, limit int64) ([]byte, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, files.ErrNotRegular
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if _, err := f.Seek(max(0, info.Size()-limit), io.SeekStart); err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(f, limit))
}
