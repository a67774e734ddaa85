// Package mcp gives the built-in agent the tools of MCP servers.
//
//	set := mcp.Open(ctx, servers, mcp.Options{Root: session.Root, Home: home})
//	defer set.Close()
//	result := set.Run(ctx, started) // started comes from the gate
//
// A server is a program that a person configured, or an address that they gave. Its words are not
// trusted:
//
//   - A tool is called mcp__SERVER__TOOL. Each call needs the gate's permission, and
//     the gate judges it as a tool that is known by name only.
//   - A tool's annotations go to the gate, where they can only raise the risk, and to the
//     person, marked as a claim.
//   - A tool whose description has changed since the server was started no longer runs: a
//     person or a rule agreed to the earlier one. If its description has changed since an
//     earlier run called it, the call asks in spite of any rule that allows it.
//   - Descriptions, lists and results are bounded, and valid UTF-8. Other content than text
//     is only named.
//   - A server's requests are not answered: neither its questions to the person nor those
//     to the model.
//   - Every call gets one result, even if the server hangs, dies, floods or sends unexpected
//     answers.
//
// The program of a server gets few environment variables and no keys, runs in its own process
// group, and ends with the set.
package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/llm"
	"github.com/umpirehq/umpire/internal/agent/tool"
	"github.com/umpirehq/umpire/internal/config"
)

const (
	// startTime is how long a server may take to list its tools.
	startTime = 15 * time.Second
	// callTime is how long a call may take by default.
	callTime = 5 * time.Minute
	// maxTools bounds the tools of one server. A model has to read them all.
	maxTools = 200
)

// Options describe the environment of servers.
type Options struct {
	// Root is the project's root, which a server's relative folder starts from; Home is the
	// person's home, the default folder of a server.
	Root, Home string
	// Env is the environment for values like ${NAME}; servers also get a few harmless variables
	// from it.
	Env []string
	// Ledger is the file that records, from one run to the next, the descriptions of tools when
	// they were last called; "" means no record.
	Ledger string
	// Notice is called with news for the person: servers that do not start or that end, tools that
	// are left out. Formats are those of package fmt, and fixed; arguments may contain text of
	// strangers. It may be called by several goroutines at once. It may be nil.
	Notice func(format string, args ...any)
	// Version is umpire's version, for servers that ask for it.
	Version string
}

// A Set is the tools of all servers of a session. It is safe for concurrent use.
type Set struct {
	notice func(format string, args ...any)

	servers []*server
	ledger  ledger

	mu    sync.Mutex
	tools map[string]*offer // by the name that the model sees
}

// An offer is one tool of a server, as described when the server was started.
type offer struct {
	server *server
	name   string // the server's name for it
	llm    llm.Tool
	print  [32]byte
	claims json.RawMessage // its annotations; may be nil
	anew   bool            // its description has changed since the last call; see Set.mu
}

// Open starts the servers concurrently, and lists their tools. It reports and skips a server that
// cannot be started. Close the set when the session is over.
func Open(ctx context.Context, servers map[string]config.Server, o Options) *Set {
	s := &Set{notice: o.Notice, tools: map[string]*offer{}, ledger: ledger{path: o.Ledger}}
	if s.notice == nil {
		s.notice = func(string, ...any) {}
	}
	names := slices.Sorted(maps.Keys(servers))
	offers := make([][]*offer, len(names))
	var starting sync.WaitGroup
	for i, name := range names {
		started := &server{name: name, config: servers[name], options: &o, notice: s.notice}
		s.servers = append(s.servers, started)
		starting.Go(func() {
			var err error
			if offers[i], err = started.startServer(ctx); err != nil {
				s.notice("MCP server %q is left out: %v", name, err)
			}
		})
	}
	starting.Wait()
	s.addTools(slices.Concat(offers...))
	s.compare()
	return s
}

