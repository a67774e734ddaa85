package rulefile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/docedit"
)

// A HookEvent is when a hook runs.
type HookEvent string

// The events.
const (
	PreToolUse  HookEvent = "PreToolUse"  // before a call is decided; it can block the call
	PostToolUse HookEvent = "PostToolUse" // after a call has run, with its output
)

// The limits of a hook.
const (
	// defaultHookTimeout is how long a hook may run that names no timeout.
	defaultHookTimeout = 5 * time.Second
	maxHookTimeout     = 10 * time.Minute
	maxHookCommand     = 4096
	maxHookTools       = 32
	// maxHooks is how many hooks one file may hold.
	maxHooks = 100
)

// A Hook is a program that runs before or after calls. The zero value names no
// program, and so can only fail.
type Hook struct {
	ID    string
	Event HookEvent
	// ToolMatch is the tools that it is about: names and globs with | between them;
	// "" is every tool.
	ToolMatch string
	// Command is a command line for the shell, run in the project's root.
	Command string
	Timeout time.Duration // 0 is defaultHookTimeout
	// Skip lets a call continue although the hook failed. By default a failed hook
	// stops the call.
	Skip bool

	Source umpire.Source
	File   string
	Line   int
	// Fault describes an error in the entry. Such a hook is never run: each call that
	// it could match asks.
	Fault string
}

// Tools are the names and globs of ToolMatch.
func (h *Hook) Tools() []string {
	if strings.TrimSpace(h.ToolMatch) == "" {
		return []string{"*"}
	}
	var tools []string
	for part := range strings.SplitSeq(h.ToolMatch, "|") {
		tools = append(tools, strings.TrimSpace(part))
	}
	return tools
}

// Limit is how long the hook may run.
func (h *Hook) Limit() time.Duration {
	if h.Timeout <= 0 {
		return defaultHookTimeout
	}
	return h.Timeout
}

// Validate returns the error in a hook. Check, which may be nil, judges the names in
// its ToolMatch like the tool of a rule.
func (h *Hook) Validate(check Check) error {
	switch {
	case h.Event != PreToolUse && h.Event != PostToolUse:
		return umpire.Errorf("event %q: want PreToolUse or PostToolUse", h.Event)
	case strings.TrimSpace(h.Command) == "":
		return errors.New("command is missing")
	case len(h.Command) > maxHookCommand || strings.ContainsRune(h.Command, 0):
		return umpire.Errorf("command: want at most %d bytes, and no NUL", maxHookCommand)
	case h.Timeout < 0 || h.Timeout > maxHookTimeout:
		return umpire.Errorf("timeout: want 1 to %d milliseconds", maxHookTimeout.Milliseconds())
	}
	return h.validTools(check)
}

func (h *Hook) validTools(check Check) error {
	tools := h.Tools()
	if len(tools) > maxHookTools {
		return umpire.Errorf("toolMatch: more than %d names", maxHookTools)
	}
	if strings.Contains(h.ToolMatch, ".*") || strings.ContainsAny(h.ToolMatch, "^$()+") {
		return umpire.Errorf(
			"toolMatch %q: want names and globs such as Edit|Write or mcp__*, not a regular expression", h.ToolMatch,
		)
	}
	for _, name := range tools {
		if name == "" {
			return umpire.Errorf("toolMatch %q: a name is empty", h.ToolMatch)
		}
		if err := check.checkRule(umpire.Rule{Action: umpire.Ask, Tool: name}); err != nil {
			return umpire.Errorf("toolMatch %q: %w", h.ToolMatch, err)
		}
	}
	return nil
}

// Named gives a hook without an id one derived from its content, which is therefore the
// same on every load.
func (h *Hook) Named() {
	if h.ID == "" {
		sum := sha256.Sum256([]byte(string(h.Event) + "\x00" + h.ToolMatch + "\x00" + h.Command))
		h.ID = "hook-" + hex.EncodeToString(sum[:4])
	}
}

