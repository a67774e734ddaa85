package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/umpirehq/umpire/shell"
)

// execVerbs are the verbs about `umpire exec`.
var execVerbs = map[string]func(*testscript.TestScript, bool, []string){
	"hosted":    scriptHosted,
	"rewritten": scriptRewritten,
}

// scriptHosted runs a line as Claude Code does, in a shell that defines functions, and
// wants an exit code. $FOLDER is then the folder in which it ended.
//
//	hosted SHELL CODE LINE
func scriptHosted(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: hosted SHELL CODE LINE")
	}
	if _, err := exec.LookPath(args[0]); err != nil {
		ts.Logf("there is no %s", args[0])
		args[0] = "bash"
	}
	snapshot, folder := ts.MkAbs("../shell-snapshots/snapshot.sh"), ts.MkAbs("../folder")
	ts.Check(os.MkdirAll(filepath.Dir(snapshot), 0o700))
	ts.Check(os.WriteFile(snapshot, []byte("greet() { echo \"greeted $1\"; }\n"), 0o600))
	script := "source " + snapshot + " 2>/dev/null || true && eval " + shell.Quote(args[2]) + " && pwd -P >| " + folder
	if got := exitOf(ts, args[0], "-c", script); strconv.Itoa(got) != args[1] {
		ts.Fatalf("exit %d, want %s", got, args[1])
	}
}

// scriptRewritten asks the hook of Claude Code about a line. It sets $COMMAND to the rewritten
// line, or "" if the line runs unchanged or asks, and $TICKET to its ticket. With ! it expects
// the line to be unchanged.
//
//	rewritten MODE LINE
func scriptRewritten(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: rewritten MODE LINE")
	}
	call := "toolu_" + strconv.FormatInt(time.Now().UnixNano(), 36)
	payload, err := json.Marshal(map[string]any{
		"session_id": "s1", "hook_event_name": "PreToolUse", "permission_mode": args[0], "tool_name": "Bash",
		"tool_use_id": call, "tool_input": map[string]any{"command": args[1], "timeout": 5000},
	})
	ts.Check(err)
	ts.Setenv("CALL", call)
	cmd := exec.Command(umpireIn(ts), "hook", "claude")
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stderr = ts.MkAbs("."), scriptEnv(ts), bytes.NewReader(payload), ts.Stderr()
	out, err := cmd.Output()
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		ts.Fatalf("%v", err)
	}
	var printed struct {
		Output struct {
			Decision string `json:"permissionDecision"`
			Input    struct {
				Command string `json:"command"`
				Timeout int    `json:"timeout"`
			} `json:"updatedInput"`
		} `json:"hookSpecificOutput"`
	}
	if len(out) > 0 {
		ts.Check(json.Unmarshal(out, &printed))
	}
	o := &printed.Output
	if (o.Input.Command == "") != neg || o.Input.Command != "" && (o.Decision != "allow" || o.Input.Timeout != 5000) {
		ts.Fatalf("answered %s", out)
	}
	ts.Setenv("COMMAND", o.Input.Command)
	if _, rest, found := strings.Cut(o.Input.Command, " exec "); found {
		ticket, _, _ := strings.Cut(rest, " ")
		ts.Setenv("TICKET", ticket)
	}
}
