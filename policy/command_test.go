package policy

import (
	"encoding/json"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell"
)

// An unknown field may give a command another folder, other variables or another shell, so the
// judged command may not be the one that runs.
func TestUnknownFieldsOfACommandAreDoubt(t *testing.T) {
	t.Parallel()
	doubtful := func(fields string) bool {
		call := umpire.Call{Tool: "Bash", Input: json.RawMessage(`{"command": "ls"` + fields + `}`)}
		facts, err := FactsOf(call, shell.Env{Dir: "/p", Home: "/home/u"})
		if err != nil {
			t.Fatalf("%s: %v", fields, err)
		}
		return facts.Accesses[0].Doubt != ""
	}
	for _, name := range []string{"working_dir", "workdir", "workingDirectory", "cwd", "dir", "directory", "env", "environment", "shell", "stdin", "input", "args", "user", "host", "container", "x"} {
		for _, value := range []string{`"vendor/evil"`, `{"PATH": "."}`, `["-c"]`, `true`, `1`} {
			if field := `, "` + name + `": ` + value; !doubtful(field) {
				t.Errorf("%s is not in doubt", field)
			}
		}
		if doubtful(`, "`+name+`": null`) || doubtful(`, "`+name+`": ""`) {
			t.Errorf("%s is in doubt though it says nothing", name)
		}
	}
	if !doubtful(`, "dangerouslyDisableSandbox": true`) || doubtful(`, "dangerouslyDisableSandbox": false`) {
		t.Error("a host's sandbox that is switched off is not in doubt, or one that is on is")
	}
	call := umpire.Call{Tool: "Bash", Input: json.RawMessage(`{"command": "ls", "shell": "fish"}`)}
	facts, err := FactsOf(call, shell.Env{Dir: "/p", Home: "/home/u"})
	if want := umpire.Say("it would run in the shell %q, which umpire cannot read", "fish"); err != nil ||
		facts.Accesses[0].Doubt != want {
		t.Errorf("in fish: %v, %q", err, facts.Accesses[0].Doubt)
	}
	if fields := `, "description": "lists", "timeout": 1000, "run_in_background": true, "is_background": false`; doubtful(fields) {
		t.Errorf("%s is in doubt", fields)
	}
}
