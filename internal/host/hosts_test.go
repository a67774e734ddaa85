package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/host/relay"
	"github.com/umpirehq/umpire/policy"
)

// payloadsOf are recorded or documented payloads of a host.
func payloadsOf(t testing.TB, h *Host) (all [][]byte) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "hosts", h.Name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		all = append(all, line)
	}
	return all
}

// sampleDecisions are decisions of each kind.
var sampleDecisions = []struct {
	name string
	d    umpire.Decision
}{
	{"allowed", umpire.Decision{Verdict: umpire.Allow, Reason: "Tool classified as safe", ReasonCode: umpire.CodeSafe}},
	{"approved", umpire.Decision{Verdict: umpire.Allow, Reason: "Approved", ReasonCode: umpire.CodeOnce}},
	{"asked", umpire.Decision{
		Verdict: umpire.Ask, Reason: "requires approval", ReasonCode: umpire.CodeMode,
		Accesses: []umpire.Access{{Kind: umpire.KindWrite, Target: "/work/shop/a", Resolved: "/work/shop/a",
			Place: umpire.PlaceInside, Verdict: umpire.Ask, Consequence: umpire.Reversible}},
		Reasons: []umpire.Reason{{Verdict: umpire.Ask, Code: umpire.CodeMode, Text: "requires approval"}},
	}},
	{"in doubt", umpire.Decision{
		Verdict: umpire.Ask, Reason: "cannot be read", ReasonCode: umpire.CodeUnparsed,
		Accesses: []umpire.Access{{Kind: umpire.KindExec, Program: "eval", Verdict: umpire.Ask, Doubt: "x"}},
		Reasons:  []umpire.Reason{{Verdict: umpire.Ask, Code: umpire.CodeUnparsed}},
	}},
	{"denied", umpire.Decision{Reason: "Keep it", ReasonCode: umpire.CodeBlocked}},
}

// TestHostAnswers writes down how each payload is read and answered, host by host.
func TestHostAnswers(t *testing.T) {
	t.Parallel()
	for _, h := range Hosts {
		if h.own != nil {
			continue // its answers are pinned elsewhere
		}
		var b strings.Builder
		for _, payload := range payloadsOf(t, h) {
			e, err := h.Read(payload)
			if err != nil {
				t.Errorf("%s: %v\n%s", h.Name, err, payload)
				continue
			}
			fmt.Fprintf(&b, "%s = %s %s, %s in %q, project %q, by %s, id %q, mode %s, session %q\n", e.Name, e.Kind, e.ToolName,
				e.Call.Tool, e.Call.Dir, e.Project, e.Call.Agent, e.ToolUseID, e.permission(), e.Session)
			fmt.Fprintf(&b, "\tinput     %s\n", e.Call.Input)
			if !e.Kind.Decides() {
				continue
			}
			e.folders.Root = "/work/shop"
			for _, s := range sampleDecisions {
				fmt.Fprintf(&b, "\t%-9s %s\n", s.name, describeOutput(e.Answer(s.d, e.Reply(s.d, Mode{}, false))))
			}
			if h.Rewrites() && e.Kind == BeforeTool && e.Call.Tool == "Bash" {
				fmt.Fprintf(&b, "\trewritten %s\n", describeOutput(e.rewriteInput("umpire exec ticket-0 -- 'x'")))
			}
			fmt.Fprintf(&b, "\tfailed    %s\n", describeOutput(h.Fail(e.Name, errors.New("the gate is gone"))))
		}
		compareGolden(t, filepath.Join("testdata", "hosts", h.Name+".txt"), b.String())
	}
}

func describeOutput(out Output) string {
	if len(out.Stdout)+len(out.Stderr) == 0 && out.Exit == 0 {
		return "silence"
	}
	text := fmt.Sprintf("exit %d", out.Exit)
	if len(out.Stdout) > 0 {
		text += " " + strings.TrimSpace(string(out.Stdout))
	}
	if len(out.Stderr) > 0 {
		text += " | " + strings.TrimSpace(string(out.Stderr))
	}
	return text
}

