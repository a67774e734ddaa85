package project

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/umpirehq/umpire/internal/gitdir"
)

const (
	// maxSymrefs is how many symbolic refs may lead to a commit; git's own limit.
	maxSymrefs = 5
	// maxPackedRefs bounds the packed-refs file, about a million refs.
	maxPackedRefs = 128 << 20
)

var errNoCommits = errors.New("no commits yet")

// head returns the commit that HEAD of this worktree names. It reads the files
// itself, since starting git costs more than all the rest of a decision; only
// the binary reftable format is left to git.
func (r *repository) head(ctx context.Context) (string, error) {
	if ground.Exists(r.Common, "reftable") {
		return r.headFromGit(ctx)
	}
	name := "HEAD"
	for range maxSymrefs {
		value, err := r.readRef(name)
		if err != nil {
			return "", err
		}
		target, symbolic := strings.CutPrefix(value, "ref:")
		if !symbolic {
			return checkObjectID(value)
		}
		if name = strings.TrimSpace(target); !validRef(name) {
			return "", fmt.Errorf("HEAD names %q, which is not a ref", name)
		}
	}
	return "", fmt.Errorf("HEAD leads through more than %d symbolic refs", maxSymrefs)
}

func (r *repository) headFromGit(ctx context.Context) (string, error) {
	lines, err := r.git(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err != nil {
		return "", err
	}
	if len(lines) != 1 {
		return "", errNoCommits
	}
	return lines[0], nil
}

// readRef returns what a ref file or the packed refs say about a name.
func (r *repository) readRef(name string) (string, error) {
	dir := r.Common
	if name == "HEAD" || perWorktree(name) {
		dir = r.GitDir
	}
	value, err := ground.ReadLine(filepath.Join(dir, filepath.FromSlash(name)))
	if err == nil {
		return strings.TrimSpace(value), nil
	}
	if name == "HEAD" || !ground.Missing(err) && !errors.Is(err, ground.ErrNotRegular) {
		return "", err
	}
	return r.packedRef(name)
}

func (r *repository) packedRef(name string) (string, error) {
	data, err := ground.ReadSmall(filepath.Join(r.Common, "packed-refs"), maxPackedRefs)
	if ground.Missing(err) {
		return "", errNoCommits
	}
	if err != nil {
		return "", err
	}
	before, _, ok := bytes.Cut(data, []byte(" "+name+"\n"))
	if !ok {
		return "", errNoCommits
	}
	return string(before[bytes.LastIndexByte(before, '\n')+1:]), nil
}

// perWorktree reports whether each worktree has its own ref of that name.
func perWorktree(name string) bool {
	return strings.HasPrefix(name, "refs/bisect/") || strings.HasPrefix(name, "refs/worktree/") ||
		strings.HasPrefix(name, "refs/rewritten/")
}

// validRef keeps a hostile HEAD from naming files outside the refs.
func validRef(name string) bool {
	return strings.HasPrefix(name, "refs/") && filepath.IsLocal(filepath.FromSlash(name)) &&
		!strings.ContainsAny(name, " \t\n\x00\\:") && !strings.Contains(name, "..")
}

// checkObjectID returns id when it is a full SHA-1 or SHA-256 name.
func checkObjectID(id string) (string, error) {
	if len(id) != 40 && len(id) != 64 || strings.Trim(id, "0123456789abcdef") != "" {
		return "", fmt.Errorf("%q is not a commit", ground.Clip(id))
	}
	return id, nil
}
