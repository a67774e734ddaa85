package hosts

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"os"
	"sync/atomic"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/config/strictjson"
	"github.com/umpirehq/umpire/internal/hold/process"
	"github.com/umpirehq/umpire/internal/host"
)

const promptLong = `An MCP server with one tool, permission_prompt, for hosts that ask a tool instead of
their user. For Claude Code, name it in a file of MCP servers:

  {"mcpServers": {"umpire": {"command": "umpire", "args": ["proxy", "mcp", "permission-prompt"]}}}

and start Claude Code with it:

  claude -p --mcp-config servers.json --permission-prompt-tool mcp__umpire__permission_prompt

Claude Code asks it about calls that its own rules and hooks leave open. It decides each
call as the hook would; a call that asks waits in umpire's inbox for a person's answer.`

// newPromptCommand is `umpire proxy mcp permission-prompt`.
func newPromptCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "permission-prompt", Args: app.RefuseWords,
		Short: "Serve as the permission prompt tool of Claude Code", Long: promptLong,
		RunE: func(cmd *cobra.Command, _ []string) error { return runPrompt(cmd.Context(), a) },
	}
}

// promptSchema is the schema of the tool's input.
var promptSchema = json.RawMessage(`{"type":"object","properties":{"tool_name":{"type":"string"},` +
	`"input":{"type":"object"},"tool_use_id":{"type":"string"}},"required":["tool_name","input"]}`)

// runPrompt serves the tool until its client ends.
func runPrompt(ctx context.Context, a *app.App) error {
	j := newJudge(a, "claude-prompt")
	j.unattended, j.runner = true, process.Host(os.Getppid())
	defer j.close()
	session := "prompt-" + rand.Text()
	project := cmp.Or(a.Getenv("CLAUDE_PROJECT_DIR"), a.Dir)
	var asked atomic.Bool
	s := sdk.NewServer(&sdk.Implementation{Name: "umpire", Version: app.ThisBuild().Version}, nil)
	tool := &sdk.Tool{
		Name: "permission_prompt", Description: "Asks whether a call of a tool may run.", InputSchema: promptSchema,
	}
	s.AddTool(tool, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		asked.Store(true)
		reply := j.prompt(ctx, session, project, r.Params.Arguments)
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(reply)}}}, nil
	})
	err := s.Run(ctx, &sdk.IOTransport{Reader: io.NopCloser(a.Stdin), Writer: nopCloser{a.Stdout}})
	if asked.Load() {
		j.tellEnd(context.WithoutCancel(ctx), session, project)
	}
	if ctx.Err() != nil {
		return nil
	}
	return app.Failed(err)
}

// A nopCloser is a stream that is not the server's to close.
type nopCloser struct{ io.Writer }

// Close does nothing.
func (nopCloser) Close() error { return nil }

// A promptReply is the answer in Claude Code's format.
type promptReply struct {
	Behavior string          `json:"behavior"`
	Input    json.RawMessage `json:"updatedInput,omitempty"`
	Message  string          `json:"message,omitempty"`
}

// prompt answers one question. Any error denies the call.
func (j *gateJudge) prompt(ctx context.Context, session, project string, arguments json.RawMessage) []byte {
	deny := func(why string) []byte { return encodeReply(promptReply{Behavior: "deny", Message: why}) }
	o, err := strictjson.ReadObject(arguments)
	if err != nil {
		return deny("umpire: " + err.Error())
	}
	p := payload{Event: "before", Session: session, Dir: project, Project: project, Input: o["input"]}
	if p.Tool, err = o.RequiredText("tool_name"); err == nil {
		p.ID, err = o.Text("tool_use_id")
	}
	if err != nil {
		return deny("umpire: " + err.Error())
	}
	p.ID = cmp.Or(p.ID, rand.Text())
	out, exit, err := j.ask(ctx, p)
	if err != nil {
		return deny("umpire: " + err.Error())
	}
	answer, err := readAnswer(out, exit, host.Allow)
	switch {
	case err != nil:
		return deny("umpire: " + err.Error())
	case answer.Reply != host.Allow:
		return deny(answer.Reason)
	}
	return encodeReply(promptReply{Behavior: "allow", Input: p.Input})
}

func encodeReply(r promptReply) []byte {
	line := strictjson.EncodeLine(r)
	return line[:len(line)-1]
}

// tellEnd reports the end of a session's questions.
func (j *gateJudge) tellEnd(ctx context.Context, session, project string) {
	if _, _, err := j.ask(ctx, payload{Event: "end", Session: session, Dir: project, Project: project}); err != nil {
		j.app.RemarkError(err)
	}
}