func compareGolden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs; look at each line, then run go test -update (-want +got):\n%s", file, diff)
	}
}

// TestForeignPayloads gives every host's questions to every other host's hook: each is
// refused, by the name of the host that it comes from.
func TestForeignPayloads(t *testing.T) {
	t.Parallel()
	for _, from := range Hosts {
		for _, payload := range payloadsOf(t, from) {
			asks := true
			if from.own == nil {
				e, _ := from.Read(payload)
				asks = e.Kind.AboutTool()
			}
			if !asks {
				continue // it decides nothing, and may look alike
			}
			for _, h := range Hosts {
				if h == from {
					continue
				}
				checkForeignAt(t, from, h, payload)
			}
		}
	}
}

// checkForeignAt gives a question of one host to the hook of another, of which umpire would allow anything.
func checkForeignAt(t *testing.T, from, h *Host, payload []byte) {
	t.Helper()
	out := answerAlone(t, h, payload, sampleDecisions[0].d)
	if h == &claude && from.StartsClaude { // it is answered, in its own words
		if problem := documentedAnswer(from, out); problem != nil || denies(from, out) {
			t.Errorf("%s at %s: %s: %v", from.Name, h.Name, describeOutput(out), problem)
		}
		return
	}
	problem := documentedAnswer(h, out)
	said := string(out.Stdout) + string(out.Stderr)
	if problem != nil || !denies(h, out) || !strings.Contains(said, "a question of "+from.Title+", not of "+h.Title) {
		t.Errorf("%s at %s: %s: %v\n%s", from.Name, h.Name, describeOutput(out), problem, payload)
	}
}

// answerAlone returns the answer of a hook's process if umpire decides every call the same way.
func answerAlone(t testing.TB, h *Host, payload []byte, d umpire.Decision) Output {
	t.Helper()
	p := newProcess(string(payload), &Responder{Config: func(string) (Config, error) {
		return Config{Decide: func(context.Context, string, policy.Query) umpire.Decision { return d }}, nil
	}}, nil)
	exit, known := p.Answer(t.Context(), []string{h.Name})
	if !known {
		t.Fatalf("%s is not answered", h.Name)
	}
	return Output{Stdout: p.out.Bytes(), Stderr: p.err.Bytes(), Exit: exit}
}

// documented are the answers that the makers of each host document: the fields of the object on
// standard output, the words of the decision, and the exit codes. It is written by hand, from their
// documents and from recordings.
var documented = map[string]documentation{
	"claude": {"systemMessage hookSpecificOutput hookSpecificOutput.hookEventName hookSpecificOutput.permissionDecision " +
		"hookSpecificOutput.permissionDecisionReason hookSpecificOutput.updatedInput hookSpecificOutput.decision " +
		"hookSpecificOutput.decision.behavior hookSpecificOutput.decision.message",
		"hookSpecificOutput.permissionDecision hookSpecificOutput.decision.behavior", "", "allow deny ask", []int{0, 1, 2}, true},
	"codex": {"hookSpecificOutput hookSpecificOutput.hookEventName hookSpecificOutput.permissionDecision " +
		"hookSpecificOutput.permissionDecisionReason hookSpecificOutput.updatedInput hookSpecificOutput.decision " +
		"hookSpecificOutput.decision.behavior hookSpecificOutput.decision.message",
		"hookSpecificOutput.permissionDecision hookSpecificOutput.decision.behavior",
		"hookSpecificOutput.permissionDecisionReason hookSpecificOutput.decision.message", "allow deny", []int{0, 1, 2}, true},
	"gemini": {"decision reason hookSpecificOutput hookSpecificOutput.tool_input", "decision", "reason", "allow deny",
		[]int{0, 1, 2}, true},
	"qwen":   claudeLike,
	"vscode": claudeLike,
	"droid":  claudeLike,
	"kimi":   claudeLike,
	"copilot": {"permissionDecision permissionDecisionReason modifiedArgs", "permissionDecision", "permissionDecisionReason",
		"allow deny ask", []int{0, 1}, true},
	"opencode": {"decision reason args", "decision", "reason", "allow deny", []int{0, 1, 2}, true},
	"amp":      {"decision reason args", "decision", "reason", "allow deny", []int{0, 1, 2}, true},
	"cursor": {"permission user_message agent_message updated_input", "permission", "user_message", "allow deny", []int{0, 1, 2},
		true},
	"crush":       {"decision reason updated_input", "decision", "reason", "allow deny", []int{0, 1, 2}, true},
	"cline":       {"cancel errorMessage", "cancel", "errorMessage", "true", []int{0, 1}, true},
	"kiro":        {exits: []int{0, 1, 2}, silence: true},
	"windsurf":    {exits: []int{0, 1, 2}, silence: true},
	"antigravity": {"decision reason", "decision", "", "allow deny force_ask", []int{0, 1}, false},
	"grok":        {"decision reason", "decision", "reason", "deny", []int{0, 1, 2}, true},
	"muse":        {exits: []int{0, 2}},
}

