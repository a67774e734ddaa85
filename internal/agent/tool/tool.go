// Package tool has the tools of the built-in agent: Read, Write, Edit,
// filesystem-edit, filesystem-edit_search, LS, Glob, Grep, those of git, WebFetch,
// TodoWrite, ExitPlanMode, Bash with BashOutput and KillShell.
//
//	set := tool.New(tool.Options{Root: session.Root, Home: home, Env: os.Environ(), Scratch: dir})
//	defer set.Close()
//	result := set.Run(ctx, started) // started comes from the gate
//
// Guarantees:
//
//   - A call runs only with a [umpire.Started] whose decision allows it; this
//     package cannot create one.
//   - A file tool touches only the decided path. It opens the path step by step and
//     follows no links, so a link created after the decision has no effect.
//   - The tools replace a file as a whole or not at all, and read and write only
//     regular files.
//   - A command has its own process group and no terminal. When its time is
//     over, or the context ends, the whole group is killed.
//   - A page is fetched only from public addresses, even by name, and marked
//     as written by strangers.
//   - Outputs are bounded, and always valid UTF-8.
package tool

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/llm"
	"github.com/umpirehq/umpire/internal/hold/egress"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
	"github.com/umpirehq/umpire/internal/hold/trial"
)

// Options configure the tools.
type Options struct {
	// Root is the project's root. AddDirs are additional folders. Files in them are
	// opened relative to these folders. All are absolute and free of links.
	Root    string
	AddDirs []string
	// State is umpire's state folder, which stores files before a call changes them, for undo.
	// If it is "", or the system does not support it, nothing is stored.
	State string
	// Vault encrypts the stored copies of files that hold secrets.
	Vault trial.Vault
	// Home replaces ~; it is "" if unknown.
	Home string
	// Env is the environment of commands. Variables that would change how a shell reads them,
	// or open the gate, are removed.
	Env []string
	// EnvListed are variables that commands in the sandbox get although they hold secrets.
	EnvListed []string
	// Scratch is a private folder for the output of background commands.
	Scratch string
	// Sandbox is where commands run. If nil, only commands with full access run. Weaker
	// accepts the layers that are available.
	Sandbox *sandbox.Place
	Weaker  bool
	// Exit returns the way of a call's trial to destinations, or nil. The person approved those in reach for this
	// trial. A nil Exit leads to none.
	Exit func(call *umpire.Call, reach []string) (*egress.Proxy, error)
	// Leave returns the way of an allowed call that names all its destinations. If it is nil, or returns nil, the
	// call gets the network as a whole.
	Leave func(call *umpire.Call, named []string) (*egress.Proxy, error)
	// Output receives the output of a running call, in pieces of valid UTF-8: the pieces of
	// one call in order, and none after its Run has returned. If a call prints faster than
	// Output takes the pieces, they omit text and say so. It may be nil. It does not receive
	// the output of background commands.
	Output func(call umpire.CallID, text string)
	// MayRead reports whether the agent that makes a call may also read a path without
	// being asked about it: only then does a result show how a file changed. Nil is
	// never. It is called while the call runs.
	MayRead func(ctx context.Context, call umpire.Call, path string) bool
}

// A Set is the tools of one session. It is safe for concurrent use, and owns the
// background commands.
type Set struct {
	jobs
	trials

	options Options
	tools   map[string]tool
	grace   time.Duration // between asking a process group to end and ending it
	web     web
}

// A tool is one of the set.
type tool struct {
	about  string
	schema string
	run    func(*Set, context.Context, *use) (string, error)
}

// A use is one call of a tool that may run.
type use struct {
	call     umpire.Call
	decision umpire.Decision
	in       input
	preview  bool             // show changes without making them, possibly while the question is open
	record   *trial.Recording // nil if the call's changes are not recorded

	reached []umpire.TrialReach // if its connections were led out
	refused []string
}

// New returns the tools. Close the set when the session is over.
func New(o Options) *Set {
	s := &Set{options: o, tools: known, grace: killGrace, jobs: jobs{scratch: o.Scratch, byID: map[string]*job{}}}
	s.trials = trials{s}
	return s
}

