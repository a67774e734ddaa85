package tool

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/sandbox"
)

// TestMain lets the test program be the sandbox's helper.
func TestMain(m *testing.M) {
	sandbox.Main()
	os.Exit(m.Run())
}

// sandboxed is a bench whose commands run in the sandbox.
func sandboxed(t *testing.T) *bench {
	t.Helper()
	if a := sandbox.Available(); !a.Whole() {
		t.Skipf("no sandbox on this machine: %s", a.Lacks)
	}
	b := newBench(t)
	b.mode = umpire.SandboxWorkspaceWrite
	b.options.Sandbox = &sandbox.Place{Workspace: []string{b.root}, Home: b.home, Scratch: realDir(t)}
	return b
}

// Without a sandbox nothing runs that a decision wants one for.
func TestNoSandboxNoCommand(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.mode = umpire.SandboxWorkspaceWrite
	r := b.do("Bash", fields{"command": "touch made"})
	if r.Status != umpire.ResultError || !strings.Contains(r.Output, "was not run") {
		t.Errorf("%s %q, want an error", r.Status, r.Output)
	}
	if _, err := os.Stat(b.path("made")); err == nil {
		t.Error("it ran")
	}
}

func TestBashInTheSandbox(t *testing.T) {
	t.Parallel()
	b := sandboxed(t)
	if r := b.do("Bash", fields{"command": "echo x >made && cat made && exit 3"}); r.Output != "exit code 3\nx\n" {
		t.Errorf("%s %q", r.Status, r.Output)
	}
	if b.content("made") != "x\n" {
		t.Error("the file is not there")
	}
	// A program of which nobody knew that it writes elsewhere.
	b.file("script.sh", "echo x >"+b.outside+"/f")
	r := b.do("Bash", fields{"command": "sh ./script.sh"})
	if r.Status != umpire.ResultError || !strings.Contains(r.Output, "[the sandbox let this command change only the workspace") {
		t.Errorf("%s %q, want to hear of the sandbox", r.Status, r.Output)
	}
	if r := b.do("Bash", fields{"command": "exit 1"}); strings.Contains(r.Output, "sandbox") {
		t.Errorf("%q speaks of the sandbox without need", r.Output)
	}
}

// What was allowed by name can be written.
func TestAllowedPathsAreOpen(t *testing.T) {
	t.Parallel()
	b := sandboxed(t)
	if err := os.Mkdir(filepath.Join(b.outside, "d"), 0o755); err != nil {
		t.Fatal(err)
	}
	r := b.do("Bash", fields{"command": "echo x >" + b.outside + "/d/f"}) // bypass mode allows it
	if r.Status != umpire.ResultOK || b.content(filepath.Join(b.outside, "d/f")) != "x\n" {
		t.Errorf("%s %q", r.Status, r.Output)
	}
}

func TestBackgroundInTheSandbox(t *testing.T) {
	t.Parallel()
	b := sandboxed(t)
	b.file("script.sh", "echo x >made; echo x >"+b.outside+"/f; sleep 1000")
	b.do("Bash", fields{"command": "sh ./script.sh", "run_in_background": true})
	all := ""
	for deadline := time.Now().Add(patience); !strings.Contains(all, "cannot create"); {
		all += b.do("BashOutput", fields{"bash_id": "bash_1"}).Output
		if time.Now().After(deadline) {
			t.Fatalf("it is not refused: %.300q", all)
		}
	}
	if b.content("made") != "x\n" {
		t.Error("it could not write in its workspace")
	}
	if r := b.do("KillShell", fields{"shell_id": "bash_1"}); r.Status != umpire.ResultOK {
		t.Errorf("%s %q", r.Status, r.Output)
	}
}

// What a person put into the environment and into a home is not for a script of the
// project; what a call names is for that call.
func TestSecretsStayOutsideTheSandbox(t *testing.T) {
	t.Parallel()
	b := sandboxed(t)
	b.options.Env = append(slices.Clone(b.options.Env), "GITHUB_TOKEN=PRIVATE", "LISTED_TOKEN=PUBLIC", "PLAIN=PUBLIC", "HOME="+b.home)
	b.options.EnvListed = []string{"LISTED_TOKEN"}
	if err := os.WriteFile(filepath.Join(b.home, ".netrc"), []byte("PRIVATE\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.file(".env", "PRIVATE\n")
	b.file("t.sh", "echo $GITHUB_TOKEN$LISTED_TOKEN$PLAIN; cat .env ~/.netrc")
	if r := b.do("Bash", fields{"command": "sh ./t.sh"}); r.Output != "PUBLICPUBLIC\n" {
		t.Errorf("%s %q", r.Status, r.Output)
	}
	b.rules = []umpire.Rule{{Action: umpire.Allow, Tool: "Read", Match: umpire.Match{PathGlob: ".env"}, Source: umpire.SourceUser}}
	if r := b.do("Bash", fields{"command": "cat .env"}); r.Output != "PRIVATE\n" {
		t.Errorf("named: %s %q", r.Status, r.Output)
	}
	if r := b.do("Bash", fields{"command": "echo new >.env; cat .env; rm .env"}); r.Output != "new\n" {
		t.Errorf("written: %s %q", r.Status, r.Output)
	}
}