// addTools adds tools. If two have the same name, it adds neither, because a call or a rule could
// mean either.
func (s *Set) addTools(offers []*offer) {
	twice := map[string]bool{}
	for _, t := range offers {
		if was, ok := s.tools[t.llm.Name]; ok {
			twice[t.llm.Name] = true
			s.notice(
				"tools %q and %q of MCP server %q share the name %s: neither can be called", was.name, t.name,
				t.server.name, t.llm.Name,
			)
		}
		s.tools[t.llm.Name] = t
	}
	maps.DeleteFunc(s.tools, func(name string, _ *offer) bool { return twice[name] })
}

// compare marks and reports the tools whose description has changed since their last call.
func (s *Set) compare() {
	all := slices.Collect(maps.Values(s.tools))
	if err := s.ledger.compare(all); err != nil {
		s.notice("every MCP tool asks: %v", err)
		return
	}
	for _, t := range all {
		if t.anew {
			s.notice(
				"MCP tool %s asks, because its description has changed since its last call",
				t.llm.Name,
			)
		}
	}
}

// called records a tool's description when a call of it may run.
func (s *Set) called(t *offer) {
	if err := s.ledger.rememberTool(t); err != nil {
		s.notice("MCP tool %s will ask again next time: %v", t.llm.Name, err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t.anew = false
}

// Has reports whether the set has a tool.
func (s *Set) Has(name string) bool { return s.offer(name) != nil }

func (s *Set) offer(name string) *offer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tools[name]
}

// drop removes a tool for good.
func (s *Set) drop(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.tools, name)
}

// Tools describes the tools to a model, sorted by name.
func (s *Set) Tools() []llm.Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []llm.Tool
	for _, name := range slices.Sorted(maps.Keys(s.tools)) {
		all = append(all, s.tools[name].llm)
	}
	return all
}

// Extra returns data for the gate and the person in addition to a call's input: the server, the
// server's own name of the tool, and its annotations.
func (s *Set) Extra(name string) map[string]json.RawMessage {
	t := s.offer(name)
	if t == nil {
		return nil
	}
	extra := map[string]json.RawMessage{"mcp_server": quoteText(t.server.name), "mcp_tool": quoteText(t.name)}
	if t.claims != nil {
		extra["annotations"] = t.claims
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.anew {
		extra["described_anew"] = json.RawMessage("true")
	}
	return extra
}

// quoteText returns a text as JSON, which cannot fail.
func quoteText(text string) json.RawMessage {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(fmt.Sprintf("write %q as JSON: %v", text, err))
	}
	return raw
}

// Run runs a call that the gate has started and returns its result, which always has a status.
// Nothing runs without the gate's permission.
func (s *Set) Run(ctx context.Context, started umpire.Started) (r umpire.Result) {
	call := started.Call
	r = umpire.Result{Call: call.ID, Session: call.Session, Batch: call.Batch}
	if !started.Go || started.Decision.Verdict != umpire.Allow {
		r.Status, r.Output = umpire.ResultDenied, "the gate has not let this call run"
		return r
	}
	output, err := s.call(ctx, &call)
	switch {
	case err == nil:
		r.Status = umpire.ResultOK
	case errors.Is(err, errTimeout):
		r.Status = umpire.ResultTimeout
	case errors.Is(err, context.Canceled):
		r.Status = umpire.ResultCancelled
	default:
		r.Status = umpire.ResultError
	}
	if err != nil {
		output = strings.TrimSuffix(err.Error()+"\n"+output, "\n")
	}
	r.Output = tool.Fit(output)
	return r
}

func (s *Set) call(ctx context.Context, call *umpire.Call) (string, error) {
	t := s.offer(call.Tool)
	if t == nil {
		return "", umpire.Errorf("unknown tool %q", call.Tool)
	}
	s.called(t)
	output, err := t.server.call(ctx, t, call.Input)
	if changed, is := errors.AsType[*changedError](err); is {
		s.drop(call.Tool)
		s.notice("MCP tool %s can no longer run: %v", call.Tool, changed)
	}
	return output, err
}

// Stop does nothing: no call runs in the background.
func (s *Set) Stop() {}

// Close ends the servers concurrently, and waits for them.
func (s *Set) Close() {
	var ending sync.WaitGroup
	for _, each := range s.servers {
		ending.Go(each.stop)
	}
	ending.Wait()
}