// A documentation is the documented format of one host's answers.
type documentation struct {
	fields   string // all fields
	decision string // fields with the decision
	reason   string // fields with the reason, one of which is required in a denial
	words    string // of the decision
	exits    []int
	silence  bool // empty standard output is an answer
}

var claudeLike = documentation{
	"hookSpecificOutput hookSpecificOutput.hookEventName hookSpecificOutput.permissionDecision " +
		"hookSpecificOutput.permissionDecisionReason hookSpecificOutput.updatedInput",
	"hookSpecificOutput.permissionDecision", "hookSpecificOutput.permissionDecisionReason", "allow deny ask", []int{0, 1, 2}, true,
}

// documentedAnswer returns an error if an answer of a host's hook is not documented.
func documentedAnswer(h *Host, out Output) error {
	doc, known := documented[h.Name]
	switch {
	case !known:
		return errors.New("nothing is documented")
	case !slices.Contains(doc.exits, out.Exit):
		return fmt.Errorf("exit %d", out.Exit)
	case out.Exit != 0 && len(bytes.TrimSpace(out.Stderr)) == 0:
		return errors.New("a failure without a reason")
	case h.own != nil && len(out.Stdout) == 0:
		return errors.New("silence")
	case len(out.Stdout) == 0:
		if !doc.silence && out.Exit == 0 {
			return errors.New("silence")
		}
		return nil
	case bytes.Count(out.Stdout, []byte("\n")) != 1 || !bytes.HasSuffix(out.Stdout, []byte("\n")):
		return errors.New("not one line")
	case h.own != nil:
		return nil
	}
	fields, err := flatten(out.Stdout)
	if err != nil {
		return err
	}
	for name, value := range fields {
		if !slices.Contains(strings.Fields(doc.fields), name) {
			return fmt.Errorf("the field %s", name)
		}
		if slices.Contains(strings.Fields(doc.decision), name) && !strings.HasPrefix(value, "{") &&
			!slices.Contains(strings.Fields(doc.words), value) {
			return fmt.Errorf("the word %s", value)
		}
	}
	reasoned := slices.ContainsFunc(strings.Fields(doc.reason), func(name string) bool { return fields[name] != "" })
	if denies(h, out) && doc.reason != "" && !reasoned {
		return errors.New("a denial without a reason")
	}
	return nil
}

// denies reports whether an answer stops the call, as the host's documents have it.
func denies(h *Host, out Output) bool {
	doc := documented[h.Name]
	if h.own != nil {
		return bytes.HasPrefix(out.Stdout, []byte("Error: "))
	}
	if out.Exit == exitBlock && slices.Contains(doc.exits, exitBlock) {
		return true
	}
	fields, err := flatten(out.Stdout)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(strings.Fields(doc.decision), func(name string) bool {
		return fields[name] == "deny" || fields[name] == "true"
	})
}

