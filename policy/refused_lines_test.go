package policy

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell"
)

// refused decides a line in /home/u/p under the default policy.
func refused(t *testing.T, line string, o Options) umpire.Decision {
	t.Helper()
	o.Root, o.Home = "/home/u/p", "/home/u"
	input, err := json.Marshal(map[string]string{"command": line})
	if err != nil {
		t.Fatal(err)
	}
	call := umpire.Call{Tool: "Bash", Input: input, Dir: o.Root}
	facts, err := FactsOf(call, shell.Env{Dir: o.Root, Home: o.Home})
	if err != nil {
		t.Fatal(err)
	}
	for _, all := range [][]umpire.Access{facts.Accesses, facts.Guesses} {
		for i := range all {
			a := &all[i]
			a.Resolved, a.Place = a.Target, umpire.PlaceOutside
			if strings.HasPrefix(a.Target+"/", o.Root+"/") {
				a.Place = umpire.PlaceInside
			}
		}
	}
	p, err := New(nil, o)
	if err != nil {
		t.Fatal(err)
	}
	return Decide(p, Query{Call: call, Facts: facts, Conditions: Conditions{Mode: umpire.ModeDefault}})
}

// linesOf reads the lines of a test data file; \n within a line stands for a line end.
func linesOf(t *testing.T, name string) []string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var lines []string
	for s := bufio.NewScanner(f); s.Scan(); {
		if line := s.Text(); line != "" && !strings.HasPrefix(line, "## ") {
			lines = append(lines, strings.ReplaceAll(line, "⏎", "\n"))
		}
	}
	if len(lines) < 60 {
		t.Fatalf("%s has only %d lines", name, len(lines))
	}
	return lines
}

// TestOrdinaryLinesAreNotRefused: a person can approve each of them.
func TestOrdinaryLinesAreNotRefused(t *testing.T) {
	t.Parallel()
	for _, line := range linesOf(t, "testdata/ordinary.txt") {
		if d := refused(t, line, Options{}); d.Verdict == umpire.Deny || d.Risk == umpire.Critical {
			t.Errorf("%s: %s, %s", line, d.Verdict, d.Reason)
		}
	}
}

// TestDestructiveLinesAreRefused: no person can approve them.
func TestDestructiveLinesAreRefused(t *testing.T) {
	t.Parallel()
	for _, line := range linesOf(t, "testdata/destructive.txt") {
		if d := refused(t, line, Options{}); d.Verdict != umpire.Deny || d.ReasonCode != umpire.CodeCritical && d.ReasonCode != umpire.CodeForbiddenPath {
			t.Errorf("%s: %s, %s", line, d.Verdict, d.Reason)
		}
	}
}

// TestSwitchedOff: without the rule about /etc/passwd, reading it is like reading any file
// outside. Rules that are not switchable stay in force.
func TestSwitchedOff(t *testing.T) {
	t.Parallel()
	off := Options{Settings: Settings{RulesOff: append(Switchable(), "forbidden-read", "critical-system")}}
	for line, want := range map[string]umpire.ReasonCode{
		"cat /etc/passwd": umpire.CodeExternalDirectory, "sort -t: -k3n /etc/passwd": umpire.CodeExternalDirectory,
		"cat /etc/shadow": umpire.CodeForbiddenPath, "tee /etc/passwd": umpire.CodeCritical, "rm -rf /usr": umpire.CodeCritical,
	} {
		if d := refused(t, line, off); d.ReasonCode != want {
			t.Errorf("%s: %s, %s", line, d.ReasonCode, d.Reason)
		}
	}
	for _, line := range []string{"cat /etc/passwd", "cut -d: -f1 /etc/passwd", "grep root /etc/pass*"} {
		if d := refused(t, line, Options{}); d.Verdict != umpire.Deny || d.Rule == nil || d.Rule.ID != "etc-passwd" {
			t.Errorf("%s: %s, %s", line, d.Verdict, d.Reason)
		}
	}
}
