package gitdir

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// Limits on reading the difference between two commits.
const (
	maxPaths  = 20_000
	maxListed = 8 << 20
	patience  = 5 * time.Second
)

// Foresee returns the changes that a git command would make in the work tree around dir. It supports
// commands that switch to another branch or commit, stash changes, or apply a stash. words is the
// command without git's global options. Between reads the object store and starts no program that the
// repository or the person has configured.
//
// known is false if the changes cannot be foreseen: for another subcommand, an option that does more, a
// name that is not a commit, submodules, links, and untracked files that git would overwrite.
func Foresee(ctx context.Context, dir string, words []string) (changes []umpire.TrialEffect, known bool) {
	top := FindWorktree(dir)
	if !MovesFiles(words) || top == "" {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r := reader{ctx: ctx, dir: dir}
	if words[1] == "stash" {
		return r.stash(top, words[2:])
	}
	to, known := target(words)
	if !known || to == "" {
		return nil, known
	}
	commit := r.commitOf(to)
	if commit == "" {
		return nil, false
	}
	listed, err := r.git("diff-tree", "-r", "-z", "--raw", "--no-renames", "HEAD^{commit}", commit)
	if err != nil {
		return nil, false
	}
	return parseRaw(top, listed)
}

// target returns the destination of switch or checkout. "" stays on the commit, as a new branch does.
func target(words []string) (to string, known bool) {
	creates, operands := false, []string{}
	for rest := words[2:]; len(rest) > 0; rest = rest[1:] {
		switch word := rest[0]; {
		case word == "-q" || word == "--quiet" || word == "--detach" || word == "-d":
		case word == "-c" && words[1] == "switch", word == "--create" && words[1] == "switch",
			word == "-b" && words[1] == "checkout":
			if creates || len(rest) < 2 {
				return "", false
			}
			creates, rest = true, rest[1:]
		case strings.HasPrefix(word, "-") && word != "-":
			return "", false
		default:
			operands = append(operands, word)
		}
	}
	switch {
	case len(operands) == 0:
		return "", creates
	case len(operands) > 1 || strings.ContainsAny(operands[0], "*?[\x00\x01") || strings.Contains(operands[0], ".."):
		return "", false
	case operands[0] == "-":
		return "@{-1}", true
	}
	return operands[0], true
}

// A reader asks git about objects and refs.
type reader struct {
	ctx context.Context //nolint:containedctx // it lives as long as one question
	dir string
}

// git runs a read-only plumbing command. It ignores the settings of the person and the system,
// overrides repository settings that name programs, and fetches nothing.
func (r *reader) git(args ...string) ([]byte, error) {
	cmd := exec.CommandContext(r.ctx, "git", append([]string{
		"--no-optional-locks", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null",
		"-c", "protocol.allow=never", "-c", "diff.external=", "-c", "core.alternateRefsCommand=false",
	}, args...)...)
	cmd.Dir = r.dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_ATTR_NOSYSTEM=1",
		"GIT_ALLOW_PROTOCOL=none", // overrides protocol.*.allow of the repository
	}
	var out bytes.Buffer
	cmd.Stdout = files.LimitWriter(&out, maxListed)
	err := cmd.Run()
	return out.Bytes(), err
}

// commitOf finds the commit that switch or checkout would go to: a local branch, any commit, or
// the only remote branch of that name.
func (r *reader) commitOf(name string) string {
	if _, err := os.Lstat(filepath.Join(r.dir, name)); err == nil {
		return "" // checkout may take it for the file
	}
	for _, form := range []string{"refs/heads/" + name, name} {
		out, err := r.git("rev-parse", "--verify", "--quiet", "--end-of-options", form+"^{commit}")
		if id, bad := CheckObjectID(strings.TrimSpace(string(out))); err == nil && bad == nil {
			return id
		}
	}
	out, err := r.git("for-each-ref", "--format=%(objectname)", "refs/remotes/*/"+name)
	id, bad := CheckObjectID(strings.TrimSpace(string(out)))
	if err != nil || bad != nil {
		return ""
	}
	return id
}

// Modes of tree entries that are missing or plain files.
const (
	modeNothing = "000000"
	modeFile    = "100644"
	modeProgram = "100755"
)

// parseRaw parses the output of diff-tree --raw -z.
func parseRaw(top string, listed []byte) (changes []umpire.TrialEffect, known bool) {
	fields := splitList(listed)
	if len(fields)%2 != 0 || len(fields)/2 > maxPaths {
		return nil, false
	}
	for i := 0; i < len(fields); i += 2 {
		about := strings.Fields(fields[i])
		if len(about) != 5 || !filepath.IsLocal(fields[i+1]) {
			return nil, false
		}
		before, after := strings.TrimPrefix(about[0], ":"), about[1]
		change := umpire.TrialEffect{Kind: umpire.EffectChanged, Path: filepath.Join(top, fields[i+1]), Mode: 0o644}
		switch {
		case !isPlain(before) || !isPlain(after):
			return nil, false
		case before == modeNothing:
			change.Kind = umpire.EffectCreated
			if _, err := os.Lstat(change.Path); !errors.Is(err, fs.ErrNotExist) {
				return nil, false // git overwrites ignored files
			}
		case after == modeNothing:
			change.Kind = umpire.EffectDeleted
		}
		if after == modeProgram {
			change.Mode = 0o755
		}
		changes = append(changes, change)
	}
	return changes, true
}

func isPlain(mode string) bool { return mode == modeNothing || mode == modeFile || mode == modeProgram }

// MovesFiles reports whether [Between] may know the changes of a command.
func MovesFiles(words []string) bool {
	return len(words) > 1 && words[0] == "git" &&
		(words[1] == "switch" || words[1] == "checkout" || words[1] == "stash")
}
