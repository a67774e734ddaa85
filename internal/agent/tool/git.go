package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/hold/process"
	"github.com/umpirehq/umpire/policy"
)

const (
	gitTimeout  = 2 * time.Minute
	pushTimeout = 10 * time.Minute
	logCommits  = "20" // of a GitLog that names no limit
)

// A gitVerb says how one subcommand of git runs so it does no more than its name says.
// Its settings and options switch off side effects that a repository's or a person's
// settings could add.
type gitVerb struct {
	looks   bool     // changes nothing, and starts no programs
	options []string // after the subcommand
	nothing string   // the result if there is no output
	timeout time.Duration
}

var gitVerbs = map[string]gitVerb{
	"GitStatus": {
		looks: true, options: []string{"--short", "--branch", "--ignore-submodules=dirty"}, timeout: gitTimeout,
	},
	"GitDiff": {
		looks: true, nothing: "[no differences]", timeout: gitTimeout,
		options: []string{"--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=dirty"},
	},
	"GitLog": {
		looks: true, nothing: "[no commits]", timeout: gitTimeout,
		options: []string{
			"--no-ext-diff", "--no-textconv", "--no-color", "--no-show-signature", "--decorate=short", "--date=iso",
			"-n", logCommits,
		},
	},
	"GitCommit": {
		options: []string{"--no-edit", "--no-amend", "--no-interactive", "--no-patch"}, timeout: gitTimeout,
	},
	"GitPush": {options: []string{
		"--no-force", "--no-mirror", "--no-delete", "--no-prune", "--no-follow-tags", "--recurse-submodules=no",
		"--receive-pack=git-receive-pack",
	}, nothing: "[pushed]", timeout: pushTimeout},
	"GitCheckout": {
		options: []string{"--no-force", "--no-recurse-submodules", "--no-overwrite-ignore", "--no-progress"},
		nothing: "[checked out]", timeout: gitTimeout,
	},
}

// gitSettings hold for every subcommand, lookingSettings for those that only look.
var (
	gitSettings = []string{
		"core.fsmonitor=false", "core.pager=cat", "core.alternateRefsCommand=", "protocol.ext.allow=never",
		"color.ui=false", "advice.detachedHead=false",
		"diff.ignoreSubmodules=dirty", // or git runs programs from the settings of submodules
	}
	lookingSettings = []string{
		"core.hooksPath=" + os.DevNull, "diff.external=", "submodule.recurse=false", "status.submoduleSummary=false",
	}
)

const gitPaths = `"paths":{"type":"array","items":{"type":"string"},"description":"only these files and folders"}`

var (
	gitStatusTool = gitTool("Shows the branch and what has changed in the work tree, in git's short form.", "",
		gitPaths)
	gitDiffTool = gitTool("Shows changes that are not staged, or those of a revision or a range.", "",
		`"staged":{"type":"boolean","description":"what is staged instead"},
		"stat":{"type":"boolean","description":"only how much changed in which file"},
		"revision":{"type":"string","description":"compare with this, or a range: main, HEAD~2, main..topic"},`+
			gitPaths)
	gitLogTool = gitTool("Shows commits, the latest first.", "",
		`"limit":{"type":"integer","minimum":1,"maximum":1000,"description":"how many (default 20)"},
		"revision":{"type":"string","description":"begin here, or a range: topic, main..topic"},`+gitPaths)
	gitCommitTool = gitTool("Records a commit of what is staged, of all changes to known files (all), or of the "+
		"paths that are named. "+
		"It never changes an earlier commit. New files have to be staged first.", `"message"`,
		`"message":{"type":"string"},
		"all":{"type":"boolean","description":"of all changes to files that git knows"},`+gitPaths)
	gitPushTool = gitTool("Publishes a branch to a remote that the repository knows, under the same name. "+
		"It never forces and deletes nothing.", "",
		`"remote":{"type":"string","description":"its name (default: origin)"},
		"branch":{"type":"string","description":"its name (default: the current one)"},
		"set_upstream":{"type":"boolean","description":"remember the remote as the branch's own"}`)
	gitCheckoutTool = gitTool("Switches to a branch or a revision, or makes a new branch (create). With paths it "+
		"replaces these files by "+
		"their version in the revision, or in the index: what was changed in them is lost.", "",
		`"branch":{"type":"string","description":"the branch or revision"},
		"create":{"type":"boolean","description":"the branch is new"},
		"paths":{"type":"array","items":{"type":"string"},"description":"replace only these files"}`)
)

