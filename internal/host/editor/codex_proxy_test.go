package editor

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/host/jsonrpc"
)

// A codexJudge answers by a word in the input of a call.
type codexJudge struct {
	told chan Notice
	held chan struct{}
}

func (j *codexJudge) Decide(ctx context.Context, q Question) (Answer, error) {
	text := q.Call.Tool + " " + string(q.Call.Input)
	switch {
	case strings.Contains(text, "held"):
		close(j.held)
		<-ctx.Done()
		return Answer{Reply: host.Allow}, nil
	case strings.Contains(text, "bad"), q.Call.Tool == "write_stdin", q.Project != "/work":
		return Answer{Reason: text}, nil
	case strings.Contains(text, "good"):
		return Answer{Reply: host.Allow}, nil
	}
	return Answer{Reply: host.Ask}, nil
}

func (j *codexJudge) Tell(_ context.Context, n Notice) { j.told <- n }

// An codexEnd is one of the two programs, as a test plays it.
type codexEnd struct {
	t    *testing.T
	in   *bufio.Reader
	out  io.WriteCloser
	peer *jsonrpc.Peer
}

func newCodexEnd(t *testing.T) *codexEnd {
	t.Helper()
	fromProxy, toEnd := io.Pipe()
	fromEnd, toProxy := io.Pipe()
	t.Cleanup(func() { toProxy.Close(); fromProxy.Close() })
	return &codexEnd{t: t, in: bufio.NewReader(fromProxy), out: toProxy, peer: jsonrpc.NewPeer(fromEnd, toEnd)}
}

func (e *codexEnd) say(format string, args ...any) {
	e.t.Helper()
	if _, err := fmt.Fprintf(e.out, format+"\n", args...); err != nil {
		e.t.Fatal(err)
	}
}

func (e *codexEnd) hears(want string) {
	e.t.Helper()
	if got, err := e.in.ReadString('\n'); err != nil || got != want+"\n" {
		e.t.Fatalf("got %q, %v\nwant %q", got, err, want)
	}
}

// play starts a proxy, in which the thread T works in /work.
func play(t *testing.T) (editor, codex *codexEnd, j *codexJudge) {
	t.Helper()
	editor, codex = newCodexEnd(t), newCodexEnd(t)
	j = &codexJudge{told: make(chan Notice, 1), held: make(chan struct{})}
	p := &CodexProxy{Editor: editor.peer, Codex: codex.peer, Judge: j}
	go p.Run(t.Context())
	const started = `{"method":"thread/started","params":{"thread":{"id":"T","cwd":"/work"}}}`
	codex.say(started)
	editor.hears(started)
	return editor, codex, j
}

func command(id int, kind, line string) string {
	return fmt.Sprintf(`{"method":%q,"id":%d,"params":{"kind":%q,"threadId":"T","itemId":"i%d","command":%q,"cwd":"/work"}}`,
		methodCommand, id, kind, id, line)
}

const files = `{"method":"` + methodFiles + `","id":9,"params":{"threadId":"T","itemId":"f"}}`

func changes(list string) string {
	return `{"method":"item/started","params":{"threadId":"T","item":{"type":"fileChange","id":"f","changes":[` + list + `]}}}`
}

