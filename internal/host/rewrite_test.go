package host

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/strictjson"
	"github.com/umpirehq/umpire/shell"
)

// Decisions as they come in rewritingCases.
var (
	triedFirst = umpire.Decision{Verdict: umpire.Ask, Trial: umpire.TrialFirst}
	writesIn   = umpire.Decision{Verdict: umpire.Allow, Accesses: []umpire.Access{
		{Kind: umpire.KindExec, Program: "sed", Consequence: umpire.Reversible},
		{Kind: umpire.KindRead, Place: umpire.PlaceOutside},
		{Kind: umpire.KindWrite, Place: umpire.PlaceInside, Consequence: umpire.Lost},
		{Kind: umpire.KindWrite, Place: umpire.PlaceHarmless},
	}, Reasons: []umpire.Reason{{Code: umpire.CodeSafe}}}
)

// allowedBy is a decision whose first access was allowed for another reason.
func allowedBy(d umpire.Decision, code umpire.ReasonCode) umpire.Decision {
	d.Reasons = []umpire.Reason{{Code: code}}
	return d
}

// with is a decision with one more access.
func with(d umpire.Decision, a umpire.Access) umpire.Decision {
	d.Accesses = append(slices.Clip(d.Accesses), a)
	return d
}

// rewritingCases say when a call is run by umpire. Where a field is empty, it is a Bash call in
// the default mode that umpire would answer with the usual reply.
var rewritingCases = map[string]struct {
	event Event
	d     umpire.Decision
	reply Reply
	never bool // nothing should be undoable
	want  umpire.TicketAction
}{
	"tried first":               {d: triedFirst, reply: Ask, want: umpire.TicketTrial},
	"tried first, inbox":        {d: triedFirst, reply: Hold, want: umpire.TicketTrial},
	"tried first, host asks":    {d: triedFirst, reply: Silent, want: umpire.TicketTrial},
	"tried first, nobody asked": {d: triedFirst, reply: Deny},
	"tried first, low":          {d: triedFirst, reply: Ask, never: true, want: umpire.TicketTrial},
	"tried first, acceptEdits":  {Event{Host: &claude, PermissionMode: "acceptEdits"}, triedFirst, Silent, false, umpire.TicketTrial},
	"tried first, auto":         {Event{Host: &claude, PermissionMode: "auto"}, triedFirst, Silent, false, umpire.TicketTrial},
	"tried first, bypass":       {Event{Host: &claude, PermissionMode: "bypassPermissions"}, triedFirst, Silent, false, umpire.TicketTrial},
	"tried first, plan":         {event: Event{Host: &claude, PermissionMode: "plan"}, d: triedFirst, reply: Ask},
	"tried first, dontAsk":      {event: Event{Host: &claude, PermissionMode: "dontAsk"}, d: triedFirst, reply: Ask},
	"tried first, a new mode":   {event: Event{Host: &claude, PermissionMode: "else"}, d: triedFirst, reply: Ask},
	"background":                {event: Event{Call: umpire.Call{Background: true}}, d: triedFirst, reply: Ask},
	"another tool":              {event: Event{Host: &claude, ToolName: "Monitor"}, d: triedFirst, reply: Ask},
	"another event":             {event: Event{Host: &claude, Kind: BeforeDialog}, d: triedFirst, reply: Ask},
	"without an id":             {event: Event{ToolUseID: "-"}, d: triedFirst, reply: Ask, want: umpire.TicketTrial},
	"offered only":              {d: umpire.Decision{Verdict: umpire.Ask, Trial: umpire.TrialOffered}, reply: Ask},
	"asks":                      {d: umpire.Decision{Verdict: umpire.Ask}, reply: Ask},
	"denied":                    {d: umpire.Decision{Trial: umpire.TrialFirst}, reply: Deny},

	"writes":                {d: writesIn, reply: Allow, want: umpire.TicketUndo},
	"writes, low":           {d: writesIn, reply: Allow, never: true},
	"writes, host asks":     {d: writesIn, reply: Silent},
	"writes, auto":          {event: Event{Host: &claude, PermissionMode: "auto"}, d: writesIn, reply: Silent},
	"writes, bypass":        {Event{Host: &claude, PermissionMode: "bypassPermissions"}, writesIn, Silent, false, umpire.TicketUndo},
	"writes, plan":          {event: Event{Host: &claude, PermissionMode: "plan"}, d: writesIn, reply: Allow},
	"writes nothing":        {d: umpire.Decision{Verdict: umpire.Allow, Accesses: writesIn.Accesses[:2]}, reply: Allow},
	"writes, by autonomy":   {d: allowedBy(writesIn, umpire.CodeAutonomy), reply: Allow, want: umpire.TicketUndo},
	"writes, by a rule":     {d: allowedBy(writesIn, umpire.CodeRule), reply: Allow},
	"writes, approved":      {d: allowedBy(writesIn, umpire.CodeOnce), reply: Allow},
	"writes outside":        {d: with(writesIn, umpire.Access{Kind: umpire.KindWrite, Place: umpire.PlaceOutside}), reply: Allow},
	"writes somewhere":      {d: with(writesIn, umpire.Access{Kind: umpire.KindWrite}), reply: Allow},
	"deletes":               {d: with(writesIn, umpire.Access{Kind: umpire.KindDelete, Place: umpire.PlaceInside}), reply: Allow, want: umpire.TicketUndo},
	"reaches out":           {d: with(writesIn, umpire.Access{Kind: umpire.KindNetwork}), reply: Allow},
	"uses a tool":           {d: with(writesIn, umpire.Access{Kind: umpire.KindInvoke}), reply: Allow},
	"runs trusted code":     {d: with(writesIn, umpire.Access{Kind: umpire.KindExec, Code: true}), reply: Allow},
	"in doubt":              {d: with(writesIn, umpire.Access{Kind: umpire.KindExec, Doubt: "x"}), reply: Allow},
	"git":                   {d: with(writesIn, umpire.Access{Kind: umpire.KindExec, Program: "git"}), reply: Allow},
	"cannot be taken back":  {d: with(writesIn, umpire.Access{Kind: umpire.KindExec, Consequence: umpire.Outward}), reply: Allow},
	"no access is known of": {d: umpire.Decision{Verdict: umpire.Allow}, reply: Allow},
}

