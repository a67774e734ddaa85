package fake

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// MCPClientMain is a client: FILE COMMAND... It starts the command as its server, and calls the tools
// that the lines of the file name, each with its arguments. It prints the replies.
//
//	-at FILE        call a server over HTTP instead: the file says its address and a field of the
//	                header, as umpire proxy mcp --listen prints them
//	-elicit ACTION  answer every question of the server so, and show it
//	-state FILE     do not answer questions: write the state to come back with to the file, or
//	                come back with the state from the file
func MCPClientMain() {
	at := flag.String("at", "", "")
	elicit := flag.String("elicit", "", "")
	state := flag.String("state", "", "")
	flag.Parse()
	o := &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}}
	if *elicit != "" || *state != "" {
		o.ElicitationHandler = func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			fmt.Println("asked:", r.Params.Message)
			return &mcp.ElicitResult{Action: *elicit}, nil
		}
	}
	o.MultiRoundTrip = &mcp.MultiRoundTripOptions{Disabled: *state != ""}
	o.ProgressNotificationHandler = func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
		fmt.Println("progress:", r.Params.Message)
	}
	ctx := context.Background()
	s, err := mcp.NewClient(&mcp.Implementation{Name: "mcp-client"}, o).Connect(ctx, transportTo(*at), nil)
	if err != nil {
		fmt.Println("connect:", err)
		return
	}
	defer s.Close()
	calls, err := os.Open(flag.Arg(0))
	if err != nil {
		panic(err)
	}
	for lines := bufio.NewScanner(calls); lines.Scan(); {
		callTool(ctx, s, lines.Text(), *state)
	}
}

// transportTo returns the transport to the server given by the arguments, or by the file.
func transportTo(file string) mcp.Transport {
	if file == "" {
		command := flag.Args()[1:]
		cmd := exec.Command(command[0], command[1:]...) //nolint:noctx,gosec // a test names it
		cmd.Stderr = os.Stderr
		return &mcp.CommandTransport{Command: cmd}
	}
	var address, token string
	for range 100 {
		text, _ := os.ReadFile(file) // it may not be written yet
		n, _ := fmt.Sscanf(string(text), "address: %s\nheader: Authorization: Bearer %s\n", &address, &token)
		if n == 2 { //nolint:mnd // both of them
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	return &mcp.StreamableClientTransport{Endpoint: address, HTTPClient: &http.Client{Transport: mcpBearer(token)}}
}

// A mcpBearer adds a token to every request.
type mcpBearer string

// RoundTrip makes a request.
func (b mcpBearer) RoundTrip(q *http.Request) (*http.Response, error) {
	q = q.Clone(q.Context())
	q.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(q)
}

// callTool calls one tool.
func callTool(ctx context.Context, s *mcp.ClientSession, line, state string) {
	name, arguments, _ := strings.Cut(line, " ")
	params := &mcp.CallToolParams{Name: name, Arguments: jsonText(arguments)}
	params.SetProgressToken(name)
	if kept, err := os.ReadFile(state); err == nil {
		params.RequestState = string(kept)
		params.InputResponses = mcp.InputResponseMap{"umpire": &mcp.ElicitResult{Action: "accept"}}
	}
	r, err := s.CallTool(ctx, params)
	switch {
	case err != nil:
		fmt.Printf("%s: error: %v\n", name, err)
		return
	case r.RequestState != "":
		if err := os.WriteFile(state, []byte(r.RequestState), 0o600); err != nil {
			panic(err)
		}
		fmt.Printf("%s: come back\n", name)
	}
	for _, c := range r.Content {
		if text, is := c.(*mcp.TextContent); is {
			fmt.Printf("%s: error %v: %s\n", name, r.IsError, text.Text)
		}
	}
}

// A jsonText is JSON text, encoded unchanged.
type jsonText string

// MarshalJSON returns it.
func (t jsonText) MarshalJSON() ([]byte, error) { return []byte(t), nil }