// TestQuestions: each question is answered, or goes to the editor as it came.
func TestQuestions(t *testing.T) {
	t.Parallel()
	const (
		add    = `{"path":"/work/good","kind":{"type":"add"},"diff":"x"}`
		update = `{"path":"/work/good","kind":{"type":"update","move_path":null},"diff":"@@"}`
		move   = `{"path":"/work/good","kind":{"type":"update","move_path":"/etc/bad"},"diff":"@@"}`
		gone   = `{"path":"/work/bad","kind":{"type":"delete"},"diff":""}`
		other  = `{"path":"/work/other","kind":{"type":"add"},"diff":"x"}`
	)
	const (
		wipe = `{"method":"item/started","params":{"threadId":"T","item":{"type":"mcpToolCall","id":"m",` +
			`"server":"s","tool":"wipe","arguments":{"path":"/good","n":1}}}}`
		wiped = `{"method":"item/completed","params":{"threadId":"T","item":{"type":"mcpToolCall","id":"m",` +
			`"server":"s","tool":"wipe","arguments":{"path":"/good","n":1},"status":"completed"}}}`
		mayUse = `{"method":"` + methodElicitation + `","id":9,"params":{"threadId":"T","serverName":"s","mode":"form",` +
			`"requestedSchema":{"type":"object","properties":{}},"_meta":{"codex_approval_kind":"mcp_tool_call",` +
			`"tool_name":"wipe","tool_params":{"n":1,"path":"/good"}}}}`
		rights = `{"method":"` + methodPermissions + `","id":9,"params":{"threadId":"T","itemId":"r","cwd":"/work",` +
			`"permissions":{"network":{"enabled":true},"fileSystem":{"write":["/good"]}}}}`
	)
	legacy := func(word, conversation string) string {
		return fmt.Sprintf(`{"method":%q,"id":9,"params":{"conversationId":%q,"callId":"c","command":["rm",%q],"cwd":"/work"}}`,
			methodLegacyCommand, conversation, word)
	}
	patch := func(path, conversation string) string {
		return fmt.Sprintf(`{"method":%q,"id":9,"params":{"conversationId":%q,"callId":"c","fileChanges":{%q:{"type":"add","content":"x"}}}}`,
			methodLegacyFiles, conversation, path)
	}
	network := func(name string) string {
		return strings.Replace(command(9, "command", "curl x"), `"threadId"`,
			`"networkApprovalContext":{"host":"`+name+`","protocol":"https"},"threadId"`, 1)
	}
	for _, tt := range []struct{ name, before, question, decision string }{
		{"safe", "", command(9, "command", "good"), "accept"},
		{"refused", "", command(9, "command", "bad"), "decline"},
		{"open", "", command(9, "command", "other"), ""},
		{"an older Codex", "", strings.Replace(command(9, "command", "good"), `"kind":"command",`, "", 1), "accept"},
		{"typed", "", command(9, "writeStdin", "good"), "decline"},
		{"for a person alone", "", command(9, "humanCommand", "good"), ""},
		{"the network", "", network("good.example"), "accept"},
		{"the network, refused", "", network("bad.example"), "decline"},
		{"the network, open", "", network("other.example"), ""},
		{"the network, no host", "", network(""), ""},
		{"a tool that is allowed, or its server's own question in the same words", wipe, mayUse, ""},
		{
			"a tool, refused", strings.Replace(wipe, "good", "bad", 1), strings.Replace(mayUse, "good", "bad", 1),
			`{"action":"decline"}`,
		},
		{"a tool, open", strings.Replace(wipe, "good", "other", 1), strings.Replace(mayUse, "good", "other", 1), ""},
		{"a tool that nobody calls", "", mayUse, ""},
		{"a tool that was called", wipe + "\n" + wiped, mayUse, ""},
		{"a tool with other arguments", wipe, strings.Replace(mayUse, `"n":1`, `"n":2`, 1), ""},
		{
			"a server that wants to know something", wipe,
			strings.Replace(mayUse, `"properties":{}`, `"properties":{"name":{"type":"string"}}`, 1), "",
		},
		{"a server that asks for itself", wipe, strings.Replace(mayUse, "mcp_tool_call", "", 1), ""},
		{
			"more rights", "", rights,
			`{"permissions":{"network":{"enabled":true},"fileSystem":{"write":["/good"]}},"scope":"turn"}`,
		},
		{"more rights, refused", "", strings.Replace(rights, "good", "bad", 1), `{"permissions":{},"scope":"turn"}`},
		{"more rights, open", "", strings.Replace(rights, "good", "other", 1), ""},
		{
			"no rights", "", strings.Replace(rights,
				`"permissions":{"network":{"enabled":true},"fileSystem":{"write":["/good"]}}`, `"permissions":{}`, 1), "",
		},
		{"no command", "", command(9, "command", ""), ""},
		{"another thread", "", strings.Replace(command(9, "command", "bad"), `"T"`, `"U"`, 1), ""},
		{"a name twice", "", strings.Replace(command(9, "command", "good"), `"cwd"`, `"command":"good","cwd"`, 1), ""},
		{"a file", changes(add), files, "accept"},
		{"an edit", changes(update), files, "accept"},
		{"a bad place", changes(move), files, "decline"},
		{"a deletion", changes(gone), files, "decline"},
		{"one of two is open", changes(add + "," + other), files, ""},
		{"one of two is bad", changes(add + "," + gone), files, "decline"},
		{"files that nobody named", "", files, ""},
		{"a whole folder", changes(add), strings.Replace(files, `"f"`, `"f","grantRoot":"/work"`, 1), ""},
		{"an older command", "", legacy("/good", "T"), `{"decision":"approved"}`},
		{"an older command, refused", "", legacy("/bad", "T"), `{"decision":{"denied":{"rejection":"denied by umpire"}}}`},
		{"an older command, open", "", legacy("/other", "T"), ""},
		{"an older command of a conversation that is not known", "", legacy("/good", "U"), ""},
		{"older changes", "", patch("/work/good", "T"), `{"decision":"approved"}`},
		{"older changes, refused", "", patch("/work/bad", "T"), `{"decision":{"denied":{"rejection":"denied by umpire"}}}`},
		{"older changes, open", "", patch("/work/other", "T"), ""},
		{"older changes of a whole folder", "", strings.Replace(patch("/work/good", "T"), `"callId"`, `"grantRoot":"/work","callId"`, 1), ""},
		{"the editor's own tool", "", `{"method":"item/tool/call","id":9,"params":{"tool":"bad"}}`, ""},
		{"another kind", "", `{"method":"item/futureApproval","id":9,"params":{"command":"good"}}`, "refused"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			editor, codex, _ := play(t)
			if tt.before != "" {
				for line := range strings.Lines(tt.before) {
					codex.say("%s", strings.TrimSpace(line))
					editor.hears(strings.TrimSpace(line))
				}
			}
			codex.say("%s", tt.question)
			if tt.name == "a name twice" {
				codex.hears(`{"jsonrpc":"2.0","id":9,"error":{"code":-32600,"message":"umpire: read a JSON-RPC message: params: \"command\" appears twice"}}`)
			} else if tt.decision == "refused" {
				codex.hears(`{"jsonrpc":"2.0","id":9,"error":{"code":-32601,` +
					`"message":"umpire: unknown kind of request \"item/futureApproval\": not forwarded"}}`)
			} else if tt.decision != "" {
				if !strings.HasPrefix(tt.decision, "{") {
					tt.decision = `{"decision":"` + tt.decision + `"}`
				}
				codex.hears(`{"jsonrpc":"2.0","id":9,"result":` + tt.decision + `}`)
				codex.say(`{"method":"serverRequest/resolved","params":{"threadId":"T","requestId":9}}`)
			} else {
				editor.hears(tt.question)
			}
			const after = `{"method":"turn/completed","params":{"threadId":"T"}}`
			codex.say(after)
			editor.hears(after) // and nothing before it
		})
	}
}

