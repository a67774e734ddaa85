package release

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var newcomer = flag.Bool("newcomer", false, "paste the README's commands into a fresh Debian that has git and Go")

// asks are the commands of the README that ask the person, and the flag that answers.
var asks = map[string]string{"umpire setup": " --yes", "umpire demo": " --yes"}

// TestNewcomer pastes the README's commands, in order, into one shell of a fresh minimal Debian with only git and
// Go. Each must work, umpire must then stand in front of the agent there, and no package may be compiled twice.
func TestNewcomer(t *testing.T) {
	if !*newcomer {
		t.Skip("needs -newcomer: it compiles umpire in a fresh system; make packages")
	}
	goroot, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	s := newSystem(t, makeBase(t), "apt-get -qq update && apt-get -qq install --no-install-recommends git ca-certificates")
	s.copyIn("usr/local", strings.TrimSpace(string(goroot)))
	s.mustRun(root, "ln", "-s", "../go/bin/go", "/usr/local/bin/go")
	s.copyIn("etc/ssl/certs", "/etc/ssl/certs/ca-certificates.crt") // this machine may be behind a proxy
	clone := filepath.Join(t.TempDir(), "umpire")
	if out, err := exec.CommandContext(t.Context(), "git", "clone", "--quiet", "--bare", "../..", clone).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s.copyIn("srv", clone)
	s.mustRun(root, "git", "config", "--system", "url./srv/umpire.insteadOf", "https://github.com/umpirehq/umpire")
	s.mustRun(root, "git", "config", "--system", "safe.directory", "*")
	s.writeFile(home+"/agents/claude", "#!/bin/sh\necho '2.1.330 (Claude Code)'\n", 0o755)
	s.writeFile(home+"/.claude/settings.json", "{}\n", 0o600)

	var script strings.Builder
	for _, line := range installCommands(t) {
		fmt.Fprintf(&script, "SECONDS=0\n%s\necho \"figure: newcomer: exit $?, $SECONDS s: \"%s\n", line+asks[line], quote(line))
	}
	script.WriteString("CGO_ENABLED=0 go build -v ./cmd/... 2>&1 | grep -v '/cmd/umpire' | sed 's/^/compiled again: /'\n.ci/test 2>&1\n")
	s.writeFile(home+"/pasted", script.String(), 0o644)
	out, err := s.run(person, "bash", "pasted")
	if err == nil {
		t.Error(".ci/test passes without what it needs")
	}
	for _, figure := range regexp.MustCompile(`(?m)^figure: newcomer: (.*)$`).FindAllStringSubmatch(out, -1) {
		t.Logf("figure: newcomer: %s", figure[1])
		if !strings.HasPrefix(figure[1], "exit 0,") {
			t.Errorf("a command of the README fails: %s", figure[1])
		}
	}
	for _, want := range []string{"compiling: ", "sudo apt-get install -y --no-install-recommends make tmux"} {
		if !strings.Contains(out, want) {
			t.Errorf("the person does not see %q", want)
		}
	}
	if strings.Contains(out, "compiled again: ") {
		t.Error("a second build compiles packages again")
	}
	if !strings.Contains(s.readFile(home+"/.claude/settings.json"), "umpire-hook") {
		t.Error("umpire setup did not write the hook")
	}
}

// quote quotes a line for the shell.
func quote(line string) string { return "'" + strings.ReplaceAll(line, "'", `'\''`) + "'" }

// installCommands are the README's commands from the clone to the demo.
func installCommands(t *testing.T) (lines []string) {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, chapter, _ := strings.Cut(string(text), "\n## Install\n")
	chapter, _, _ = strings.Cut(chapter, "\n## ")
	for _, line := range regexp.MustCompile(`(?m)^    (\S.*)$`).FindAllStringSubmatch(chapter, -1) {
		lines = append(lines, line[1])
	}
	if len(lines) < 5 {
		t.Fatalf("the README has the commands %q", lines)
	}
	return lines
}
