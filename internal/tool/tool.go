// Package tool has the tools of the built-in agent: Read, Write, Edit,
// filesystem-edit, filesystem-edit_search, LS, Glob, Grep, those of git, WebFetch,
// TodoWrite, ExitPlanMode, Bash with BashOutput and KillShell.
//
//	set := tool.New(tool.Options{Root: session.Root, Home: home, Env: os.Environ(), Scratch: dir})
//	defer set.Close()
//	result := set.Run(ctx, started) // started comes from the gate
//
// What the package keeps true:
//
//   - Nothing runs without a [umpire.Started] that says so and whose decision
//     allows; nothing here makes one.
//   - A file tool touches the path that was decided. It opens it step by step and
//     follows no link on the way, so that a link put there since leads nowhere.
//   - A file is replaced as a whole or not at all, and nothing but regular files is
//     read or written.
//   - A command has a process group of its own and no terminal. When its time is
//     over, or the context ends, the whole group does.
//   - A page is fetched from the public web, whatever its name resolves to, and marked
//     as what strangers wrote.
//   - Outputs are bounded, and valid UTF-8 whatever a file or a program held.
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
	"github.com/umpirehq/umpire/internal/llm"
	"github.com/umpirehq/umpire/internal/sandbox"
	"github.com/umpirehq/umpire/internal/trial"
)

// Options say where the tools work.
type Options struct {
	// Root is the project's root and AddDirs are the folders beside it: their files
	// are opened from these folders on. All are absolute and without links.
	Root    string
	AddDirs []string
	// State is umpire's own folder, in which files that a call changes are remembered, so that
	// it can be undone. Without one, and where the system cannot, nothing is.
	State string
	// Vault seals what is remembered of files that hold secrets.
	Vault trial.Vault
	// Home is what ~ stands for, "" when it is not known.
	Home string
	// Env is the environment of commands. Variables that would change how a shell reads them,
	// or open the gate, are removed.
	Env []string
	// EnvListed are variables that commands in the sandbox get although they hold secrets.
	EnvListed []string
	// Scratch is a private folder for what background commands print.
	Scratch string
	// Sandbox is where commands run. Without one only those run whose decision says
	// that they have full access. Weaker takes the layers that there are.
	Sandbox *sandbox.Place
	Weaker  bool
	// Output gets what a call prints while it runs, in pieces of valid UTF-8: the pieces of
	// one call in order, and none after its Run has returned. If a call prints faster than
	// the pieces are taken, they leave something out and say so. It may be nil; the output of
	// commands in the background is not passed on.
	Output func(call umpire.CallID, text string)
	// MayRead reports whether the agent that makes a call may also read a path without
	// being asked about it: only then does a result show how a file changed. Nil is
	// never. It is called while the call runs.
	MayRead func(ctx context.Context, call umpire.Call, path string) bool
}

// A Set is the tools of one session. It is safe for concurrent use, and owns the
// commands that run in the background.
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
	preview  bool             // nothing is changed, so that what is still asked about may be looked at
	record   *trial.Recording // nil where what the call changes is not remembered
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

// Has reports whether there is such a tool.
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

// Run runs a call that the gate has started and returns its result, which has a
// status whatever happens. Without the gate's word nothing runs.
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
	output, err := s.runTool(ctx, started)
	r.Status, r.Output = statusOf(err), cleanText(output)
	if err != nil {
		r.Output = joinTexts(cleanText(err.Error()), r.Output)
	}
	return r
}

func (s *Set) runTool(ctx context.Context, started umpire.Started) (string, error) {
	t, ok := s.tools[started.Call.Tool]
	if !ok {
		return "", fmt.Errorf(
			"there is no tool %q here; there are: %s", started.Call.Tool, strings.Join(s.Names(), ", "),
		)
	}
	in, err := readInput(started.Call.Input)
	if err != nil {
		return "", err
	}
	if err := checkWrites(&started.Call, &started.Decision); err != nil {
		return "", err
	}
	s.approved(&started.Decision)
	u := &use{call: started.Call, decision: started.Decision, in: in}
	if u.record, err = s.recordCall(ctx, u); err != nil {
		return "", fmt.Errorf("nothing was changed, since it could not be undone: %w", err)
	}
	output, err := t.run(s, ctx, u)
	if u.record != nil {
		_, sealErr := u.record.Seal(context.WithoutCancel(ctx))
		err = errors.Join(err, sealErr)
	}
	return output, err
}

// errTimeout says that a command took longer than it was given.
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
