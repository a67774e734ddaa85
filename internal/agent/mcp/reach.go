package mcp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/hold/process"
	"github.com/umpirehq/umpire/internal/host/jsonrpc"
)

const (
	// maxFrame bounds one message of a server: a larger one ends the connection.
	maxFrame = 8 << 20
	// stopGrace is how long a server may take to end by itself when it is no longer needed, and
	// then again after it is asked to.
	stopGrace = time.Second
	// maxWords is how much of a server's standard error is kept.
	maxWords = 4 << 10
)

// A program is the process of a server.
type program struct {
	input  io.WriteCloser // closing it asks the server to end
	output *io.PipeReader
	words  *lastWords
	kill   context.CancelFunc // kills it, with all its children
	ended  chan struct{}      // closed once it has ended
	err    error              // how it ended; read it after ended is closed
}

// launch starts the program of a server, and returns the transport to it.
func (s *server) launch() (sdk.Transport, error) {
	env, err := filledIn(s.config.Env, lookupIn(s.options.Env))
	if err != nil {
		return nil, umpire.Errorf("env: %w", err)
	}
	cmd := exec.Command(s.fromHome(s.config.Command), s.config.Args...) //nolint:noctx // it ends with its group
	cmd.Env, cmd.Dir = serverEnv(s.options.Env, env), s.dir()
	p := &program{words: &lastWords{}, ended: make(chan struct{})}
	cmd.Stderr, cmd.WaitDelay = p.words, stopGrace
	if p.input, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	// Not exec's pipe: it is closed when the process ends, which loses unread output.
	var write *io.PipeWriter
	p.output, write = io.Pipe()
	cmd.Stdout = write
	process.Own(cmd)
	group, err := process.Start(cmd)
	if err != nil {
		return nil, err
	}
	var killed context.Context
	killed, p.kill = context.WithCancel(context.Background())
	go p.wait(killed, group, write)
	s.program = p
	return &sdk.IOTransport{Reader: p.output, Writer: p.input, MaxLineLength: maxFrame}, nil
}

// wait waits for the program to end, or ends it.
func (p *program) wait(killed context.Context, group *process.Group, write *io.PipeWriter) {
	defer close(p.ended)
	defer p.kill()
	select {
	case p.err = <-group.Done:
	case <-killed.Done():
		p.output.Close() //nolint:errcheck // it never fails; writers must not block
		group.Stop(stopGrace)
		p.err = errors.New("it was ended")
	}
	write.Close() //nolint:errcheck // it never fails
}

// dir returns the working directory of the server's program: by default outside of the project,
// because some launchers run code of the project.
func (s *server) dir() string {
	switch dir := s.fromHome(s.config.Dir); {
	case dir == "":
		return s.options.Home
	case filepath.IsAbs(dir):
		return dir
	default:
		return filepath.Join(s.options.Root, dir)
	}
}

func (s *server) fromHome(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(s.options.Home, rest)
	}
	return path
}

// stop closes the program's input and ends it.
func (p *program) stop() {
	p.input.Close() //nolint:errcheck // it may have ended already
	timer := time.NewTimer(stopGrace)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
	}
	p.kill()
	<-p.ended
}

// lastWords keeps the end of the text written to it, for people to read. It is safe for concurrent
// use.
type lastWords struct {
	mu   sync.Mutex
	text []byte
}

// Write keeps the end of p; it never fails.
func (w *lastWords) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, p[max(0, len(p)-maxWords):]...)
	w.text = w.text[max(0, len(w.text)-maxWords):]
	return len(p), nil
}

func (w *lastWords) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.TrimSpace(strings.ToValidUTF8(string(w.text), "\uFFFD"))
}

// dial returns the transport to a server at a URL.
func (s *server) dial() (sdk.Transport, error) {
	headers, err := filledIn(s.config.Headers, lookupIn(s.options.Env))
	if err != nil {
		return nil, umpire.Errorf("headers: %w", err)
	}
	return &sdk.StreamableClientTransport{
		Endpoint: s.config.URL, MaxRetries: -1, DisableStandaloneSSE: true, MaxEventSize: maxFrame,
		HTTPClient: &http.Client{Transport: &carrier{headers: headers}, CheckRedirect: jsonrpc.RefuseRedirect},
	}, nil
}

// A carrier adds the configured headers to every request, and bounds every answer except a stream
// of events, whose events are bounded separately.
type carrier struct{ headers map[string]string }

func (c *carrier) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range c.headers {
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream") {
		answer.Body = &bounded{ReadCloser: answer.Body, left: maxFrame}
	}
	return answer, err
}

// A bounded body returns an error once it exceeds its limit.
type bounded struct {
	io.ReadCloser

	left int64
}

var errTooLarge = errors.New("the server's answer is too large")

func (b *bounded) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, errTooLarge
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left+1)])
	if b.left -= int64(n); b.left < 0 {
		return n, errTooLarge
	}
	return n, err
}
