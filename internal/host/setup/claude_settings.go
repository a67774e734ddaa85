// Package setup changes and checks the settings files of other agents: it puts the hook in,
// takes it out, and finds what would keep it from being asked. Every function is pure: bytes
// in, bytes out; comments and layout of a file stay as they are.
package setup

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/tailscale/hujson"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/strictjson"
)

// A ClaudeInstall says what to register in a settings file of Claude Code.
type ClaudeInstall struct {
	// Command is the absolute path of umpire or umpire-hook. It is started
	// without a shell, so it needs no quoting.
	Command string
	// Args follow the command; nil stands for "hook", "claude".
	Args []string
	// Timeout is how long Claude Code waits for the events that decide. After
	// it the call runs, so umpire's own deadline has to come first. It is
	// written in whole seconds, rounded up, and must be positive.
	Timeout time.Duration
	// OnFailureBlock makes Claude Code refuse the call when the hook cannot be
	// started, is late or crashes. Set it only where [ClaudeVersionBlocks].
	OnFailureBlock bool
	// Status is what Claude Code shows while a hook that decides runs.
	Status string
}

// noticeTimeout bounds the events that decide nothing: a user should not wait
// for them.
const noticeTimeout = 10 * time.Second

// claudeHooks are the registered events in the order in which they are written.
var claudeHooks = []struct {
	kind host.EventKind
	// matcher is for events about tools; the others take none.
	matcher string
}{
	{host.BeforeTool, "*"},
	{host.BeforeDialog, "*"},
	{host.AfterTool, "*"},
	{host.AfterFailure, "*"},
	{host.SessionStart, ""},
	{host.PromptSent, ""},
	{host.TurnEnd, ""},
	{host.SessionEnd, ""},
}

// A hookGroup and a hookHandler are the settings file's own shapes.
type hookGroup struct {
	Matcher string        `json:"matcher,omitempty"`
	Hooks   []hookHandler `json:"hooks"`
}

type hookHandler struct {
	Type      string   `json:"type"`
	Command   string   `json:"command"`
	Args      []string `json:"args"`
	Timeout   int64    `json:"timeout"`
	OnFailure string   `json:"onFailure,omitempty"`
	Status    string   `json:"statusMessage,omitempty"`
}

// InstallClaude returns settings with umpire's hooks registered for every event
// of [host.Event.Answer]. Installing twice is installing once; entries of an earlier
// install are brought up to date, and everything else in the file, comments and
// layout included, stays byte for byte. An empty file is an empty object.
//
// Claude Code itself drops a file that holds a comment or a trailing comma
// (seen with 2.1.329), so there the hooks would never start: show the findings
// of [AuditClaude] for the result.
//
// The error of a file that is not JSON, or whose hooks have another shape than
// Claude Code gives them, bears line and column; the file is then left alone.
func InstallClaude(settings []byte, o ClaudeInstall) ([]byte, error) {
	if err := o.check(); err != nil {
		return nil, umpire.Errorf("install claude hooks: %w", err)
	}
	text := settings
	for _, h := range claudeHooks {
		var err error
		if text, err = installHook(text, h.kind, o.group(h.kind, h.matcher)); err != nil {
			return nil, umpire.Errorf("install claude hooks: %w", err)
		}
	}
	return text, nil
}

func (o ClaudeInstall) check() error {
	if !host.IsAbsolute(o.Command) {
		return umpire.Errorf("command %q is not an absolute path", o.Command)
	}
	if o.Timeout <= 0 {
		return errors.New("timeout is not positive")
	}
	if !ownCommand(o.Command, o.args()) {
		return umpire.Errorf("command %q %q would not be recognised as umpire's hook", o.Command, o.args())
	}
	return nil
}

func (o ClaudeInstall) args() []string {
	if o.Args == nil {
		return []string{"hook", "claude"}
	}
	return o.Args
}

func (o ClaudeInstall) group(kind host.EventKind, matcher string) hookGroup {
	timeout := o.Timeout
	if !kind.Decides() {
		timeout = min(timeout, noticeTimeout)
	}
	h := hookHandler{Type: "command", Command: o.Command, Args: o.args(),
		Timeout: int64((timeout + time.Second - 1) / time.Second)}
	if kind.Decides() {
		h.Status = o.Status
	}
	if o.OnFailureBlock && kind.Decides() {
		h.OnFailure = "block"
	}
	return hookGroup{Matcher: matcher, Hooks: []hookHandler{h}}
}

func installHook(text []byte, kind host.EventKind, want hookGroup) ([]byte, error) {
	d, err := parseDocument(text)
	if err != nil {
		return nil, err
	}
	if _, _, err := d.hookList(kind); err != nil {
		return nil, err
	}
	own := d.own(kind)
	if len(own) == 1 && own[0].is(want) {
		return d.text, nil
	}
	for len(own) > 0 {
		if d, err = parseDocument(d.remove(own[0])); err != nil {
			return nil, err
		}
		own = d.own(kind)
	}
	return d.addHook(kind, want)
}

// hookList returns the hooks object and the event's list in it, nil for what is
// not there.
func (d *document) hookList(kind host.EventKind) (hooks, list *hujson.Value, err error) {
	if hooks, err = d.member(d.root, "hooks"); err != nil || hooks == nil {
		return nil, nil, err
	}
	if !isObject(hooks) {
		return nil, nil, umpire.Errorf("%s: hooks: want an object", d.at(hooks.StartOffset))
	}
	if list, err = d.member(hooks, kind.String()); err != nil || list == nil {
		return hooks, nil, err
	}
	if !isArray(list) {
		return nil, nil, umpire.Errorf("%s: hooks.%s: want a list", d.at(list.StartOffset), kind)
	}
	return hooks, list, nil
}

