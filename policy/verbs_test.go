package policy_test

import (
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
	"github.com/umpirehq/umpire/shell"
)

func TestPersonVerbsAreDeniedToAgents(t *testing.T) {
	t.Parallel()
	p, err := policy.New(nil, policy.Options{Root: "/p", Home: "/home/u"})
	if err != nil {
		t.Fatal(err)
	}
	for line, denied := range map[string]bool{
		"umpire":                               false,
		"umpire --help":                        false,
		"umpire status":                        false,
		"umpire check -- umpire approve":       false,
		"umpire --lang zh status":              false,
		"umpire rules list":                    false,
		"umpire rules":                         false,
		"umpire programs show git push":        false,
		"umpire help approve":                  false,
		"umpire mcp -- ./server approve":       false,
		"umpire run 'approve all'":             false,
		"umpire-hook hook claude":              false,
		"echo umpire approve":                  false,
		"umpire approve 1":                     true,
		"UMPIRE approve 1":                     true,
		"umpire.exe approve 1":                 true,
		"./bin/umpire --home /x approve":       true,
		"umpire --home=/x approve":             true,
		"umpire rules --scope x add":           true,
		"umpire --json rules remove a":         true,
		"umpire grants revoke --all":           true,
		"umpire grants --json revoke x":        true,
		"umpire autonomy high":                 true,
		"umpire console":                       true,
		"umpire undo":                          true,
		"umpire setup --yes":                   true,
		"umpire mcp permission-prompt":         true,
		"umpire mcp --x permission-prompt":     true,
		"umpire proxy mcp permission-prompt":   true,
		"umpire proxy mcp -- ./server approve": false,
		"umpire rules trust --code":            true,
		"umpire rules grants revoke x":         true,
		"umpire sessions mode bypass":          true,
		"umpire console pair":                  true,
		"umpire setup uninstall":               true,
		"umpire no-such-verb":                  true,
		"umpire rules no-such-verb":            true,
		"sudo env X=1 umpire trust":            true,
		"xargs umpire approve":                 true,
		"sh -c 'umpire pair'":                  true,
	} {
		call := umpire.Call{Tool: "Bash", Dir: "/p"}
		d := policy.Decide(p, policy.Query{
			Call: call, Facts: umpire.Facts{
				Type: umpire.ShellExecute, Accesses: shell.Parse(line, shell.Env{Dir: "/p", Home: "/home/u"}),
			},
			Conditions: policy.Conditions{
				Mode: umpire.ModeBypass,
			},
		})
		if got := d.Rule != nil && d.Rule.ID == "self-approval"; got != denied {
			t.Errorf("%s: denied %v, want %v (%s)", line, got, denied, d.Reason)
		}
	}
}
