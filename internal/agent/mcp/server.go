package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/llm"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/files"
)

// A server is a server that was started, or failed to start.
type server struct {
	name    string
	config  config.Server
	options *Options
	notice  func(format string, args ...any)

	session *sdk.ClientSession
	program *program // nil for one at a URL

	gone sync.Once // its end was noticed
}

// startServer connects to the server and lists its tools.
func (s *server) startServer(ctx context.Context) (offers []*offer, err error) {
	ctx, cancel := context.WithTimeoutCause(
		ctx, startTime, umpire.Errorf("it did not list its tools within %v", startTime),
	)
	defer cancel()
	if offers, err = s.connect(ctx); err == nil {
		return offers, nil
	}
	s.gone.Do(func() {}) // its failure to start says enough
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	words := ""
	if s.program != nil {
		s.program.kill()
		<-s.program.ended
		words = s.program.words.String()
	}
	s.stop()
	if words != "" {
		err = umpire.Errorf("%w; it said: %s", err, words)
	}
	return nil, err
}

func (s *server) connect(ctx context.Context) ([]*offer, error) {
	reach := s.launch
	if s.config.URL != "" {
		reach = s.dial
	}
	transport, err := reach()
	if err != nil {
		return nil, err
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "umpire", Version: s.options.Version}, &sdk.ClientOptions{
		Capabilities:   &sdk.ClientCapabilities{}, // none: requests of the server are refused
		MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true},
	})
	if s.session, err = client.Connect(ctx, transport, nil); err != nil {
		return nil, err
	}
	listed, err := s.list(ctx)
	if err != nil {
		return nil, err
	}
	if s.program != nil {
		go s.noticeEnd()
	}
	return s.offers(listed)
}

// noticeEnd reports that the server's program has ended, unless it was asked to.
func (s *server) noticeEnd() {
	<-s.program.ended
	s.gone.Do(func() { s.notice("MCP server %q has ended: %s", s.name, s.describeEnd()) })
}

// describeEnd returns how a program ended, and its last output.
func (s *server) describeEnd() string {
	how := "of its own accord"
	if s.program.err != nil {
		how = s.program.err.Error()
	}
	if words := s.program.words.String(); words != "" {
		how += "; it said: " + words
	}
	return how
}

// list asks the server for its tools.
func (s *server) list(ctx context.Context) ([]*sdk.Tool, error) {
	var all []*sdk.Tool
	for t, err := range s.session.Tools(ctx, nil) {
		if err != nil {
			return nil, umpire.Errorf("list the tools: %w", err)
		}
		if len(all) == maxTools {
			return nil, umpire.Errorf("it has more than %d tools", maxTools)
		}
		all = append(all, t)
	}
	return all, nil
}

// offers converts the server's list to offers.
func (s *server) offers(listed []*sdk.Tool) ([]*offer, error) {
	var all []*offer
	for _, t := range listed {
		made, err := s.offer(t)
		if err != nil {
			s.notice("tool %q of MCP server %q is left out: %v", t.Name, s.name, err)
			continue
		}
		all = append(all, made)
	}
	return all, nil
}

const (
	// maxAbout and maxSchema bound the description of a tool for a model.
	maxAbout  = 4 << 10
	maxSchema = 64 << 10
)

func (s *server) offer(t *sdk.Tool) (*offer, error) {
	schema, err := json.Marshal(t.InputSchema)
	if err != nil {
		return nil, umpire.Errorf("its schema: %w", err)
	}
	object, ok := t.InputSchema.(map[string]any)
	if !ok || object["type"] != "object" {
		return nil, errors.New("its schema is not that of an object")
	}
	if t.Name == "" || len(schema) > maxSchema {
		return nil, umpire.Errorf("it has no name, or a schema of more than %d bytes", maxSchema)
	}
	made := &offer{server: s, name: t.Name, print: fingerprintTool(t), llm: llm.Tool{
		Name: toolName(s.name, t.Name), Description: describeTool(t), Schema: schema,
	}}
	if t.Annotations != nil {
		if made.claims, err = json.Marshal(t.Annotations); err != nil {
			return nil, umpire.Errorf("its annotations: %w", err)
		}
	}
	return made, nil
}

// describeTool returns a tool's description for the model: bounded, and without invisible
// characters.
func describeTool(t *sdk.Tool) string {
	text := t.Description
	if text == "" {
		text = t.Title
	}
	return files.ClipTo(stripInvisible(text), maxAbout, " […]")
}

// fingerprintTool returns a digest of a tool's whole description.
func fingerprintTool(t *sdk.Tool) [32]byte {
	text, err := json.Marshal(t)
	if err != nil {
		return [32]byte{} // equal for every call
	}
	return sha256.Sum256(text)
}

// A changedError means that a tool differs from the one that was offered.
type changedError struct{ text string }

func (e *changedError) Error() string { return e.text }

// same fails if a tool's description has changed.
func (s *server) same(ctx context.Context, was *offer) error {
	listed, err := s.list(ctx)
	if err != nil {
		return err
	}
	for _, t := range listed {
		if t.Name != was.name {
			continue
		}
		if fingerprintTool(t) == was.print {
			return nil
		}
		return &changedError{
			"its server describes it otherwise than at the start of this run; it can be called again in a new one",
		}
	}
	return &changedError{"its server does not offer it any more"}
}

// errTimeout means that a call exceeded its time limit.
var errTimeout = errors.New("timed out")

// call runs a tool. It always returns, even if the server hangs.
func (s *server) call(ctx context.Context, t *offer, input json.RawMessage) (string, error) {
	limit := s.config.Timeout
	if limit == 0 {
		limit = callTime
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, umpire.Errorf("%w after %v", errTimeout, limit))
	defer cancel()
	var answer *sdk.CallToolResult
	err := s.runBounded(ctx, func() error {
		if err := s.same(ctx, t); err != nil {
			return err
		}
		var err error
		answer, err = s.session.CallTool(ctx, &sdk.CallToolParams{Name: t.name, Arguments: input})
		return err
	})
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", s.explained(err)
	}
	return resultText(answer)
}

// patience is the grace period of a server after its call is over: a server that does not read
// cannot even be asked to stop.
const patience = 2 * time.Second

// runBounded runs do, and ends the server if it does not return in time.
func (s *server) runBounded(ctx context.Context, do func() error) error {
	if s.program == nil {
		return do() // a request over HTTP ends with its context
	}
	over := make(chan struct{})
	defer close(over)
	stop := context.AfterFunc(ctx, func() {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		select {
		case <-over:
		case <-timer.C:
			s.program.kill()
		}
	})
	defer stop()
	return do()
}

// explained adds the server's end to an error that it caused.
func (s *server) explained(err error) error {
	if _, is := errors.AsType[*changedError](err); is {
		return err
	}
	text := errors.New(files.ClipTo(stripInvisible(err.Error()), maxAbout, " […]"))
	if s.program == nil || !errors.Is(err, sdk.ErrConnectionClosed) && !errors.Is(err, io.EOF) {
		return text
	}
	timer := time.NewTimer(stopGrace) // its output ends before the process does
	defer timer.Stop()
	select {
	case <-s.program.ended:
		return umpire.Errorf("the MCP server %q has ended: %w", s.name, text)
	case <-timer.C:
		return text
	}
}

// stop ends the session with the server, and its program.
func (s *server) stop() {
	s.gone.Do(func() {})
	if s.program != nil {
		s.program.stop() // before the session, which would wait for a program that does not end
	}
	if s.session != nil {
		_ = s.session.Close() // it may have ended already
	}
}
