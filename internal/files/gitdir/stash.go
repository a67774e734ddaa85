package gitdir

import (
	"path/filepath"
	"strings"

	"github.com/umpirehq/umpire"
)

// stash returns the changes of git stash: push reverts tracked files and, with -u, removes
// untracked files; apply restores both. Pop is unknown because dropping a stash loses commits.
func (r *reader) stash(top string, words []string) (changes []umpire.TrialEffect, known bool) {
	if len(words) > 0 && words[0] == "apply" {
		return r.applied(top, words[1:])
	}
	if len(words) > 0 && words[0] == "push" {
		words = words[1:]
	}
	untracked := false
	for ; len(words) > 0; words = words[1:] {
		switch word := words[0]; {
		case word == "-u" || word == "--include-untracked":
			untracked = true
		case word == "-q" || word == "--quiet" || word == "-k" || word == "--keep-index":
		case (word == "-m" || word == "--message") && len(words) > 1:
			words = words[1:]
		case strings.HasPrefix(word, "--message="):
		default:
			return nil, false
		}
	}
	listed, err := r.git("diff-index", "-R", "-z", "--raw", "--no-renames", "HEAD")
	if err != nil {
		return nil, false
	}
	if changes, known = parseRaw(top, listed); !known || !untracked {
		return changes, known
	}
	others, err := r.git("-C", top, "ls-files", "-z", "--others", "--exclude-standard")
	names := splitList(others)
	if err != nil || len(names) > maxPaths {
		return nil, false
	}
	for _, name := range names {
		if strings.HasSuffix(name, "/") || !filepath.IsLocal(name) {
			return nil, false // a repository
		}
		changes = append(changes, umpire.TrialEffect{Kind: umpire.EffectDeleted, Path: filepath.Join(top, name)})
	}
	return changes, true
}

// applied returns the changes of applying a stash.
func (r *reader) applied(top string, words []string) ([]umpire.TrialEffect, bool) {
	stash := "refs/stash"
	for _, word := range words {
		switch {
		case word == "-q" || word == "--quiet":
		case strings.HasPrefix(word, "stash@{") && stash == "refs/stash":
			stash = word
		default:
			return nil, false
		}
	}
	if _, err := r.git("rev-parse", "--verify", "--quiet", stash+"^3"); err == nil {
		return nil, false // it contains untracked files
	}
	listed, err := r.git("diff-tree", "-r", "-z", "--raw", "--no-renames", stash+"^1", stash)
	if err != nil {
		return nil, false
	}
	return parseRaw(top, listed)
}

// splitList splits a list of names, each terminated by a zero byte.
func splitList(data []byte) []string {
	if len(data) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00")
}