func gitTool(about, required, properties string) tool {
	return tool{
		about: about, run: (*Set).git,
		schema: `{"type":"object","required":[` + required + `],"properties":{` + properties + `}}`,
	}
}

// git runs exactly the command of the decision.
func (s *Set) git(ctx context.Context, u *use) (string, error) {
	words, err := policy.GitWords(u.call)
	if err != nil {
		return "", err
	}
	if err := u.allowsGit(words); err != nil {
		return "", err
	}
	if err := s.checkGit(ctx, u, words); err != nil {
		return "", err
	}
	verb := gitVerbs[u.call.Tool]
	ctx, cancel := context.WithTimeoutCause(ctx, verb.timeout, fmt.Errorf("%w after %v", errTimeout, verb.timeout))
	defer cancel()
	var out output
	sink, done := s.streamOutput(u.call.ID, &out)
	defer done()
	err = s.runGit(ctx, u.call.Dir, verb, verb.args(words), sink)
	text := out.String()
	if err == nil && text == "" {
		text = verb.nothing
	}
	return text, err
}

// allowsGit refuses a command whose decision was about another one.
func (u *use) allowsGit(words []string) error {
	spoken := false
	for i := range u.decision.Accesses {
		if err := u.permits(i); err != nil {
			return err
		}
		a := &u.decision.Accesses[i]
		spoken = spoken || a.Kind == umpire.KindExec && a.Program == words[0] && slices.Equal(a.Args, words[1:])
	}
	if !spoken {
		return errors.New("the decision does not cover this command")
	}
	return nil
}

// checkGit rejects calls that the words alone do not reveal: a commit that would open
// an editor, and a remote that is not configured, which git would take for a path.
func (s *Set) checkGit(ctx context.Context, u *use, words []string) error {
	switch u.call.Tool {
	case "GitCommit":
		if !slices.Contains(words, "-m") {
			return errors.New("input.message: is missing")
		}
	case "GitCheckout":
		if len(words) == 2 {
			return errors.New("input.branch: is missing")
		}
	case "GitPush":
		remote := words[len(words)-2]
		if err := s.runGit(
			ctx, u.call.Dir, gitVerbs["GitLog"], []string{"config", "--get", "remote." + remote + ".url"}, io.Discard,
		); err != nil {
			return fmt.Errorf("input.remote: the repository has no remote %q", remote)
		}
	}
	return nil
}

// args is the command line for a subcommand: settings first, then its own options, which the
// words can override.
func (v gitVerb) args(words []string) []string {
	args := []string{"--no-pager", "--literal-pathspecs"}
	settings := gitSettings
	if v.looks {
		args = append(args, "--no-optional-locks")
		settings = slices.Concat(gitSettings, lookingSettings)
	}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	args = append(append(append(args, words[1]), v.options...), words[2:]...)
	if !slices.Contains(words, "--") && words[1] != "push" {
		args = append(args, "--") // the words before it are not paths
	}
	return args
}

// runGit runs git in a folder.
func (s *Set) runGit(ctx context.Context, dir string, verb gitVerb, args []string, out io.Writer) error {
	//nolint:noctx,gosec // the context ends the whole process group; the arguments are those of the decision
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = gitEnv(commandEnv(s.options.Env), verb.looks)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = pipeGrace
	process.Own(cmd)
	return runGroup(ctx, cmd, s.grace)
}

// gitKept are git's variables that a person sets for their identity and network access.
// The others choose the repository, start programs or write traces.
var gitKept = []string{
	"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL",
	"GIT_COMMITTER_DATE",
	"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT",
	"GIT_SSL_CAINFO", "GIT_SSL_CAPATH",
	"GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM",
}

// gitEnv returns the environment of git, which must not prompt or open an editor. With
// looks, git also does not fetch missing objects from a remote.
func gitEnv(env []string, looks bool) []string {
	kept := slices.DeleteFunc(slices.Clone(env), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return strings.HasPrefix(name, "GIT_") && !slices.Contains(gitKept, name) || name == "SSH_ASKPASS" ||
			name == "PAGER" || name == "EDITOR" || name == "VISUAL"
	})
	kept = append(kept, "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "GIT_EDITOR=:", "GIT_SEQUENCE_EDITOR=:")
	if looks {
		kept = append(kept, "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=")
	}
	return kept
}
