package hosts

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/mcp"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/hold/process"
	"github.com/umpirehq/umpire/internal/host/jsonrpc"
)

const mcpLong = `Stands between an MCP client, such as Claude Desktop or an agent, and an MCP server,
and decides each call of a tool. In the client's list of servers, put "umpire proxy mcp --"
before the command of the server:

  npx -y @acme/files /srv      becomes   umpire proxy mcp --name files -- npx -y @acme/files /srv

A server at a URL gets such a command with --url. umpire does not follow redirects. With
--listen it serves clients over HTTP, each with its own server, and prints the address
and the header that a client must send.

A rule names a tool as mcp__NAME__TOOL. A tool without a rule asks: the call waits
in umpire's inbox (umpire watch, umpire pending). A denied call ends with a result that
gives the reason. umpire remembers the description of each tool; a tool whose description
has changed asks even if a rule allows it, and the card shows the difference.

umpire passes on everything else unchanged (resources, prompts, the server's questions).
The server itself runs with your rights: umpire decides about the calls to it, not about
its own actions.`

const mcpExample = `  umpire proxy mcp --name files -- npx -y @modelcontextprotocol/server-filesystem /srv/data
  umpire proxy mcp --url https://mcp.example.com/mcp --header 'Authorization: Bearer ${TOKEN}'
  umpire proxy mcp --listen 127.0.0.1:8765 --name files -- npx -y @modelcontextprotocol/server-filesystem /srv/data
  umpire rules add allow mcp__files__read_file
  claude -p --permission-prompt-tool mcp__umpire__permission_prompt ...`

// mcpFlags are the flags of `umpire proxy mcp`.
type mcpFlags struct {
	name, url, listen string
	headers           []string
}

// newMCPCommand is `umpire proxy mcp`.
func newMCPCommand(a *app.App) *cobra.Command {
	var f mcpFlags
	cmd := &cobra.Command{
		Use: "mcp -- SERVER...", Args: cobra.ArbitraryArgs,
		Short: "Decide for the client of an MCP server", Long: mcpLong, Example: mcpExample,
		RunE: func(cmd *cobra.Command, words []string) error {
			if err := f.check(words); err != nil {
				return app.Usage(cmd.CommandPath()+" --help", "%w", err)
			}
			return runMCP(cmd.Context(), a, &f, words)
		},
	}
	cmd.Flags().StringVar(&f.name, "name", "",
		"call the server `NAME` in rules and cards (default: from its command or its address)")
	cmd.Flags().StringVar(&f.url, "url", "", "proxy the MCP server at `URL`, over HTTP")
	cmd.Flags().StringArrayVar(&f.headers, "header", nil,
		"send `FIELD` to the server at a URL; ${NAME} in it is taken from the environment")
	cmd.Flags().StringVar(&f.listen, "listen", "",
		"serve clients over HTTP at the loopback address `ADDR`, such as 127.0.0.1:8765, until it is stopped")
	cmd.Flags().SetInterspersed(false)
	cmd.AddCommand(newPromptCommand(a))
	return cmd
}

// check refuses flags that do not go together, and names the server.
func (f *mcpFlags) check(words []string) error {
	switch {
	case (f.url == "") == (len(words) == 0):
		return errors.New("want either the command of a SERVER or --url")
	case f.url == "" && len(f.headers) > 0:
		return errors.New("--header: is for --url")
	}
	server := config.Server{Command: "SERVER"}
	if f.url != "" {
		server = config.Server{URL: f.url}
	}
	err := server.Check(cmp.Or(f.name, "s"))
	f.name = cmp.Or(f.name, serverName(f.url, words))
	return err
}

// runMCP forwards messages until the client or the server ends.
func runMCP(ctx context.Context, a *app.App, f *mcpFlags, words []string) error {
	gate, done, err := a.OpenGate(ctx, app.AgentCredential)
	if err != nil {
		return err
	}
	defer done()
	key, err := loadSecret(a.StateDir(), "mcp-state.key")
	if err != nil {
		return err
	}
	p := mcp.Proxy{
		Gate: gate, Name: f.name, Key: key,
		Opening: umpire.Opening{
			Dir: a.Dir, Agent: "mcp", External: true, Runner: process.Host(os.Getppid()),
			Headless: a.Getenv("UMPIRE_HEADLESS") == "1",
		},
		Pins:   &mcp.Pins{Path: filepath.Join(a.StateDir(), "mcp-pins.json")},
		Report: a.RemarkError,
	}
	if f.listen != "" {
		return f.serveClients(ctx, a, &p, words)
	}
	return f.runSession(ctx, a, &p, jsonrpc.NewPeer(a.Stdin, a.Stdout), words)
}

