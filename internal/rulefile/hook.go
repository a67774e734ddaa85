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

	"github.com/tailscale/hujson"

	"github.com/umpirehq/umpire"
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
func (j jsonReader) readHooks(v hujson.Value) {
	events, ok := v.Value.(*hujson.Object)
	if !ok {
		j.faultyHook(Hook{Event: PreToolUse}, v.StartOffset, "hooks: want an object, not "+kindOf(v))
		return
	}
	for i := range events.Members {
		m := &events.Members[i]
		key := keyOf(m)
		meant := nearestKey(key, hookEvents)
		if meant == "" {
			j.unknown(m.Name, key, hookEvents)
			continue
		}
		if meant != key {
			j.faultyHook(Hook{Event: HookEvent(meant)}, m.Name.StartOffset, unknownKey(key, hookEvents))
			continue
		}
		list, ok := m.Value.Value.(*hujson.Array)
		if !ok {
			j.faultyHook(Hook{Event: HookEvent(key)}, m.Value.StartOffset, "hooks: want a list, not "+kindOf(m.Value))
			continue
		}
		for k := range list.Elements {
			j.readHook(HookEvent(key), list.Elements[k])
		}
	}
}

// readHook reads one hook.
func (j jsonReader) readHook(event HookEvent, v hujson.Value) {
	h := Hook{Event: event}
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		j.faultyHook(h, v.StartOffset, "a hook is an object, not "+kindOf(v))
		return
	}
	var err error
	var seen []string
	for i := range object.Members {
		m := &object.Members[i]
		key := keyOf(m)
		if slices.Contains(seen, key) {
			err = errors.Join(err, umpire.Errorf("key %q stands twice", key))
			continue
		}
		if !slices.Contains(hookKeys, key) {
			j.unknown(m.Name, key, hookKeys)
			continue
		}
		seen = append(seen, key)
		err = errors.Join(err, h.readField(key, m.Value))
	}
	if err == nil {
		err = h.Validate(j.check)
	}
	if err != nil {
		j.faultyHook(h, v.StartOffset, strings.ReplaceAll(err.Error(), "\n", "; "))
		return
	}
	j.addHook(h, v.StartOffset)
}

func (h *Hook) readField(key string, v hujson.Value) (err error) {
	switch key {
	case "id":
		h.ID, err = wantText(v, key)
	case "toolMatch":
		h.ToolMatch, err = wantText(v, key)
	case "command":
		h.Command, err = wantText(v, key)
	case "timeout":
		var ms int64
		ms, err = strconv.ParseInt(string(hujsonBytes(v)), 10, 64)
		if err != nil || ms < 1 || ms > maxHookTimeout.Milliseconds() {
			return umpire.Errorf("timeout: want 1 to %d milliseconds", maxHookTimeout.Milliseconds())
		}
		h.Timeout = time.Duration(ms) * time.Millisecond
	case "onFailure":
		var word string
		if word, err = wantText(v, key); err == nil {
			h.Skip, err = OnFailure(word)
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
func (j jsonReader) faultyHook(h Hook, offset int, text string) {
	h.Fault = escapeControl(text)
	if h.validTools(j.check) != nil {
		h.ToolMatch = ""
	}
	j.doc.degraded = true
	at := j.src.place(offset)
	h.Named()
	j.fault(at, fmt.Sprintf("hook %q cannot be run, so what it is about asks: %s", h.ID, text))
	j.addHook(h, offset)
}

// addHook takes a hook into the document.
func (j jsonReader) addHook(h Hook, offset int) {
	at := j.src.problem(offset, "")
	h.Named()
	h.Source, h.File, h.Line = j.layer.Source, j.layer.shown(), at.Line
	if len(j.doc.hooks) == maxHooks {
		j.doc.degraded, j.doc.blind = true, true
		j.fault(*at, fmt.Sprintf("more than %d hooks", maxHooks))
		return
	}
	j.doc.hooks = append(j.doc.hooks, h)
}
