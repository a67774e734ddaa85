package project

import (
	"context"
	"errors"

	"github.com/umpirehq/umpire/internal/files/gitdir"
)

// head returns the commit of this worktree's HEAD.
func (r *repository) head(ctx context.Context) (string, error) {
	commit, err := gitdir.ReadHead(r.GitDir, r.Common)
	if errors.Is(err, gitdir.ErrReftable) {
		return r.headFromGit(ctx)
	}
	return commit, err
}

func (r *repository) headFromGit(ctx context.Context) (string, error) {
	lines, err := r.git(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err != nil {
		return "", err
	}
	if len(lines) != 1 {
		return "", gitdir.ErrNoCommits
	}
	return lines[0], nil
}