// runSession connects one client with a separate server.
func (f *mcpFlags) runSession(
	ctx context.Context, a *app.App, with *mcp.Proxy, client jsonrpc.Side, words []string,
) error {
	p := mcp.Proxy{
		Client: client, Gate: with.Gate, Name: with.Name, Key: with.Key, Opening: with.Opening, Pins: with.Pins,
		Report: with.Report,
	}
	server, err := f.reach(ctx, a, &p, words)
	if err != nil {
		return err
	}
	defer server.stop()
	return describeEnd(p.Run(ctx), server)
}

// serveClients serves clients over HTTP. Each session has a separate server.
func (f *mcpFlags) serveClients(ctx context.Context, a *app.App, with *mcp.Proxy, words []string) error {
	with.Opening.Runner = process.NameOf(os.Getpid())
	where := app.Address{Network: app.NetworkTCP, Name: f.listen}
	if !where.Loopback() {
		return app.Usage("umpire proxy mcp --help", "--listen: want a loopback address such as 127.0.0.1:8765")
	}
	key, err := loadSecret(a.StateDir(), "mcp-http.key")
	if err != nil {
		return err
	}
	on, err := (&net.ListenConfig{}).Listen(ctx, app.NetworkTCP, f.listen)
	if err != nil {
		return app.Failed(err)
	}
	l := jsonrpc.MCPListener{
		Token: hex.EncodeToString(key), Report: a.RemarkError,
		Begin: func(ctx context.Context, client jsonrpc.Side) error {
			return f.runSession(ctx, a, with, client, words)
		},
	}
	fmt.Fprintf(a.Stdout, "%s http://%s%s\n%s Authorization: Bearer %s\n",
		a.Text.Of("address:"), on.Addr(), jsonrpc.MCPPath, a.Text.Of("header:"), l.Token)
	return app.Failed(l.Serve(ctx, on))
}

// reach starts the server of a proxy, or gets ready to call the one at a URL, for which the
// program is nil.
func (f *mcpFlags) reach(ctx context.Context, a *app.App, p *mcp.Proxy, words []string) (*child, error) {
	if f.url == "" {
		server, err := startChild(a, words)
		if err == nil {
			p.Server, p.HangUp = server.peer, server.hangUp
		}
		return server, err
	}
	header, err := mcp.ReadHeader(f.headers, func(name string) (string, bool) {
		value := a.Getenv(name)
		return value, value != ""
	})
	if err != nil {
		return nil, app.Failed(umpire.Errorf("--header: %w", err))
	}
	remote := jsonrpc.DialMCP(ctx, f.url, header)
	p.Server, p.HangUp = remote, remote.Close
	return nil, nil
}

// launchers are programs that start the server that one of their arguments names.
var launchers = []string{"npx", "bunx", "pnpx", "uvx", "node", "bun", "deno", "python", "python3", "uv", "docker", "sh"}

// serverName derives the name of a server from its address, or from its command: the program,
// or the one that a launcher starts.
func serverName(address string, words []string) string {
	if at, err := url.Parse(address); err == nil && address != "" {
		return fitName(at.Hostname())
	}
	plain := func(word string) string {
		word = filepath.Base(filepath.ToSlash(word))
		word, _, _ = strings.Cut(word, "@")
		return fitName(strings.TrimSuffix(word, filepath.Ext(word)))
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

// fitName converts a text to one that can be used between the double underscores of a tool's name.
func fitName(text string) string {
	text = strings.Map(func(r rune) rune {
		if r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, text)
	for strings.Contains(text, "__") {
		text = strings.ReplaceAll(text, "__", "_")
	}
	return cmp.Or(strings.Trim(text, "-_"), "server")
}

// loadSecret reads a key of the state folder, or makes one.
func loadSecret(stateDir, name string) ([]byte, error) {
	const size = 32
	path := filepath.Join(stateDir, name)
	key, err := files.ReadSmall(path, size)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		key = make([]byte, size)
		rand.Read(key)
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			err = files.Replace(path, key, 0o600)
		}
	case err == nil && len(key) != size:
		err = umpire.Errorf("%s: want %d bytes, got %d", path, size, len(key))
	}
	return key, app.Failed(err)
}
