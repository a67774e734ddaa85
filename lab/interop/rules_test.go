//go:build interop

package interop

import (
	"context"
	"os"
	"testing"

	"github.com/umpirehq/umpire/internal/host/drive"
)

// theirRules deny the program bash to each host whose commands umpire replaces: a file in the lab
// with its text, or words that the host is started with.
var theirRules = map[string]struct {
	file, text string
	words      []string
}{
	"codex": {"home/.codex/rules/mine.rules", `prefix_rule(pattern=["bash"], decision="forbidden")`, nil},
	"gemini": {"home/.gemini/policies/mine.toml",
		"[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"bash\"\ndecision = \"deny\"\npriority = 900\n", nil},
	"copilot":  {words: []string{"--deny-tool", "shell(bash:*)"}},
	"opencode": {"project/opencode.json", `{"permission": {"bash": {"bash *": "deny"}}}`, nil},
}

// TestTheirRulesComeFirst: hosts compare their rules only with the rewritten line, so umpire
// compares them with the original one.
func TestTheirRulesComeFirst(t *testing.T) {
	t.Parallel()
	for name, theirs := range theirRules {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			subject := newSubject(t, name)
			subject.Agent = withWords(subject.Driver.Agent, theirs.words...)
			l := tryingLab(t, *subject)
			if theirs.file != "" {
				must(t, l.Write(theirs.file, theirs.text))
			}
			must(t, l.Write("project/make.sh", "echo made > \"$1\"\n"))
			calls := []drive.Call{subject.Driver.Shell("bash make.sh denied"), subject.Driver.Shell("sh make.sh tried")}
			calls[0].ID, calls[1].ID = "denied", "tried"
			l.Model.Main = []drive.Turn{calls[:1], calls[1:]}
			ctx, cancel := context.WithTimeout(t.Context(), runLimit)
			defer cancel()
			out, err := l.Play(ctx, freeMode)
			must(t, err)
			for id, want := range map[string]bool{"denied": false, "tried": true} {
				r, told := l.Model.Result(id)
				t.Logf("%s: %.300q", id, r.Text)
				if l.Exists("project/"+id) != want || !told {
					t.Errorf("%s ran: %t\n%s", id, !want, out)
				}
			}
		})
	}
}

// tryingLab returns a lab in which umpire tries unknown commands.
func tryingLab(t *testing.T, s subject) *Lab {
	t.Helper()
	model, err := StartModel()
	must(t, err)
	t.Cleanup(model.Close)
	l, err := s.NewLab(shortTempDir(t), model)
	must(t, err)
	if out, code, err := l.Exec(t.Context(), "git", "init", "-q"); err != nil || code != 0 {
		t.Fatalf("git init: %v, exit %d: %s", err, code, out)
	}
	must(t, l.Write("home/.umpire/config.yaml", "autonomy.unknown_code: trial\nautonomy.deletes: trial\nautonomy.edits: run\n"))
	must(t, os.Chmod(l.Path("home/.umpire"), 0o700))
	must(t, l.Prepare())
	must(t, l.Register(t.Context()))
	return l
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
