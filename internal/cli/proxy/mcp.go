package proxy

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/jsonrpc"
	"github.com/umpirehq/umpire/internal/mcp"
	"github.com/umpirehq/umpire/internal/process"
)

const mcpLong = `Stands between an MCP client, such as Claude Desktop or an agent, and an MCP server,
and decides each call of a tool. In the client's list of servers, put "umpire mcp --"
before the command of the server:

  npx -y @acme/files /srv      becomes   umpire mcp --name files -- npx -y @acme/files /srv

A rule names a tool as mcp__NAME__TOOL. A tool that no rule speaks of asks: the call
waits in umpire's inbox (umpire watch, umpire pending). A denied call ends with a
result that says why. How each tool describes itself is remembered; one that describes
itself otherwise later asks whatever rule allows it, and the card shows the difference.

All else (resources, prompts, the server's questions) passes as it came. The server
itself runs with your rights: umpire decides what it is asked to do, not what it does.`

const mcpExample = `  umpire mcp --name files -- npx -y @modelcontextprotocol/server-filesystem /srv/data
  umpire rules add allow mcp__files__read_file
  claude -p --permission-prompt-tool mcp__umpire__permission_prompt ...`

// NewMCPCommand is `umpire mcp`.
func NewMCPCommand(a *app.App) *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use: "mcp -- SERVER...", Args: cobra.ArbitraryArgs,
		Short: "Decide for the client of an MCP server", Long: mcpLong, Example: mcpExample,
		RunE: func(cmd *cobra.Command, words []string) error {
			if len(words) == 0 {
				return app.Usage(cmd.CommandPath()+" --help", "want the command of a SERVER")
			}
			return runMCP(cmd.Context(), a, name, words)
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "call the server `NAME` in rules and cards (default: from its command)")
	cmd.Flags().SetInterspersed(false)
	cmd.AddCommand(newPromptCommand(a))
	return cmd
}

// runMCP forwards messages until the client or the server ends.
func runMCP(ctx context.Context, a *app.App, name string, words []string) error {
	if name == "" {
		name = serverName(words)
	}
	gate, done, err := a.OpenGate(ctx, app.AgentCredential)
	if err != nil {
		return err
	}
	defer done()
	key, err := loadStateKey(filepath.Join(a.StateDir(), "mcp-state.key"))
	if err != nil {
		return app.Failed(err)
	}
	server, err := startChild(a, words)
	if err != nil {
		return err
	}
	defer server.stop()
	p := mcp.Proxy{
		Client: jsonrpc.NewPeer(a.Stdin, a.Stdout), Server: server.peer, Gate: gate, Name: name, Key: key,
		Opening: umpire.Opening{
			Dir: a.Dir, Agent: "mcp", External: true, Runner: process.Host(os.Getppid()),
			Headless: a.Getenv("UMPIRE_HEADLESS") == "1",
		},
		Pins:   &mcp.Pins{Path: filepath.Join(a.StateDir(), "mcp-pins.json")},
		HangUp: server.hangUp, Report: a.RemarkError,
	}
	return describeEnd(p.Run(ctx), server)
}

// launchers are programs that start the server that one of their arguments names.
var launchers = []string{"npx", "bunx", "pnpx", "uvx", "node", "bun", "deno", "python", "python3", "uv", "docker", "sh"}

// serverName is the name of a server by its command: of its program, or of what a launcher
// starts.
func serverName(words []string) string {
	plain := func(word string) string {
		word = filepath.Base(filepath.ToSlash(word))
		word, _, _ = strings.Cut(word, "@")
		return strings.TrimSuffix(word, filepath.Ext(word))
	}
	name := plain(words[0])
	for _, launcher := range launchers {
		if name != launcher {
			continue
		}
		for _, word := range words[1:] {
			if !strings.HasPrefix(word, "-") && word != "run" && word != "exec" {
				return plain(word)
			}
		}
	}
	return name
}

// loadStateKey reads the key that signs what clients come back with, or makes one.
func loadStateKey(path string) ([]byte, error) {
	const size = 32
	key, err := files.ReadSmall(path, size)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		key = make([]byte, size)
		rand.Read(key)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		return key, files.Replace(path, key, 0o600)
	case err == nil && len(key) != size:
		err = umpire.Errorf("%s: want %d bytes, got %d", path, size, len(key))
	}
	return key, err
}