func TestWhenCallsAreRewritten(t *testing.T) {
	t.Parallel()
	for name, c := range rewritingCases {
		e := c.event
		e.Host = &claude
		if e.Kind == OtherEvent {
			e.Kind = BeforeTool
		}
		if e.ToolName == "" {
			e.ToolName = "Bash"
		}
		e.Call.Tool = e.ToolName
		e.ToolUseID, e.Session = strings.TrimSuffix("call"+e.ToolUseID, "call-"), "s"
		if got := rewritingAction(&e, &c.d, c.reply, !c.never); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// bashEvent is a Bash call in a folder.
func bashEvent(t *testing.T, dir, line string) Event {
	t.Helper()
	input, err := json.Marshal(map[string]any{"command": line, "timeout": 3000, "description": "a <step>"})
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := strictjson.ReadObject(input)
	if err != nil {
		t.Fatal(err)
	}
	return Event{
		Host: &claude, Kind: BeforeTool, Name: "PreToolUse", ToolName: "Bash", ToolUseID: "c1", Session: "s1",
		Call: umpire.Call{ID: "c1", Tool: "Bash", Input: input, Dir: dir}, sent: decoded, input: decoded,
	}
}

// A testRewriter issues one ticket, and keeps its purpose.
type testRewriter struct {
	fails  bool
	ticket umpire.Ticket
	ended  string
}

func (*testRewriter) Command() []string { return []string{"/opt/my tools/umpire", "exec"} }

func (*testRewriter) Allows(context.Context, *Question, string, *umpire.Call) bool { return true }

func (*testRewriter) Answer(context.Context, *Question) (Output, error) { return Output{}, nil }

func (r *testRewriter) End(_ context.Context, _ *Question, secret string) error {
	r.ended = secret
	return nil
}

func (r *testRewriter) Issue(_ context.Context, _ *Question, t umpire.Ticket) (string, error) {
	r.ticket = t
	if r.fails {
		return "", errors.New("no store")
	}
	return strings.Repeat("f", ticketDigits), nil
}

// rewritten is the line that the host should run, "" for the call's own.
func rewritten(t *testing.T, by *testRewriter, e *Event) string {
	t.Helper()
	r, ok := planRewriting(e, &triedFirst, Ask, true)
	if !ok {
		return ""
	}
	c := &hookCase{question: &Question{}, event: *e}
	out, ok := c.rewrite(t.Context(), by, &r, "")
	if !ok {
		return ""
	}
	var answer struct {
		Output struct {
			Event    string `json:"hookEventName"`
			Decision string `json:"permissionDecision"`
			Input    struct {
				Command     string `json:"command"`
				Timeout     int    `json:"timeout"`
				Description string `json:"description"`
			} `json:"updatedInput"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal(out.Stdout, &answer); err != nil || out.Exit != 0 || len(out.Stderr) > 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	o := &answer.Output
	if o.Event != "PreToolUse" || o.Decision != "allow" || o.Input.Timeout != 3000 || o.Input.Description != "a <step>" {
		t.Errorf("answer %s", out.Stdout)
	}
	return o.Input.Command
}

func TestRewrittenLine(t *testing.T) {
	t.Parallel()
	const run = "'/opt/my tools/umpire' exec ticket-ffffffffffffffffffffffffffffffff -- "
	dir := t.TempDir()
	for line, want := range map[string]string{
		"make test":                run + "'make test' && :",
		"echo 'it''s' \"$HOME\"":   run + `'echo '\''it'\'''\''s'\'' "$HOME"' && :`,
		"cd sub && make":           "cd sub && " + run + "'make' && :",
		"make; cd ..":              run + "'make' && :; cd ..",
		"cat <<'E' >f\nit's !x\nE": run + "'cat <<'\\''E'\\'' >f\nit'\\''s !x\nE' && :",
		"cd sub":                   "",
		"cd \"$x\" && make":        "",
		"make &":                   "",
		"make 'unfinished":         "",
		"":                         "",
	} {
		e := bashEvent(t, dir, line)
		by := &testRewriter{}
		if got := rewritten(t, by, &e); got != want {
			t.Errorf("%q became\n%q, want\n%q", line, got, want)
		}
		if want != "" && (by.ticket.Session != "s1" || by.ticket.Call != "c1" || by.ticket.Action != umpire.TicketTrial ||
			!strings.Contains(line, by.ticket.Line) || by.ticket.Large) {
			t.Errorf("%q: ticket %+v", line, by.ticket)
		}
	}
	e := bashEvent(t, dir, "make")
	if got := rewritten(t, &testRewriter{fails: true}, &e); got != "" {
		t.Errorf("rewritten as %q", got)
	}
}

// TestRewrittenLineStartsInItsFolder: the ticket is for the folder that the line's own cd
// leads to.
func TestRewrittenLineStartsInItsFolder(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"make": dir, "cd a/b && make": filepath.Join(dir, "a/b"), "cd a && cd .. && make": dir, "cd / && make": "/",
	} {
		e, by := bashEvent(t, dir, line), &testRewriter{}
		rewritten(t, by, &e)
		if by.ticket.Dir != want {
			t.Errorf("%q starts in %s, want %s", line, by.ticket.Dir, want)
		}
	}
}

// TestRewrittenLineStaysShort: the line fits into one argument even after the host quotes it once
// more, and the gate keeps longer ones.
func TestRewrittenLineStaysShort(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line  string
		large bool
	}{
		{"echo " + strings.Repeat("a", 90<<10), false},
		{"echo " + strings.Repeat("a", 97<<10), true},
		{"echo \"" + strings.Repeat("'", 5<<10) + "\"", false},
		{"echo \"" + strings.Repeat("'", 7<<10) + "\"", true},
		{"cat <<E\n" + strings.Repeat("it's\n", 30<<10) + "E", true},
		{"echo '" + strings.Repeat("é", 60<<10), false}, // cannot be read
	} {
		e, by := bashEvent(t, "/", c.line), &testRewriter{}
		got := rewritten(t, by, &e)
		if got == "" {
			continue
		}
		host := "eval " + "'" + strings.ReplaceAll(got, "'", `'"'"'`) + "'"
		if by.ticket.Large != c.large || by.ticket.Line != c.line || len(host) > maxRewritten+100 {
			t.Errorf("%.20q of %d bytes: large %t, %d bytes for the host", c.line, len(c.line), by.ticket.Large, len(host))
		}
		if c.large && (len(got) > 1000 || !strings.Contains(got, " …'")) {
			t.Errorf("%.20q is shown as %q", c.line, got)
		}
	}
}

// TestShellsReadTheLineAsItWas: bash and zsh pass on the original byte for byte, under any options.
func TestShellsReadTheLineAsItWas(t *testing.T) {
	t.Parallel()
	lines := []string{
		"echo 'a' \"b\" `c` $d ${e} !f *g ?h [i] {j,k} ~l \\m\nn\to#p;q&r|s<t>u(v)w", "'", "''", "'''", "'a''b'", `\'`, `'\''`,
		"=ls", "é\u00a0\u2028…", "a\\\nb", "!!", "^a^b",
	}
	for _, name := range []string{"bash", "zsh"} {
		program, err := exec.LookPath(name)
		if err != nil {
			t.Logf("there is no %s", name)
			continue
		}
		setups := []string{"true"}
		if name == "zsh" {
			setups = append(setups, "setopt RC_QUOTES", "setopt CSH_JUNKIE_QUOTES 2>/dev/null; true", "setopt EXTENDED_GLOB BANG_HIST")
		}
		for _, line := range lines {
			for _, setup := range setups {
				if strings.Contains(setup, "JUNKIE") && strings.Contains(line, "\n") {
					continue // that option does not permit line feeds in quotes at all
				}
				script := setup + "; eval " + shell.Quote("printf %s "+quote(line))
				out, err := exec.CommandContext(t.Context(), program, "-c", script).Output()
				if err != nil || string(out) != line {
					t.Errorf("%s, %s: %q became %q, %v", name, setup, line, out, err)
				}
			}
		}
	}
}

// TestTicketEndsInTheBackground: a command that the host has moved to the background is reported at
// once, because the host no longer waits for it.
func TestTicketEndsInTheBackground(t *testing.T) {
	t.Parallel()
	const secret = "0123456789abcdef0123456789abcdef"
	line := "cd sub && /opt/umpire exec ticket-" + secret + " -- 'make'"
	for name, c := range map[string]struct{ event, line, response, want string }{
		"in the background":   {"PostToolUse", line, `{"stdout":"","backgroundTaskId":"b1","timedOutAfterMs":3000}`, secret},
		"over":                {"PostToolUse", line, `{"stdout":"","interrupted":false}`, ""},
		"a text":              {"PostToolUse", line, `"done"`, ""},
		"without a ticket":    {"PostToolUse", "make", `{"backgroundTaskId":"b1"}`, ""},
		"with a short ticket": {"PostToolUse", "umpire exec ticket-0123 -- make", `{"backgroundTaskId":"b1"}`, ""},
		"failed":              {"PostToolUseFailure", line, `{"backgroundTaskId":"b1"}`, ""},
	} {
		input, err := json.Marshal(map[string]string{"command": c.line})
		if err != nil {
			t.Fatal(err)
		}
		payload := `{"hook_event_name":"` + c.event + `","session_id":"s1","tool_name":"Bash","tool_use_id":"c1","cwd":"/","tool_input":` +
			string(input) + `,"tool_response":` + c.response + `}`
		by := &testRewriter{}
		p := &Responder{Rewriter: by, Config: func(string) (Config, error) { return Config{}, nil }}
		q := Question{Agent: "claude", Payload: []byte(payload), Project: "/", Dir: "/", Deadline: time.Minute}
		if out, err := p.Answer(t.Context(), q); err != nil || out.Exit != 0 || by.ended != c.want {
			t.Errorf("%s: ended %q, %+v, %v; want %q", name, by.ended, out, err, c.want)
		}
	}
}

// TestNeverReplaced: if umpire cannot read a host's own rules, it replaces no command there, even
// if the host's hooks could, and hands nothing over.
func TestNeverReplaced(t *testing.T) {
	t.Parallel()
	for _, h := range Hosts {
		if h.own != nil || h.before().form == nil {
			continue
		}
		e, err := h.Read(h.Sample("s", "c", "/work", "make"))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range h.Modes() {
			if m.Is == Default || m.Is == Bypass {
				e.PermissionMode = m.Word
			}
		}
		d := umpire.Decision{Verdict: umpire.Ask, Trial: umpire.TrialFirst}
		if action := rewritingAction(&e, &d, Ask, true); (action == umpire.TicketTrial) != h.Replaced() || h.Replaced() && !h.Rewrites() {
			t.Errorf("%s: %q, and replaced: %t", h.Name, action, h.Replaced())
		}
	}
}
