package judge

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
)

// gitProject creates a real repository at autonomy high and runs the shell lines of setup in it.
func gitProject(t *testing.T, setup string) (find func() (*Judge, error), root string) {
	t.Helper()
	find, root = effectsJudge(t, policy.Settings{Autonomy: policy.AutonomyHigh.Autonomy()})
	if err := os.Remove(filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	script := `set -e
git init -q -b main; git config user.name a; git config user.email a@b; echo one > README.md; mkdir -p src; echo a > src/a
git add .; git commit -qm one
` + setup
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return find, root
}

// A switch is judged by the files it would write and delete.
func TestSwitchIsJudgedByItsFiles(t *testing.T) {
	t.Parallel()
	const setup = `
git switch -qc evil; mkdir .claude .vscode; echo '{"disableAllHooks":true}' > .claude/settings.json
echo x > .envrc; echo {} > .vscode/tasks.json; git add -f .; git commit -qm evil; git switch -q main
git switch -qc good; echo two > README.md; echo b > src/b; git commit -qam two; git switch -q main
git switch -qc link; ln -s /etc/hostname h; git add h; git commit -qm l; git switch -q main
mkdir .umpire; echo {} > .umpire/permissions.json; git add -f .umpire; git commit -qm rules
git update-ref refs/remotes/origin/fresh evil; git update-ref refs/remotes/origin/calm good; git branch old main~1
echo ignored > .git/info/exclude; git switch -qc over; echo x > ignored; git add -f ignored; git commit -qm x
git switch -q main; echo mine > ignored
git branch -q rules main
echo x > .envrc; git stash -qu; echo two > README.md; git stash -q; echo x > .envrc; git add .envrc; git stash -q
git update-ref -m x --create-reflog refs/stash stash@{1}; echo x > .envrc; echo three > README.md; git add README.md`
	find, root := gitProject(t, setup)
	tests := map[string]umpire.Verdict{
		"git switch good": umpire.Allow, "git checkout good": umpire.Allow, "git switch -c new": umpire.Allow,
		"git checkout -q -b new good": umpire.Ask, // good lacks .umpire, which main has
		"git switch evil":             umpire.Ask, "git switch -q evil": umpire.Ask, "git switch -c n evil": umpire.Ask,
		"git checkout evil": umpire.Ask, "git checkout -b n evil": umpire.Ask, "git switch --detach evil": umpire.Ask,
		"git switch origin/fresh": umpire.Ask, "git switch fresh": umpire.Ask, "git switch old": umpire.Ask,
		"git switch link": umpire.Ask, "git switch over": umpire.Ask, "git switch nosuch": umpire.Ask,
		"git switch rules": umpire.Allow, "git checkout -b new": umpire.Allow, "git switch -c n rules": umpire.Allow,
		"git switch $X": umpire.Ask, "git switch go*": umpire.Ask, "git switch -f good": umpire.Ask,
		"git switch rules && git switch evil": umpire.Ask, "git branch -f rules evil; git switch rules": umpire.Ask,
		"python3 x.py; git switch rules": umpire.Ask, "git -C .. switch rules": umpire.Ask,
		"git stash": umpire.Allow, "git stash -u": umpire.Ask, "git stash push -q -m x": umpire.Allow,
		"git stash pop": umpire.Ask, "git stash apply": umpire.Allow, "git stash drop": umpire.Ask,
		"git stash apply stash@{1}": umpire.Ask, "git stash apply -q stash@{2}": umpire.Allow,
		"git stash apply stash@{3}": umpire.Ask, "git stash apply x": umpire.Ask,
		"git stash branch x": umpire.Ask, "git stash push README.md": umpire.Ask,
	}
	tests["git switch good"], tests["git checkout good"] = umpire.Ask, umpire.Ask // as above
	for line, want := range tests {
		if d := decideLine(t, find, root, line, false); d.Verdict != want {
			t.Errorf("%s: %v, want %v: %s %s", line, d.Verdict, want, d.ReasonCode, d.Reason)
		}
	}
}

// A switch between branches that differ in plain files runs unasked and names each file.
func TestSwitchBetweenPlainFilesRuns(t *testing.T) {
	t.Parallel()
	find, root := gitProject(t, `git switch -qc good; echo two > README.md; git rm -q src/a; echo b > b; git add b
git commit -qam two; git switch -q main; git update-ref refs/remotes/origin/far good`)
	for _, line := range []string{
		"git switch good", "git checkout good", "git checkout -q good", "git switch far", "git switch --detach good",
		"git switch -c n good",
	} {
		d := decideLine(t, find, root, line, false)
		kinds := ""
		for i := range d.Accesses {
			kinds += d.Accesses[i].Kind.String() + " "
		}
		if d.Verdict != umpire.Allow || kinds != "exec write write delete " {
			t.Errorf("%s: %v %s: %s", line, d.Verdict, kinds, d.Reason)
		}
	}
}

// The object store cannot show how programs in the person's settings will change files.
func TestPersonsProgramsAreTried(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"filter": "[filter \"lfs\"]\n\tsmudge = git-lfs smudge -- %f\n", "hooks": "[core]\n\thooksPath = ~/hooks\n",
		"driver": "[merge \"x\"]\n\tdriver = x\n", "monitor": "[core]\n\tfsmonitor = x\n", "broken": "[core\n",
		"included": "[include]\n\tpath = other\n",
	} {
		find, root := gitProject(t, "git switch -qc good; echo two > README.md; git commit -qam two; git switch -q main")
		home := filepath.Join(filepath.Dir(root), "home")
		for file, text := range map[string]string{".gitconfig": text, "other": "[filter \"x\"]\n\tclean = x\n"} {
			if err := os.WriteFile(filepath.Join(home, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, line := range []string{"git switch good", "git add README.md", "git commit -m x"} {
			if d := decideLine(t, find, root, line, false); d.Verdict != umpire.Ask || d.Trial != umpire.TrialFirst {
				t.Errorf("%s: %s: %v, trial %q: %s", name, line, d.Verdict, d.Trial, d.Reason)
			}
		}
	}
}

// Editing git's own files by hand always asks, whichever tool writes them.
func TestFilesOfGitAreNotEdited(t *testing.T) {
	t.Parallel()
	find, root := gitProject(t, "mkdir -p docs/objects docs/refs; echo x > docs/HEAD; mkdir -p half/refs; echo x > half/HEAD")
	for name := range strings.FieldsSeq(`.git/HEAD .git/index .git/packed-refs .git/shallow .git/MERGE_HEAD .git/ORIG_HEAD
		.git/info/exclude .git/info/grafts .git/info/sparse-checkout .git/objects/info/alternates .git/refs/heads/main
		.git/refs/stash .GIT/HEAD sub/.git/HEAD docs/config docs/hooks/post-checkout half/objects/a half/objects`) {
		for _, tool := range []string{"Write", "Bash"} {
			input := map[string]string{"command": "echo x > " + name}
			if tool == "Write" {
				input = map[string]string{"file_path": filepath.Join(root, name), "content": "x"}
			}
			text, err := json.Marshal(input)
			if err != nil {
				t.Fatal(err)
			}
			q := policy.Query{Call: umpire.Call{Tool: tool, Dir: root, Input: text}}
			q.Mode = umpire.ModeDefault
			if d := Decide(find, q, time.Now); d.Verdict != umpire.Ask || d.Trial == umpire.TrialFirst {
				t.Errorf("%s %s: %v, trial %q: %s", tool, name, d.Verdict, d.Trial, d.Reason)
			}
		}
	}
	for name := range strings.FieldsSeq(`docs/a config HEAD objects/a half/config src/HEAD`) {
		if d := decideLine(t, find, root, "echo x > "+name, false); d.Verdict != umpire.Allow {
			t.Errorf("%s: %v: %s", name, d.Verdict, d.Reason)
		}
	}
}
