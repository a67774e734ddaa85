package gitdir

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

const (
	// maxSymrefs is the maximum length of a chain of symbolic refs, the same as git's own limit.
	maxSymrefs = 5
	// maxPackedRefs is the maximum size of the packed-refs file, enough for about a million refs.
	maxPackedRefs = 128 << 20
)

// ErrNoCommits is returned if HEAD names a branch without commits.
var ErrNoCommits = errors.New("no commits yet")

// ErrReftable is returned if only git can read the refs.
var ErrReftable = errors.New("refs are in git's binary format")

// ReadHead returns the commit that HEAD names in a worktree, given its own git directory and
// the one that all worktrees share. It reads the files itself, because starting git takes
// longer than the rest of a decision. Only the binary reftable format is left to git.
func ReadHead(gitDir, common string) (string, error) {
	if files.Exists(common, "reftable") {
		return "", ErrReftable
	}
	name := "HEAD"
	for range maxSymrefs {
		value, err := readRef(gitDir, common, name)
		if err != nil {
			return "", err
		}
		target, symbolic := strings.CutPrefix(value, "ref:")
		if !symbolic {
			return CheckObjectID(value)
		}
		if name = strings.TrimSpace(target); !validRef(name) {
			return "", umpire.Errorf("HEAD names %q, which is not a ref", name)
		}
	}
	return "", umpire.Errorf("HEAD leads through more than %d symbolic refs", maxSymrefs)
}

// readRef returns the value of a name in its ref file or in the packed refs.
func readRef(gitDir, common, name string) (string, error) {
	dir := common
	if name == "HEAD" || perWorktree(name) {
		dir = gitDir
	}
	value, err := files.ReadLine(filepath.Join(dir, filepath.FromSlash(name)))
	if err == nil {
		return strings.TrimSpace(value), nil
	}
	if name == "HEAD" || !files.Missing(err) && !errors.Is(err, files.ErrNotRegular) {
		return "", err
	}
	return packedRef(common, name)
}

func packedRef(common, name string) (string, error) {
	data, err := files.ReadSmall(filepath.Join(common, "packed-refs"), maxPackedRefs)
	if files.Missing(err) {
		return "", ErrNoCommits
	}
	if err != nil {
		return "", err
	}
	before, _, ok := bytes.Cut(data, []byte(" "+name+"\n"))
	if !ok {
		return "", ErrNoCommits
	}
	return string(before[bytes.LastIndexByte(before, '\n')+1:]), nil
}

// perWorktree reports whether each worktree has its own ref of that name.
func perWorktree(name string) bool {
	return strings.HasPrefix(name, "refs/bisect/") || strings.HasPrefix(name, "refs/worktree/") ||
		strings.HasPrefix(name, "refs/rewritten/")
}

// validRef reports whether a ref stays below refs, so a hostile HEAD cannot name other files.
func validRef(name string) bool {
	return strings.HasPrefix(name, "refs/") && filepath.IsLocal(filepath.FromSlash(name)) &&
		!strings.ContainsAny(name, " \t\n\x00\\:") && !strings.Contains(name, "..")
}

// CheckObjectID returns id if it is a full SHA-1 or SHA-256 name, or an error.
func CheckObjectID(id string) (string, error) {
	if len(id) != 40 && len(id) != 64 || strings.Trim(id, "0123456789abcdef") != "" {
		return "", umpire.Errorf("%q is not a commit", files.Clip(id))
	}
	return id, nil
}
