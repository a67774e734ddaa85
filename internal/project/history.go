package project

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/files/gitdir"
)

const (
	// gitTimeout limits the total time of all git commands of one Open.
	gitTimeout = 5 * time.Second
	// gitGrace is how long a killed git may keep its pipes open.
	gitGrace = 200 * time.Millisecond
	// maxGitOutput limits one command's output in bytes: about 25,000 root commits.
	maxGitOutput = 1 << 20
)

// rootCommits returns the root commits of head, sorted. If the roots of an earlier head
// are known, it only walks the commits since then.
func (r *repository) rootCommits(ctx context.Context, head string, known walked) ([]string, error) {
	if len(known.Roots) > 0 {
		if roots, ok := r.extend(ctx, head, known); ok {
			return roots, nil
		}
	}
	roots, err := r.git(ctx, "rev-list", "--max-parents=0", head, "--")
	if err != nil {
		return nil, err
	}
	if len(roots) == 0 {
		return nil, errors.New("git names no root commit")
	}
	slices.Sort(roots)
	return roots, nil
}

// extend adds the roots of the new commits to the known ones. This is correct if the
// known head is an ancestor of the new one, and also if they merely share a commit and
// there is one known root, from which that commit must descend.
func (r *repository) extend(ctx context.Context, head string, known walked) ([]string, bool) {
	base, err := r.git(ctx, "merge-base", head, known.Head)
	if err != nil || len(base) == 0 || base[0] != known.Head && len(known.Roots) > 1 {
		return nil, false
	}
	roots, err := r.git(ctx, "rev-list", "--max-parents=0", head, "^"+known.Head, "--")
	if err != nil {
		return nil, false
	}
	roots = append(roots, known.Roots...)
	slices.Sort(roots)
	return slices.Compact(roots), true
}

// harmlessConfig are settings that prevent a repository's own configuration from starting
// a program, reaching the network or rewriting history.
var harmlessConfig = []string{
	"--no-replace-objects", "--no-pager",
	"-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull,
	"-c", "core.sshCommand=false", "-c", "core.gitProxy=", "-c", "core.askPass=",
	"-c", "credential.helper=", "-c", "protocol.allow=never", "-c", "gpg.program=false",
	"-c", "log.showSignature=false", "-c", "advice.graftFileDeprecated=false", "-c", "core.alternateRefsCommand=false",
}

// passedOn are the variables of our own environment that git needs. All others are
// removed, because GIT_DIR and the like would select another repository.
var passedOn = []string{
	"PATH", "HOME", "USERPROFILE", "SYSTEMROOT", "XDG_CONFIG_HOME",
	"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
}

// git runs a read-only command, and returns the lines of its output, which must be
// commits. An exit status of 1 without output counts as no lines.
func (r *repository) git(ctx context.Context, args ...string) ([]string, error) {
	program, err := r.program()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, slices.Concat(harmlessConfig, args)...)
	cmd.Dir = r.Root
	cmd.Env = r.environment()
	cmd.WaitDelay = gitGrace
	var out, complaint bytes.Buffer
	cmd.Stdout = files.LimitWriter(&out, maxGitOutput)
	cmd.Stderr = files.LimitWriter(&complaint, maxGitOutput)
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() == 1 && out.Len() == 0 {
			return nil, nil
		}
		if ctx.Err() != nil {
			return nil, umpire.Errorf("git %s: stopped after %v: %w", args[0], gitTimeout, ctx.Err())
		}
		first, _, _ := strings.Cut(complaint.String(), "\n")
		return nil, umpire.Errorf("git %s: %w: %q", args[0], err, files.Clip(first))
	}
	return splitCommits(args[0], out.String())
}

// splitCommits splits the output of a git command, and accepts only commits.
func splitCommits(command, output string) ([]string, error) {
	lines := strings.Fields(output)
	for _, line := range lines {
		if _, err := gitdir.CheckObjectID(line); err != nil {
			return nil, umpire.Errorf("git %s: %w", command, err)
		}
	}
	return lines, nil
}

// program finds git, and refuses one that the project itself put on the path.
func (r *repository) program() (string, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return "", err
	}
	path, err := files.Canonical(program)
	if err != nil {
		return "", err
	}
	if files.Within(r.Root, program) || files.Within(r.Root, path) {
		return "", umpire.Errorf("git at %q belongs to the project and is not run", program)
	}
	return program, nil
}

func (r *repository) environment() []string {
	env := []string{
		"LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=none", "GIT_GRAFT_FILE=" + os.DevNull,
		// The repository must be at the root.
		"GIT_CEILING_DIRECTORIES=" + filepath.Dir(r.Root),
	}
	for _, name := range passedOn {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}