func (d *document) addHook(kind host.EventKind, group hookGroup) ([]byte, error) {
	hooks, list, err := d.hookList(kind)
	switch {
	case err != nil:
		return nil, err
	case hooks == nil:
		return d.with(d.root, "hooks", map[string][]hookGroup{kind.String(): {group}}), nil
	case list == nil:
		return d.with(hooks, kind.String(), []hookGroup{group}), nil
	}
	return d.with(list, "", group), nil
}

// UninstallClaude returns settings without umpire's hooks, whichever version
// wrote them, and without the lists and objects that are empty once they are
// gone. Everything else stays byte for byte. A file without our hooks comes
// back unchanged.
func UninstallClaude(settings []byte) ([]byte, error) {
	text := settings
	for {
		d, err := parseDocument(text)
		if err != nil {
			return nil, umpire.Errorf("uninstall claude hooks: %w", err)
		}
		own := d.own(host.OtherEvent)
		if len(own) == 0 {
			return text, nil
		}
		text = d.remove(own[0])
	}
}

// A step leads from a container to one of its items.
type step struct {
	container *hujson.Value
	index     int
}

// An ownHook is one handler of ours and the way to it: hooks, event, group, its
// hooks, handler.
type ownHook struct {
	event   string
	path    []step
	group   *hujson.Value
	handler *hujson.Value
}

// own finds our handlers of one event, or of all events for OtherEvent. What
// has another shape than a hook is not ours.
func (d *document) own(kind host.EventKind) []ownHook {
	var found []ownHook
	each(nil, d.root, "hooks", func(p []step, hooks *hujson.Value) {
		for i, event := range items(hooks) {
			if kind != host.OtherEvent && event.name != kind.String() || !isArray(event.value) {
				continue
			}
			for j, group := range items(event.value) {
				to := append(slices.Clone(p), step{hooks, i}, step{event.value, j})
				found = append(found, ownOf(event.name, to, group.value)...)
			}
		}
	})
	return found
}

func ownOf(event string, path []step, group *hujson.Value) []ownHook {
	var found []ownHook
	each(path, group, "hooks", func(p []step, list *hujson.Value) {
		for i, it := range items(list) {
			if isArray(list) && isOwn(it.value) {
				found = append(found, ownHook{event, append(slices.Clone(p), step{list, i}), group, it.value})
			}
		}
	})
	return found
}

// each calls f for every member of that name in v, if v is an object.
func each(path []step, v *hujson.Value, name string, f func([]step, *hujson.Value)) {
	if !isObject(v) {
		return
	}
	for i, it := range items(v) {
		if it.name == name {
			f(append(slices.Clone(path), step{v, i}), it.value)
		}
	}
}

// remove takes a handler out, and every container that held nothing else. Of a
// group only its handlers count: without them its matcher means nothing.
func (d *document) remove(h ownHook) []byte {
	at := len(h.path) - 1
	for at > 0 && (len(items(h.path[at].container)) == 1 || h.path[at].container == h.group) {
		at--
	}
	return d.without(h.path[at].container, h.path[at].index)
}

// is reports whether the handler stands as want would write it.
func (h ownHook) is(want hookGroup) bool {
	group, _ := decode(h.group).(map[string]any)
	for name := range group {
		if name != "hooks" && name != "matcher" {
			return false
		}
	}
	if matcher, _ := group["matcher"].(string); matcher != want.Matcher {
		return false
	}
	var wanted any
	if err := json.Unmarshal(strictjson.EncodeLine(want.Hooks[0]), &wanted); err != nil {
		return false
	}
	return reflect.DeepEqual(decode(h.handler), wanted)
}

// isOwn recognises a handler of ours by what it starts.
func isOwn(v *hujson.Value) bool {
	h, _ := decode(v).(map[string]any)
	if kind, ok := h["type"]; ok && kind != "command" {
		return false
	}
	command, _ := h["command"].(string)
	list, hasArgs := h["args"].([]any)
	if !hasArgs {
		words := strings.Fields(command) // the shell form, written by hand
		return len(words) > 1 && ownCommand(words[0], words[1:])
	}
	args := make([]string, len(list))
	for i, arg := range list {
		args[i], _ = arg.(string)
	}
	return ownCommand(command, args)
}

func ownCommand(command string, args []string) bool {
	name := command[strings.LastIndexAny(command, `/\`)+1:]
	name = strings.TrimSuffix(name, ".exe")
	if name != "umpire" && name != "umpire-hook" {
		return false
	}
	return len(args) >= 2 && args[0] == "hook" && args[1] == "claude"
}

// managedFolders is where an administrator's settings stand.
var managedFolders = map[string]string{
	"darwin": "/Library/Application Support/ClaudeCode", "windows": `C:\Program Files\ClaudeCode`,
}

// ManagedFiles are the administrator's settings files of Claude Code, whether they exist or not.
func ManagedFiles() []string {
	dir, ok := managedFolders[runtime.GOOS]
	if !ok {
		dir = "/etc/claude-code"
	}
	more, err := filepath.Glob(filepath.Join(dir, "managed-settings.d", "*.json"))
	if err != nil {
		more = nil
	}
	return append([]string{filepath.Join(dir, "managed-settings.json")}, more...)
}