// known holds all tools.
var known = map[string]tool{
	"Read": readTool, "Write": writeTool, "Edit": editTool, "LS": listTool, "Glob": globTool, "Grep": grepTool,
	"filesystem-edit": linesTool, "filesystem-edit_search": searchTool,
	"GitStatus": gitStatusTool, "GitDiff": gitDiffTool, "GitLog": gitLogTool,
	"GitCommit": gitCommitTool, "GitPush": gitPushTool, "GitCheckout": gitCheckoutTool,
	"WebFetch": fetchTool, "ExitPlanMode": exitPlanTool, "TodoWrite": todoTool,
	"Bash": bashTool, "BashOutput": outputTool, "KillShell": killTool,
}

// Has reports whether the set has a tool of that name.
func (s *Set) Has(name string) bool { _, ok := s.tools[name]; return ok }

// Names returns the names of the tools, sorted.
func (s *Set) Names() []string { return slices.Sorted(maps.Keys(s.tools)) }

// Tools describes the tools to a model, sorted by name.
func (s *Set) Tools() []llm.Tool {
	var all []llm.Tool
	for _, name := range s.Names() {
		t := s.tools[name]
		all = append(all, llm.Tool{Name: name, Description: t.about, Schema: []byte(t.schema)})
	}
	return all
}

// Keep removes every tool for which keep returns false. Use it before the first call.
func (s *Set) Keep(keep func(name string) bool) {
	s.tools = maps.Clone(s.tools)
	maps.DeleteFunc(s.tools, func(name string, _ tool) bool { return !keep(name) })
}

// Run runs a call that the gate has started and always returns a result with a status.
// It runs nothing that the gate did not start.
func (s *Set) Run(ctx context.Context, started umpire.Started) (r umpire.Result) {
	call := started.Call
	r = umpire.Result{Call: call.ID, Session: call.Session, Batch: call.Batch}
	defer func() {
		if fault := recover(); fault != nil {
			r.Status, r.Output = umpire.ResultError, cleanText(fmt.Sprintf("internal error of the tool: %v", fault))
		}
	}()
	if !started.Go || started.Decision.Verdict != umpire.Allow || started.Trial != nil {
		r.Status, r.Output = umpire.ResultDenied, "the gate has not let this call run"
		return r
	}
	u := &use{call: call, decision: started.Decision}
	output, err := s.runTool(ctx, u)
	r.Reached, r.Refused = u.reached, u.refused
	r.Status, r.Output = statusOf(err), cleanText(output)
	if err != nil {
		r.Output = joinTexts(cleanText(err.Error()), r.Output)
	}
	return r
}

func (s *Set) runTool(ctx context.Context, u *use) (output string, err error) {
	t, ok := s.tools[u.call.Tool]
	if !ok {
		return "", fmt.Errorf(
			"unknown tool %q; want one of: %s", u.call.Tool, strings.Join(s.Names(), ", "),
		)
	}
	if u.in, err = readInput(u.call.Input); err != nil {
		return "", err
	}
	if err := checkWrites(&u.call, &u.decision); err != nil {
		return "", err
	}
	s.approved(&u.decision)
	if u.record, err = s.recordCall(ctx, u); err != nil {
		return "", fmt.Errorf("nothing was changed, because undo could not restore it: %w", err)
	}
	output, err = t.run(s, ctx, u)
	if u.record != nil {
		_, sealErr := u.record.Seal(context.WithoutCancel(ctx))
		err = errors.Join(err, sealErr)
	}
	return output, err
}

// errTimeout means that a command exceeded its time limit.
var errTimeout = errors.New("timed out")

func statusOf(err error) umpire.ResultStatus {
	switch {
	case err == nil:
		return umpire.ResultOK
	case errors.Is(err, errTimeout):
		return umpire.ResultTimeout
	case errors.Is(err, context.Canceled):
		return umpire.ResultCancelled
	}
	return umpire.ResultError
}

// joinTexts puts two texts below each other.
func joinTexts(first, second string) string {
	if first == "" || second == "" {
		return first + second
	}
	return first + "\n" + second
}

// cleanText makes text of any origin fit to be kept: valid UTF-8 without NUL, which not
// every database can hold.
func cleanText(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}