// flatten returns an object's fields and those of the objects in it by their names, with texts
// unquoted. Deeper values, such as the new input of a call, stay as they are.
func flatten(object []byte) (map[string]string, error) {
	all := map[string]string{}
	var into func(prefix string, object []byte) error
	into = func(prefix string, object []byte) error {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(object, &fields); err != nil {
			return err
		}
		for name, raw := range fields {
			value := string(raw)
			var text string
			if json.Unmarshal(raw, &text) == nil {
				value = text
			}
			all[prefix+name] = value
			if name == "hookSpecificOutput" || name == "decision" && prefix != "" {
				if err := into(prefix+name+".", raw); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return all, into("", object)
}

// toolRows lists all tools of a host.
func toolRows(h *Host) []Tool {
	rows := slices.Clone(h.Special)
	for word := range strings.SplitSeq(h.Tools, " ") {
		if h.Tools == "" {
			break
		}
		name, as, renamed := strings.Cut(word, "=")
		as, needs, _ := strings.Cut(as, "?")
		if !renamed {
			as = name
		}
		rows = append(rows, Tool{Name: name, As: as, Needs: needs})
	}
	return rows
}

// TestEveryHostIsDescribed: the table is whole.
func TestEveryHostIsDescribed(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, h := range Hosts {
		if h.Name == "" || h.Title == "" || names[h.Name] || h.DefaultTimeout == 0 || h.Unit() == 0 {
			t.Errorf("%q is not described", h.Name)
		}
		names[h.Name] = true
		if h.own != nil {
			continue
		}
		if len(h.Program) == 0 || h.Settings.User == "" || h.Version == "" || h.Timeout() < h.DefaultTimeout || len(h.Modes()) == 0 {
			t.Errorf("%s: something is missing: %+v", h.Name, h)
		}
		for _, e := range h.Events() {
			if e.Kind.Decides() != (e.form != nil) {
				t.Errorf("%s: %s decides %t, with the form %+v", h.Name, e.Name, e.Kind.Decides(), e.form)
			}
		}
		seen := map[string]bool{}
		for _, row := range toolRows(h) {
			if row.Name == "" || row.As == "" || (row.From == "") != (row.To == "") || seen[row.Name] {
				t.Errorf("%s: the tool %+v", h.Name, row)
			}
			seen[row.Name] = true
		}
	}
	for name := range maps.Keys(documented) {
		if !names[name] {
			t.Errorf("%s is documented and not known", name)
		}
	}
}

// A questionable host is never told to go on by a word that it takes for a pass.
func TestNoQuestionPasses(t *testing.T) {
	t.Parallel()
	for _, h := range Hosts {
		if h.own != nil {
			continue
		}
		for _, payload := range payloadsOf(t, h) {
			e, err := h.Read(payload)
			if err != nil || e.Kind != BeforeTool {
				continue
			}
			for _, s := range sampleDecisions {
				out := e.Answer(s.d, e.Reply(s.d, Mode{}, false))
				if s.d.Verdict == umpire.Allow || h.asks() && !denies(h, out) &&
					bytes.Contains(out.Stdout, []byte(`ask"`)) {
					continue
				}
				checked := h.Mode(e.PermissionMode).Silence == SilenceChecks && s.name == "asked"
				if !denies(h, out) && !checked {
					t.Errorf("%s: %s: %s passes: %s", h.Name, e.ToolName, s.name, describeOutput(out))
				}
			}
		}
	}
}

// FuzzHosts gives every host's hook arbitrary bytes: the answer must be documented by the host, and
// unreadable input must be denied.
func FuzzHosts(f *testing.F) {
	for i, h := range Hosts {
		for _, payload := range payloadsOf(f, h) {
			f.Add(uint8(i), payload)
		}
	}
	f.Fuzz(func(t *testing.T, i uint8, payload []byte) {
		h := Hosts[int(i)%len(Hosts)]
		if h.own != nil {
			return // it has a separate test
		}
		e, err := h.Read(payload)
		if err != nil {
			out := h.Fail(e.Name, err)
			_, foreign := errors.AsType[*foreignError](err)
			row, known := h.Event(e.Name)
			if must := !known || foreign || row.Kind.Decides(); must && !denies(h, out) {
				t.Fatalf("%s: a failure did not deny: %s", h.Name, describeOutput(out))
			}
			if problem := documentedAnswer(h, out); problem != nil {
				t.Fatalf("%s: %v: %s", h.Name, problem, describeOutput(out))
			}
			return
		}
		if e.Kind.AboutTool() && (e.Call.Tool == "" || e.Call.ID == "" || !json.Valid(e.Call.Input) || e.Call.Input[0] != '{') {
			t.Fatalf("%s: incomplete call %+v", h.Name, e.Call)
		}
		if !e.Kind.Decides() {
			return
		}
		outputs := []Output{h.Fail(e.Name, errors.New(e.ToolName))}
		if h.Rewrites() {
			outputs = append(outputs, e.rewriteInput(e.ToolName))
		}
		for _, s := range sampleDecisions {
			for reply := Deny; reply <= Silent+1; reply++ {
				out := e.Answer(s.d, reply)
				outputs = append(outputs, out)
				if (reply == Deny || reply > Silent) && !denies(h, out) {
					t.Fatalf("%s: a denial does not deny: %s", h.Name, describeOutput(out))
				}
			}
			outputs = append(outputs, e.Answer(s.d, e.Reply(s.d, Mode{}, false)))
		}
		for _, out := range outputs {
			if problem := documentedAnswer(h, out); problem != nil {
				t.Fatalf("%s: %v: %s", h.Name, problem, describeOutput(out))
			}
		}
	})
}

// TestRelayedHostsAreKnownToTheirHook: the hook's process asks a gate for exactly the hosts that
// are relayed.
func TestRelayedHostsAreKnownToTheirHook(t *testing.T) {
	t.Parallel()
	for _, h := range Hosts {
		if got := relay.FindCaller(h.Name); h.Relayed() != (got == h.Caller) {
			t.Errorf("%s: relayed %t, and its hook knows %v", h.Name, h.Relayed(), got)
		}
	}
	for _, h := range proxied {
		if relay.FindCaller(h.Name) != nil {
			t.Errorf("%s starts no hook", h.Name)
		}
	}
}

// TestMeanwhile: a card's text on the other calls of a message, and on agents that may ask again.
func TestMeanwhile(t *testing.T) {
	t.Parallel()
	for _, h := range Hosts {
		want := [...]umpire.Phrase{"the other calls of the message run",
			"the calls after it in the message wait with it; those before it have run",
			"all calls of the message wait with it"}[h.Holds]
		if slices.Contains(h.Holes, holeAskedAgain) {
			want = "all calls of the message wait with it; the agent may ask once more about what you approve"
			if h.Holds != holdsAll {
				t.Errorf("%s: the text says that all calls wait", h.Name)
			}
		}
		if h.own != nil {
			continue
		}
		got := MeanwhileIn(&umpire.Session{Agent: h.Name, External: true})
		if len(got) != 1 || got[0] != want ||
			(want == "all calls of the message wait with it; the agent may ask once more about what you approve") != (h == &gemini || h == &copilot || h == &cline) {
			t.Errorf("%s: %v, want %v", h.Name, got, want)
		}
	}
	if got := MeanwhileIn(&umpire.Session{Agent: "gemini"}); len(got) > 0 {
		t.Errorf("umpire runs the calls: %v", got)
	}
}
