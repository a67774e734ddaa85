package editor

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/strictjson"
)

// The questions of Codex that are judged.
const (
	methodCommand     = "item/commandExecution/requestApproval"
	methodFiles       = "item/fileChange/requestApproval"
	methodPermissions = "item/permissions/requestApproval"
	methodElicitation = "mcpServer/elicitation/request"
)

// questions extract the item of the thread and the calls from each kind of question.
var questions = map[string]func(p *CodexProxy, thread string, o strictjson.Object) (string, []umpire.Call, error){
	methodCommand: (*CodexProxy).commandCalls, methodFiles: (*CodexProxy).fileCalls,
	methodPermissions: (*CodexProxy).permissionCalls,
	methodElicitation: (*CodexProxy).toolCalls, methodLegacyCommand: (*CodexProxy).legacyCommandCalls,
	methodLegacyFiles: (*CodexProxy).legacyFileCalls,
}

// leftToEditor are requests that are not about a call of an agent. The editor answers them.
var leftToEditor = []string{
	"item/tool/requestUserInput", "item/tool/call", "account/chatgptAuthTokens/refresh", "attestation/generate",
}

func isCodexJudged(method string) bool { return questions[method] != nil }

// isKnown reports whether a request may go to the editor. A request of an unknown kind may be an
// approval whose answer allows by default.
func isKnown(method string) bool {
	return isCodexJudged(method) || slices.Contains(leftToEditor, method)
}

// answerTo returns the answer for Codex: yes to this call alone, or no, after which the turn continues.
func answerTo(method string, params json.RawMessage, accept bool) any {
	switch {
	case isLegacy(method):
		return legacyAnswer(accept)
	case method == methodPermissions && accept:
		var asked struct {
			Permissions json.RawMessage `json:"permissions"`
		}
		_ = json.Unmarshal(params, &asked) // it was read before
		return map[string]any{"permissions": asked.Permissions, "scope": "turn"}
	case method == methodPermissions:
		return map[string]any{"permissions": struct{}{}, "scope": "turn"}
	case method == methodElicitation: // never accepted here
		return map[string]string{"action": "decline"}
	case accept:
		return map[string]string{"decision": "accept"}
	}
	return map[string]string{"decision": "decline"}
}

// permissionCalls returns the call for a request for more rights. Codex does not say how it would
// use them.
func (p *CodexProxy) permissionCalls(_ string, o strictjson.Object) (item string, calls []umpire.Call, err error) {
	asked, err := o.Child("permissions")
	if err == nil && len(asked) == 0 {
		err = errors.New("it names no permissions")
	}
	if err != nil {
		return "", nil, err
	}
	item, err = o.ID("itemId")
	input := map[string]json.RawMessage{"permissions": o["permissions"]}
	return item, []umpire.Call{{Tool: "request_permissions", Input: encode(input)}}, err
}

// networkCalls returns the call for a host that Codex's proxy has stopped.
func networkCalls(context json.RawMessage, line string) ([]umpire.Call, error) {
	o, err := strictjson.ReadObject(context)
	if err != nil {
		return nil, err
	}
	name, err := o.RequiredText("host")
	if err != nil {
		return nil, err
	}
	protocol, err := o.Text("protocol")
	if err != nil {
		return nil, err
	}
	input := map[string]string{"host": name, "protocol": protocol, "command": line}
	return []umpire.Call{{Tool: "network_access", Input: encode(input)}}, nil
}

// toolKey returns a key that differs for calls of different MCP tools or with different arguments.
func toolKey(thread, server, tool string, args json.RawMessage) string {
	if canonical, err := strictjson.Canonical(args); err == nil {
		args = canonical
	}
	return string(encode([]string{thread, server, tool, string(args)}))
}

func toolOf(of *item) string { return toolKey(of.Thread, of.Item.Server, of.Item.Tool, of.Item.Args) }

var errOwnQuestion = errors.New("an MCP server asked the question itself")

// toolCalls returns the call of an MCP server's tool that Codex wants approved. Codex asks in the
// form of a question of that server; a server's own question is about no waiting call, or has
// fields to fill in, and goes to the person. While a tool runs its server can word its own question
// exactly like Codex's, so umpire may only say no, and leaves yes to the person.
func (p *CodexProxy) toolCalls(thread string, o strictjson.Object) (item string, calls []umpire.Call, err error) {
	about, err := o.Child("_meta")
	if err == nil {
		err = about.CheckSpelling()
	}
	kind, kindErr := about.Text("codex_approval_kind")
	tool, toolErr := about.Text("tool_name")
	server, serverErr := o.Text("serverName")
	form, formErr := o.Child("requestedSchema")
	fields, fieldsErr := form.Child("properties")
	if err = errors.Join(err, kindErr, toolErr, serverErr, formErr, fieldsErr); err != nil {
		return "", nil, err
	}
	if kind != "mcp_tool_call" || len(fields) > 0 {
		return "", nil, errOwnQuestion
	}
	item, waits := p.tools.Take(toolKey(thread, server, tool, about["tool_params"]))
	if !waits {
		return "", nil, errOwnQuestion
	}
	return item, []umpire.Call{{Tool: "mcp__" + server + "__" + tool, Input: about["tool_params"]}}, nil
}
