package gitdir

import (
	"bufio"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/umpirehq/umpire/internal/files"
)

// maxReflog is the maximum size of a reflog.
const maxReflog = 64 << 20

// ClonedAt returns the time at which git noted that a worktree's repository was cloned, to the second. It
// returns the zero time for a repository that was made in another way, or whose first note has expired.
func ClonedAt(root string) time.Time {
	f, err := files.OpenSmall(filepath.Join(root, ".git", "logs", "HEAD"), maxReflog)
	if err != nil {
		return time.Time{}
	}
	defer f.Close()
	line, err := bufio.NewReader(f).ReadString('\n')
	signature, message, _ := strings.Cut(line, "\t")
	words := strings.Fields(signature)
	if err != nil || !strings.HasPrefix(message, "clone: from ") || len(words) < 2 {
		return time.Time{}
	}
	seconds, err := strconv.ParseInt(words[len(words)-2], 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}
