package tool

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
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

// A command whose decision requires a sandbox does not run without one.
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
	// The rules do not know that this program writes elsewhere.
	b.file("script.sh", "echo x >"+b.outside+"/f")
	r := b.do("Bash", fields{"command": "sh ./script.sh"})
	if r.Status != umpire.ResultError || !strings.Contains(r.Output, "[the sandbox let this command change only the workspace") {
		t.Errorf("%s %q, want to hear of the sandbox", r.Status, r.Output)
	}
	if r := b.do("Bash", fields{"command": "exit 1"}); strings.Contains(r.Output, "sandbox") {
		t.Errorf("%q speaks of the sandbox without need", r.Output)
	}
}

// Each of these lines changes one path outside the project, in its own way.
var outsideLines = map[string]string{
	"redirect": "echo new >OUT/f", "append": "echo new >>OUT/f", "touch": "touch OUT/made", "copy": "cp in OUT/f",
	"move": "mv in OUT/made", "edit": "sed -i s/old/new/ OUT/f", "delete": "rm OUT/f", "folder": "mkdir OUT/made",
	"link": "ln -s in OUT/made", "pipe": "echo new | tee OUT/f", "cd": "cd OUT && echo new >f",
}

// A path outside is open to a command if a rule allowed it. Bypass mode does not open any, and neither
// does read-only mode.
func TestAllowedPathsAreOpen(t *testing.T) {
	t.Parallel()
	for name, line := range outsideLines {
		for _, mode := range []umpire.SandboxMode{umpire.SandboxWorkspaceWrite, umpire.SandboxReadOnly} {
			for _, allowed := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s %s %t", name, mode, allowed), func(t *testing.T) {
					t.Parallel()
					b := sandboxed(t)
					b.mode = mode
					b.file("in", "new\n")
					b.file(b.outside+"/f", "old\n")
					b.file(b.outside+"/d/other", "old\n")
					if allowed {
						for _, tool := range []string{"Edit", "Delete"} {
							b.rules = append(b.rules, umpire.Rule{
								Action: umpire.Allow, Tool: tool,
								Match: umpire.Match{PathGlob: b.outside + "/**"}, Source: umpire.SourceUser,
							})
						}
					}
					before := treeOf(t, b.outside)
					r := b.do("Bash", fields{"command": strings.ReplaceAll(line, "OUT", b.outside)})
					after := treeOf(t, b.outside)
					if want := allowed && mode == umpire.SandboxWorkspaceWrite; (before != after) != want {
						t.Errorf("changed %t, want %t: %s %q\n%s", before != after, want, r.Status, r.Output, after)
					}
					if b.content(b.outside+"/d/other") != "old\n" {
						t.Error("it changed another file")
					}
				})
			}
		}
	}
}

// treeOf returns the names and contents of a folder's files.
func treeOf(t *testing.T, dir string) string {
	t.Helper()
	var tree strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		var text []byte
		if err == nil && e.Type().IsRegular() {
			text, err = os.ReadFile(path)
		}
		fmt.Fprintf(&tree, "%s %v %q\n", strings.TrimPrefix(path, dir), e.Type(), text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tree.String()
}

// A decision that came from a gate lacks the words of a command. Git's subcommand still counts.
func TestSubcommandOverTheWire(t *testing.T) {
	t.Parallel()
	b := sandboxed(t)
	for line, want := range map[string]string{
		"git rebase main": "rebase", "git fetch origin && git --no-pager status": "fetch status", "ls": "",
	} {
		started := b.start("Bash", fields{"command": line})
		l := b.limits(&use{call: started.Call, decision: started.Decision})
		if got := strings.Join(l.Git, " "); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// No tool changes a file in read-only mode.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	b := sandboxed(t)
	b.repository()
	b.file("a.txt", "old\n")
	b.mode = umpire.SandboxReadOnly
	for name, in := range map[string]fields{
		"Write":                  {"file_path": "a.txt", "content": "new\n"},
		"Edit":                   {"file_path": "a.txt", "old_string": "old", "new_string": "new"},
		"filesystem-edit":        {"filePath": "a.txt", "startLine": 1, "endLine": 1, "newContent": "new"},
		"filesystem-edit_search": {"filePath": []fields{{"path": "a.txt"}}, "searchContent": "old", "replaceContent": "new"},
		"GitCommit":              {"message": "m", "all": true},
		"GitCheckout":            {"branch": "topic", "create": true},
		"GitPush":                {},
	} {
		b.fails(name, in, "read-only")
	}
	for name, in := range map[string]fields{
		"Bash": {"command": "echo new >a.txt"}, "Read": {"file_path": "a.txt"}, "Grep": {"pattern": "old"}, "LS": {},
		"TodoWrite": {"todos": []fields{{"content": "x", "status": "pending"}}}, "GitStatus": {},
	} {
		want := umpire.ResultOK
		if name == "Bash" {
			want = umpire.ResultError
		}
		if r := b.do(name, in); r.Status != want {
			t.Errorf("%s: %s %q, want %s", name, r.Status, r.Output, want)
		}
	}
	if got := b.content("a.txt"); got != "old\n" {
		t.Errorf("a.txt holds %q", got)
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

// A project's script cannot read secrets in the environment and the home, but a call
// can use the paths that it names.
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
