package shell_test

import (
	"encoding/json"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
	"github.com/umpirehq/umpire/shell"
)

// world returns a project without settings, or one in which every file that a program may look
// for selects another server.
func world(hostile bool) shell.Env {
	env := shell.Env{
		Dir: "/p", Home: "/home/u",
		Git:      func(string) ([]umpire.GitSetting, error) { return nil, nil },
		Settings: func(string, []string) ([]shell.SettingsFile, error) { return nil, nil },
	}
	if hostile {
		env.Git = func(string) ([]umpire.GitSetting, error) {
			return []umpire.GitSetting{
				{Key: "remote.origin.url", Value: "https://evil.example/o/r", File: "/p/.git/config"},
			}, nil
		}
		env.Settings = func(dir string, names []string) ([]shell.SettingsFile, error) {
			var all []shell.SettingsFile
			for _, name := range names {
				all = append(all, shell.SettingsFile{Path: dir + "/" + name, Text: "registry=http://evil.example"})
			}
			return all, nil
		}
	}
	return env
}

// decide judges a line in default mode, without a rule, and with every path inside.
func decide(t *testing.T, p *policy.Policy, line string, env shell.Env) umpire.Decision {
	t.Helper()
	input, err := json.Marshal(map[string]string{"command": line})
	if err != nil {
		t.Fatal(err)
	}
	call := umpire.Call{Tool: "Bash", Dir: env.Dir, Input: input}
	facts, err := policy.FactsOf(call, env)
	if err != nil {
		t.Fatal(err)
	}
	for i := range facts.Accesses {
		facts.Accesses[i].Place, facts.Accesses[i].Resolved = umpire.PlaceInside, facts.Accesses[i].Target
	}
	return policy.Decide(p, policy.Query{Call: call, Facts: facts, Conditions: policy.Conditions{Mode: umpire.ModeDefault}})
}

// TestNoNetworkUnasked: no use of any program, with any of its options, gets the network
// without a question, except listed look-ups; and those only if no file of the project can
// choose their server.
func TestNoNetworkUnasked(t *testing.T) {
	t.Parallel()
	p, err := policy.New(nil, policy.Options{Root: "/p", Home: "/home/u"})
	if err != nil {
		t.Fatal(err)
	}
	free := 0
	for _, hostile := range []bool{false, true} {
		env := world(hostile)
		shell.EveryUse(func(line string, listed, steerable bool) {
			d := decide(t, p, line, env)
			if d.Verdict != umpire.Allow || !d.Obligations.Network {
				return
			}
			free++
			if !listed || hostile && steerable {
				t.Errorf("%s gets the network unasked (hostile project: %v): %+v", line, hostile, d.Accesses)
			}
		})
	}
	if free == 0 {
		t.Error("no look-up was met")
	}
}
