//go:build interop

package interop

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/umpirehq/umpire/internal/host"
)

// A contractCase is a call to which a scripted hook gives a fixed answer. Claude Code's
// reaction is recorded in testdata/contract, on which umpire's answers are based.
type contractCase struct {
	name string
	mode string // "" is default
	// calls are made in one message; without any it is one that deletes a folder.
	calls turn
	// answer is the shell text with which the hook of PreToolUse answers; second is that
	// of another hook.
	answer, second string
	// permissions are rules of Claude Code's own settings.
	permissions string
	// seconds is how long Claude Code waits for the hook; 0 is long enough.
	seconds int
	// was is the result of release 2.1.197, if it differed.
	was string
}

// pre returns shell text that answers with a decision.
func pre(decision, reason string) string {
	fields := map[string]any{"hookEventName": "PreToolUse", "permissionDecision": decision}
	if reason != "" {
		fields["permissionDecisionReason"] = reason
	}
	text, _ := json.Marshal(map[string]any{"hookSpecificOutput": fields})
	return "echo '" + string(text) + "'"
}

const allowsAll = `{"allow": ["Bash"]}`

func touches(names ...string) turn {
	var t turn
	for _, name := range names {
		t = append(t, bash(name, "touch "+name))
	}
	return t
}

func touchAndWrite() turn {
	return append(touches("made"), toolCall{ID: "write", Tool: "Write", Input: map[string]any{"file_path": "PROJECT/w.txt", "content": "x"}})
}

const (
	wasReasonAlone = "the model was told the reason alone"
	wasNoRequest   = "no PermissionRequest was sent under -p, and the call \"was blocked\""
)

var contractCases = []contractCase{
	{name: "safe-silent", calls: turn{bash("call", "echo hello")}},
	{name: "touch-silent", calls: touches("made"), was: wasNoRequest},
	{name: "rm-silent", was: wasNoRequest},
	{name: "rm-allow", answer: pre("allow", "ok by policy")},
	{name: "rm-deny", answer: pre("deny", "POLICY: no recursive delete"), was: wasReasonAlone},
	{name: "rm-deny-no-reason", answer: pre("deny", ""), was: "the model was told \"Hook PreToolUse:Bash denied this tool\""},
	{name: "rm-ask", answer: pre("ask", "POLICY: needs a human")},
	{name: "rm-defer", answer: pre("defer", "POLICY: decide later")},
	{name: "fail-exit-2", permissions: allowsAll, answer: "echo 'POLICY: exit two' >&2; exit 2"},
	{name: "fail-exit-2-allow", permissions: allowsAll, answer: pre("allow", "json says allow") + "; echo 'stderr says no' >&2; exit 2"},
	{name: "fail-exit-1-deny", permissions: allowsAll, answer: pre("deny", "POLICY: deny but exit one") + "; exit 1", was: wasReasonAlone},
	{name: "fail-exit-1", permissions: allowsAll, answer: "echo 'hook broke' >&2; exit 1"},
	{name: "fail-not-json", permissions: allowsAll, answer: "echo 'this is not json'"},
	{name: "fail-word", permissions: allowsAll, answer: pre("maybe", "x")},
	{name: "fail-late", permissions: allowsAll, answer: "exec sleep 600", seconds: 2},
	{name: "fail-killed", permissions: allowsAll, answer: "kill -9 $$"},
	{name: "fail-continue-false", permissions: allowsAll, answer: `echo '{"continue":false,"stopReason":"POLICY: stop now"}'`},
	{name: "fail-old-words", permissions: allowsAll, answer: `echo '{"decision":"block","reason":"POLICY: old words"}'`, was: wasReasonAlone},
	{name: "rule-deny-beats-allow", permissions: `{"deny": ["Bash(rm:*)"]}`, answer: pre("allow", "")},
	{name: "rule-ask-beats-allow", permissions: `{"ask": ["Bash(rm:*)"]}`, answer: pre("allow", ""), was: "no PermissionRequest was sent under -p"},
	{name: "ask-beats-rule-allow", permissions: allowsAll, answer: pre("ask", "POLICY: ask beats allow")},
	{name: "two-allow-deny", permissions: allowsAll, answer: pre("allow", "first"), second: pre("deny", "POLICY: second denies"), was: wasReasonAlone},
	{name: "plan-silent", mode: "plan", calls: touchAndWrite(), was: "no PermissionRequest and no PermissionDenied were sent; touch \"was blocked\""},
	{name: "plan-allow", mode: "plan", calls: touchAndWrite(), answer: pre("allow", ""), was: "both ran: a hook's allow overrode plan mode"},
	{name: "plan-deny", mode: "plan", calls: touches("made"), answer: pre("deny", "POLICY: mode"), was: wasReasonAlone},
	{name: "plan-ask", mode: "plan", calls: touches("made"), answer: pre("ask", "POLICY: mode ask")},
	{name: "dontask-allow", mode: "dontAsk", calls: touchAndWrite(), answer: pre("allow", "")},
	{name: "dontask-ask", mode: "dontAsk", calls: touches("made"), answer: pre("ask", "POLICY: mode ask")},
	{name: "auto-silent", mode: "auto", calls: touchAndWrite()},
	{name: "auto-deny", mode: "auto", calls: touches("made"), answer: pre("deny", "POLICY: mode"), was: wasReasonAlone},
	{name: "auto-ask", mode: "auto", calls: touches("made"), answer: pre("ask", "POLICY: mode ask")},
	{
		name: "three-second-denied", calls: touches("one", "two", "three"), was: wasReasonAlone,
		answer: "case $payload in *'touch two'*) " + pre("deny", "POLICY: not two") + ";; *) " + pre("allow", "") + ";; esac",
	},
}