// TestAnswersWaitForNobody: messages go on while Codex does not read its answers.
func TestAnswersWaitForNobody(t *testing.T) {
	t.Parallel()
	editor, codex, _ := play(t)
	for id := range 3 {
		codex.say("%s", command(id, "command", "good"))
	}
	const after = `{"method":"turn/completed","params":{"threadId":"T"}}`
	codex.say(after)
	editor.hears(after)
	for range 3 {
		if _, err := codex.in.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
}

// TestEnds: the judge learns the outcome of an accepted call, and a question that Codex withdraws
// stays unanswered.
func TestEnds(t *testing.T) {
	t.Parallel()
	editor, codex, j := play(t)
	codex.say("%s", command(1, "command", "good"))
	codex.hears(`{"jsonrpc":"2.0","id":1,"result":{"decision":"accept"}}`)
	const done = `{"method":"item/completed","params":{"threadId":"T","item":{"id":"i1","status":"failed","aggregatedOutput":"no"}}}`
	codex.say(done)
	editor.hears(done)
	if n := <-j.told; n.Kind != Failed || n.Session != "T" || n.Project != "/work" || string(n.Output) != `"no"` {
		t.Errorf("told of %+v", n)
	}
	codex.say("%s", command(2, "command", "held"))
	<-j.held
	codex.say(`{"method":"serverRequest/resolved","params":{"threadId":"T","requestId":2}}`)
	editor.say(`{"id":7,"method":"turn/start","params":{"threadId":"T","x":1.50}}`)
	codex.hears(`{"id":7,"method":"turn/start","params":{"threadId":"T","x":1.50}}`)
	codex.say("%s", command(3, "command", "bad"))
	codex.hears(`{"jsonrpc":"2.0","id":3,"result":{"decision":"decline"}}`)
}

// TestLegacyTurn: the folder of a conversation of the older kind is the one that the editor names.
func TestLegacyTurn(t *testing.T) {
	t.Parallel()
	p := &CodexProxy{folders: jsonrpc.NewTable[string](1)}
	p.noteTurn([]byte(`{"method":"sendUserTurn","id":1,"params":{"conversationId":"L","cwd":"/work/x/..","items":[]}}`))
	p.noteTurn([]byte(`{"method":"sendUserTurn","id":1,"params":{"conversationId":"L","cwd":"relative"}}`))
	if dir, known := p.folders.Get("L"); !known || dir != "/work" {
		t.Errorf("the folder is %q, %t", dir, known)
	}
}