// readHooks reads the hooks of a file. A malformed hook becomes a fault, which is in force as
// the hook would have been: a protection must not vanish.
func (r *reader) readHooks(events *docedit.Value) {
	if err := wantKind(events, docedit.Object, "hooks"); err != nil {
		r.faultyHook(Hook{Event: PreToolUse}, events.Pos, err)
		return
	}
	for _, m := range events.Items {
		meant := docedit.Nearest(m.Key, hookEvents)
		err := wantKind(m, docedit.List, "hooks")
		switch h := (Hook{Event: HookEvent(meant)}); {
		case meant == "":
			r.unknown(m, hookEvents)
		case meant != m.Key:
			r.faultyHook(h, m.KeyPos, errors.New(unknownKey(m.Key, hookEvents)))
		case err != nil:
			r.faultyHook(h, m.Pos, err)
		default:
			for _, item := range m.Items {
				r.readHook(h, item)
			}
		}
	}
}

// readHook reads one hook.
func (r *reader) readHook(h Hook, v *docedit.Value) {
	if err := wantKind(v, docedit.Object, "hook"); err != nil {
		r.faultyHook(h, v.Pos, err)
		return
	}
	var errs []error
	for m, again := range v.Members() {
		switch {
		case !slices.Contains(hookKeys, m.Key):
			r.unknown(m, hookKeys)
		case again:
			errs = append(errs, docedit.DuplicateKey(m.Key))
		default:
			errs = append(errs, h.readField(m))
		}
	}
	err := errors.Join(errs...)
	if err == nil {
		err = h.Validate(r.check)
	}
	if err != nil {
		r.faultyHook(h, v.Pos, err)
		return
	}
	r.addHook(h, v.Pos)
}

func (h *Hook) readField(v *docedit.Value) (err error) {
	if v.Key == "timeout" {
		ms, err := strconv.ParseInt(v.Text, 10, 64)
		if err != nil || v.Kind != docedit.Number || ms < 1 || ms > maxHookTimeout.Milliseconds() {
			return umpire.Errorf("timeout: want 1 to %d milliseconds", maxHookTimeout.Milliseconds())
		}
		h.Timeout = time.Duration(ms) * time.Millisecond
		return nil
	}
	text, err := wantText(v, v.Key)
	switch v.Key {
	case "id":
		h.ID = text
	case "toolMatch":
		h.ToolMatch = text
	case "command":
		h.Command = text
	case "onFailure":
		if err == nil {
			h.Skip, err = OnFailure(text)
		}
	}
	return err
}

// OnFailure parses the action for a failed hook: skip lets the call continue.
func OnFailure(word string) (skip bool, err error) {
	switch word {
	case "", "block":
		return false, nil
	case "skip":
		return true, nil
	}
	return false, umpire.Errorf("onFailure %q: want block or skip", word)
}

// faultyHook keeps the place of a hook that cannot be run. A hook that names no tools covers
// all of them.
func (r *reader) faultyHook(h Hook, at docedit.Pos, err error) {
	text := strings.ReplaceAll(err.Error(), "\n", "; ")
	h.Fault = escapeControl(text)
	if h.validTools(r.check) != nil {
		h.ToolMatch = ""
	}
	r.doc.degraded = true
	h.Named()
	r.fault(r.place(at), fmt.Sprintf("hook %q cannot run, so the calls it covers ask: %s", h.ID, text))
	r.addHook(h, at)
}

// addHook takes a hook into the document.
func (r *reader) addHook(h Hook, at docedit.Pos) {
	h.Named()
	h.Source, h.File, h.Line = r.layer.Source, r.layer.shown(), at.Line
	if len(r.doc.hooks) == maxHooks {
		r.doc.degraded, r.doc.blind = true, true
		r.fault(r.place(at), fmt.Sprintf("more than %d hooks", maxHooks))
		return
	}
	r.doc.hooks = append(r.doc.hooks, h)
}