// TestClaudeContract plays each case and compares Claude Code's payloads and actions with
// the recording. Check differences in a new release, and then record them with -update.
func TestClaudeContract(t *testing.T) {
	t.Parallel()
	for _, c := range contractCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			compareGolden(t, filepath.Join("testdata", "contract", c.name+".txtar"), c.record(t))
		})
	}
}

// record plays the case and returns the recording.
func (c *contractCase) record(t *testing.T) string {
	m := startModel(t)
	w := newWorld(t, m)
	w.write("project/scratch/a.txt", "a\n")
	calls := slices.Clone(c.calls)
	if len(calls) == 0 {
		calls = turn{bash("call", "rm -rf ./scratch")}
	}
	for i := range calls {
		if path, ok := calls[i].Input["file_path"].(string); ok {
			calls[i].Input["file_path"] = strings.ReplaceAll(path, "PROJECT", w.Project())
		}
	}
	m.Main = []turn{calls}
	w.recordingHooks(c)
	w.claude("--permission-mode", cmp.Or(c.mode, "default"))
	return c.show(w, calls)
}

// hookEvents are the events that a recording holds.
var hookEvents = []string{"PreToolUse", "PermissionRequest", "PermissionDenied", "PostToolUse", "PostToolUseFailure"}

// recordingHooks registers hooks that record their input, instead of umpire's.
func (w *world) recordingHooks(c *contractCase) {
	const keep = "#!/bin/sh\npayload=$(cat)\nprintf '%s\\n' \"$payload\" >>\"$HOME/payloads\"\n"
	hooks := map[string]any{}
	entry := func(program string) any {
		return map[string]any{"type": "command", "command": w.Path("bin/" + program), "args": []string{}, "timeout": cmp.Or(c.seconds, 120)}
	}
	for _, event := range hookEvents {
		hooks[event] = []any{map[string]any{"matcher": "*", "hooks": []any{entry("keep")}}}
	}
	decide := []any{entry("answer")}
	if c.second != "" {
		w.program("second", "#!/bin/sh\n"+c.second+"\n")
		decide = append(decide, entry("second"))
	}
	hooks["PreToolUse"] = []any{map[string]any{"matcher": "*", "hooks": decide}}
	w.program("keep", keep)
	w.program("answer", keep+c.answer+"\n")
	settings := map[string]any{"hooks": hooks}
	if c.permissions != "" {
		settings["permissions"] = json.RawMessage(c.permissions)
	}
	text, err := json.MarshalIndent(settings, "", "  ")
	if err != nil {
		w.Fatal(err)
	}
	w.write("home/.claude/settings.json", string(text))
}

// show writes a recording.
func (c *contractCase) show(w *world, calls turn) string {
	var text strings.Builder
	fmt.Fprintf(&text, "Claude Code %s.", host.ClaudeVersion)
	if c.was != "" {
		fmt.Fprintf(&text, " In 2.1.197: %s.", c.was)
	}
	fmt.Fprintf(&text, "\n-- answer --\n%s\n", c.answer)
	if c.second != "" {
		fmt.Fprintf(&text, "-- second --\n%s\n", c.second)
	}
	payloads, err := os.ReadFile(w.Path("home/payloads"))
	if err != nil && !os.IsNotExist(err) {
		w.Fatal(err)
	}
	fmt.Fprintf(&text, "-- payloads --\n%s-- told --\n", w.plain(sortedPayloads(string(payloads))))
	for _, call := range calls {
		r, heard := w.Model.Result(call.ID)
		switch {
		case !heard:
			fmt.Fprintf(&text, "%s: nothing\n", call.ID)
		default:
			first, _, _ := strings.Cut(strings.TrimSpace(r.Text), "\n")
			fmt.Fprintf(&text, "%s: error %v: %s\n", call.ID, r.IsError, w.plain(first))
		}
	}
	text.WriteString("-- after --\n")
	for _, name := range []string{"scratch", "made", "w.txt", "one", "two", "three"} {
		fmt.Fprintf(&text, "%s: %v\n", name, w.Exists("project/"+name))
	}
	return text.String()
}

// sortedPayloads sorts the payloads by event and call, because calls of one message are
// asked about at the same time.
func sortedPayloads(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	key := func(line string) string {
		var p struct {
			Event string `json:"hook_event_name"`
			ID    string `json:"tool_use_id"`
		}
		_ = json.Unmarshal([]byte(line), &p) // another line sorts first
		return fmt.Sprintf("%d %s", slices.Index(hookEvents, p.Event), p.ID)
	}
	slices.SortStableFunc(lines, func(a, b string) int { return strings.Compare(key(a), key(b)) })
	return strings.Join(lines, "\n") + "\n"
}

var (
	uuids    = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	duration = regexp.MustCompile(`"duration_ms":\d+`)
)

// plain removes the parts that differ from run to run.
func (w *world) plain(text string) string {
	dir := filepath.Dir(w.Home())
	dashed := regexp.MustCompile(`[^A-Za-z0-9]`).ReplaceAllString(dir, "-")
	text = strings.NewReplacer(dir, "/w", dashed, "-w").Replace(text)
	text = uuids.ReplaceAllString(text, "00000000-0000-4000-8000-000000000000")
	return duration.ReplaceAllString(text, `"duration_ms":1`)
}
