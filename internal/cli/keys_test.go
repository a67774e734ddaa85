package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/files/sample"
)

// TestEveryKeyHasItsEffect sets each key of the configuration once, with and without a
// running gate, and checks its effect on the program. A key without a script fails.
func TestEveryKeyHasItsEffect(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for i := range config.Keys {
		known[config.Keys[i].Name] = true
		if _, err := os.Stat(filepath.Join("testdata", "keys", config.Keys[i].Name+".txtar")); err != nil {
			t.Errorf("no script shows the effect of the key %s: %v", config.Keys[i].Name, err)
		}
	}
	scripts, err := filepath.Glob(filepath.Join("testdata", "keys", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range scripts {
		if key := strings.TrimSuffix(filepath.Base(name), ".txtar"); !known[key] {
			t.Errorf("%s is about a key that there is not", name)
		}
	}
	for name, gate := range map[string]bool{"alone": false, "gate": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := keyParams(gate)
			p.Dir, p.Files = "", sample.Of(t, 4, scripts)
			testscript.Run(t, p)
		})
	}
}

// keyParams runs the scripts about keys. Their condition gate says whether a gate runs
// after the key is set.
func keyParams(gate bool) testscript.Params {
	p := scriptParams()
	p.Dir = filepath.Join("testdata", "keys")
	others := p.Condition
	p.Condition = func(name string) (bool, error) {
		if name == "gate" {
			return gate, nil
		}
		return others(name)
	}
	p.Setup = func(env *testscript.Env) error {
		env.Setenv("CLAUDE_PROJECT_DIR", filepath.Join(env.WorkDir, "p"))
		env.Setenv("NO_COLOR", "1")
		return setUpScript(env)
	}
	p.Cmds = maps.Clone(p.Cmds)
	p.Cmds["hooked"] = scriptHooked
	p.Cmds["set"] = func(ts *testscript.TestScript, _ bool, _ []string) { setKey(ts, gate) }
	return p
}

// setKey makes the script's config.yaml the person's, and starts a gate if one is wanted.
func setKey(ts *testscript.TestScript, gate bool) {
	home := filepath.Join(ts.Getenv("HOME"), ".umpire")
	ts.Check(os.MkdirAll(home, 0o700))
	text := ts.ReadFile(filepath.Join(ts.Getenv("WORK"), "config.yaml"))
	ts.Check(os.WriteFile(filepath.Join(home, config.FileName), []byte(text), 0o600))
	if gate {
		scriptGate(ts, false, nil)
	}
}

// hooked ANSWER TOOL INPUT: the answer of `umpire hook claude` to a call in the agent's
// default mode; silent means no answer.
func scriptHooked(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: hooked ANSWER TOOL INPUT")
	}
	payload := fmt.Sprintf(`{"session_id":"s1","hook_event_name":"PreToolUse","permission_mode":"default",
		"tool_name":%q,"tool_use_id":"toolu_%p","tool_input":%s}`, args[1], &args, args[2])
	cmd := exec.Command(umpireIn(ts), "hook", "claude")
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stderr = ts.MkAbs("."), scriptEnv(ts), strings.NewReader(payload), ts.Stderr()
	out, err := cmd.Output()
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		ts.Fatalf("%v", err)
	}
	fmt.Fprintf(ts.Stdout(), "%s", out)
	var printed struct {
		Output struct {
			Decision string `json:"permissionDecision"`
		} `json:"hookSpecificOutput"`
	}
	if len(out) > 0 {
		ts.Check(json.Unmarshal(out, &printed))
	}
	if printed.Output.Decision == "" {
		printed.Output.Decision = "silent"
	}
	if printed.Output.Decision != args[0] {
		ts.Fatalf("answered %s, want %s: %s", printed.Output.Decision, args[0], out)
	}
}
