package policy

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/strictjson"
	"github.com/umpirehq/umpire/shell"
)

// maxRevision is the maximum length of the name of a revision, a branch or a remote.
const maxRevision = 256

// maxCommits is the maximum number of commits that one GitLog may show.
const maxCommits = 1000

// GitWords returns the command that a call of a Git tool stands for, as words of a command
// line: umpire judges this command and runs nothing else. An error names an input field that is
// malformed or exceeds the tool's purpose: forcing, deleting, another program, another place.
//
//	GitStatus    paths
//	GitDiff      staged, stat, revision, paths
//	GitLog       limit, revision, paths
//	GitCommit    message, all, paths
//	GitPush      remote (origin), branch (the current one), set_upstream
//	GitCheckout  branch or revision, create, paths
func GitWords(call umpire.Call) ([]string, error) {
	in, err := readInput(call.Input)
	if err != nil {
		return nil, err
	}
	return gitWords(call.Tool, in)
}

func gitWords(tool string, in strictjson.Object) ([]string, error) {
	g := gitWordReader{}
	switch tool {
	case "GitStatus":
		return g.words(in, "status"), g.err
	case "GitDiff":
		staged, stat := g.flag(in, "staged", "--cached"), g.flag(in, "stat", "--stat")
		return g.words(in, "diff", staged, stat, g.revision(in, "revision")), g.err
	case "GitLog":
		return g.words(in, "log", g.limit(in), g.revision(in, "revision")), g.err
	case "GitCommit":
		return g.words(in, "commit", g.flag(in, "all", "-a"), g.message(in)), g.err
	case "GitPush":
		return g.push(in), g.err
	case "GitCheckout":
		return g.checkout(in), g.err
	}
	return nil, umpire.Errorf("tool: %q is not a Git tool", tool)
}

// A gitWordReader turns the input of a Git tool into words and keeps the first error.
type gitWordReader struct{ err error }

func (g *gitWordReader) refuse(name, format string, args ...any) {
	if g.err == nil {
		g.err = umpire.Errorf("input.%s: %w", name, umpire.Errorf(format, args...))
	}
}

// words assembles a command, paths last.
func (g *gitWordReader) words(in strictjson.Object, subcommand string, parts ...[]string) []string {
	words := append([]string{"git", subcommand}, slices.Concat(parts...)...)
	if paths := g.paths(in); len(paths) > 0 {
		words = append(append(words, "--"), paths...)
	}
	return words
}

func (g *gitWordReader) push(in strictjson.Object) []string {
	remote, branch := g.name(in, "remote", "origin"), g.name(in, "branch", "HEAD")
	words := append([]string{"git", "push"}, g.flag(in, "set_upstream", "--set-upstream")...)
	return append(words, remote, branch)
}

func (g *gitWordReader) checkout(in strictjson.Object) []string {
	target := g.revision(in, "branch", "revision")
	create := g.flag(in, "create", "-b")
	words := g.words(in, "checkout", create, target)
	switch paths := slices.Contains(words, "--"); {
	case len(create) > 0 && paths:
		g.refuse("paths", "cannot be used with create")
	case len(create) > 0:
		g.name(in, "branch", "") // a new name must be a name, not an expression
	}
	return words
}

// flag returns the option of a flag if it is set.
func (g *gitWordReader) flag(in strictjson.Object, name, option string) []string {
	switch raw := in[name]; string(raw) {
	case "true", `"true"`:
		return []string{option}
	case "", "null", "false", `"false"`:
	default:
		g.refuse(name, "want true or false, got %s", strictjson.KindOf(raw))
	}
	return nil
}

func (g *gitWordReader) limit(in strictjson.Object) []string {
	raw := strings.Trim(string(in["limit"]), `"`)
	if raw == "" || raw == "null" {
		return nil
	}
	n, err := strconv.Atoi(raw)
	if err != nil || n < 1 || n > maxCommits {
		g.refuse("limit", "want 1 to %d", maxCommits)
	}
	return []string{"-n", strconv.Itoa(n)}
}

func (g *gitWordReader) message(in strictjson.Object) []string {
	text, err := textOf(in, "message")
	if err != nil && g.err == nil {
		g.err = err
	}
	if text == "" {
		return nil
	}
	return []string{"-m", text}
}

// paths returns the paths. They are literal; a star means a star.
func (g *gitWordReader) paths(in strictjson.Object) []string {
	raw := in["paths"]
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	paths, err := readPaths("paths", raw)
	if err == nil && len(paths) > MaxPaths {
		err = umpire.Errorf("input.paths: more than %d", MaxPaths)
	}
	if err != nil && g.err == nil {
		g.err = err
	}
	return paths
}

// revision returns the revision in the first field that is set.
func (g *gitWordReader) revision(in strictjson.Object, names ...string) []string {
	text, err := textOf(in, names...)
	switch {
	case err != nil:
		if g.err == nil {
			g.err = err
		}
	case text == "":
	case !plainRevision(text):
		g.refuse(names[0], "want the name of a revision")
	default:
		return []string{text}
	}
	return nil
}

// name returns the name of a branch or a remote. A refspec, URL or path is an error.
func (g *gitWordReader) name(in strictjson.Object, field, otherwise string) string {
	text, err := textOf(in, field)
	if err != nil && g.err == nil {
		g.err = err
	}
	if text == "" {
		return otherwise
	}
	if problem := nameProblem(text); problem != nil {
		g.refuse(field, "%w", problem)
	}
	return text
}

func plainRevision(text string) bool {
	return len(text) <= maxRevision && text[0] != '-' && !strings.ContainsFunc(text, unicode.IsControl)
}

// nameProblem checks a name against git's rules for references (git-check-ref-format), and also
// that git cannot read it as anything else.
func nameProblem(text string) error {
	special := func(r rune) bool {
		return unicode.IsControl(r) || unicode.IsSpace(r) || strings.ContainsRune(`:~^?*[\+`, r)
	}
	switch {
	case !plainRevision(text):
		return errors.New("is not a name")
	case strings.ContainsFunc(text, special):
		return errors.New("has a character that git treats specially")
	case strings.Contains(text, "..") || strings.Contains(text, "@{") || strings.Contains(text, "//") || text == "@":
		return errors.New("is an expression, not a name")
	case strings.HasPrefix(text, ".") || strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~"),
		strings.HasSuffix(text, "/") || strings.HasSuffix(text, ".") || strings.HasSuffix(text, ".lock"):
		return errors.New("is a path, not a name")
	}
	return nil
}

// gitAccesses judges the command of a Git tool like a shell command, with at least the risk of
// the tool.
func gitAccesses(t tool, in strictjson.Object, env shell.Env) ([]umpire.Access, error) {
	words, err := gitWords(t.name, in)
	if err != nil {
		return nil, err
	}
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	accesses := shell.Parse(strings.Join(quoted, " "), env)
	own := slices.IndexFunc(
		accesses,
		func(a umpire.Access) bool { return a.Kind == umpire.KindExec && a.Program == words[0] && a.Doubt == "" },
	)
	if own < 0 {
		return append(accesses, umpire.Access{
			Kind: umpire.KindExec, Program: words[0], Args: words[1:], Words: words, Risk: t.risk,
			Consequence: t.consequence, Reason: t.why,
		}), nil
	}
	if a := &accesses[own]; t.risk.AtLeast(a.Risk) {
		a.Risk, a.Reason = t.risk, t.why
	}
	return accesses, nil
}
