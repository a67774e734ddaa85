package setup

import (
	"encoding/json"
	"reflect"
	"slices"
	"time"

	"github.com/tailscale/hujson"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/strictjson"
)

// A hookList is the format of a JSON file in which each event has a list of hooks.
type hookList struct {
	// key is the member that holds the events.
	key string
	// grouped means that an event lists groups, {"matcher": ..., "hooks": [...]}, and not the
	// handlers themselves.
	grouped bool
	// version is the file's member of that name, if the host requires one.
	version int
	// matcher is the matcher that covers all tools, or "".
	matcher string
	// handler returns the hook's entry for an event in the host's format.
	handler func(Hook, event) handler
}

// An event is an event that umpire registers for. A deciding one can stop a call.
type event struct {
	name, matcher string
	decides       bool
}

// eventsOf returns the events of a host that umpire registers for, in the order of writing. It
// includes an event that the host reports twice only once.
func (l *hookList) eventsOf(hostName string) []event {
	var events []event
	for _, e := range host.Find(hostName).Events {
		if e.Again {
			continue
		}
		matcher := ""
		if e.Kind.AboutTool() {
			matcher = l.matcher
		}
		events = append(events, event{e.Name, matcher, e.Kind.Decides()})
	}
	return events
}

// timeoutOf returns the time limit of an event.
func (h Hook) timeoutOf(e event) time.Duration {
	if !e.decides {
		return min(h.Timeout, noticeTimeout)
	}
	return h.Timeout
}

// seconds rounds up to whole seconds.
func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// A hookGroup and a handler have the shapes used in settings files. Each host uses only some of a
// handler's fields.
type hookGroup struct {
	Matcher string    `json:"matcher,omitempty"`
	Hooks   []handler `json:"hooks"`
}

type handler struct {
	Name       string   `json:"name,omitempty"`
	Matcher    string   `json:"matcher,omitempty"`
	Type       string   `json:"type,omitempty"`
	Command    string   `json:"command,omitempty"`
	Bash       string   `json:"bash,omitempty"` // the command, for Copilot
	Args       []string `json:"args,omitempty"`
	Timeout    int64    `json:"timeout,omitempty"`
	TimeoutSec int64    `json:"timeoutSec,omitempty"`
	OnFailure  string   `json:"onFailure,omitempty"`
	FailClosed bool     `json:"failClosed,omitempty"`
	Status     string   `json:"statusMessage,omitempty"`
}

// A hookFile is a settings file with a list of one host's hooks.
type hookFile struct {
	*document
	*hookList
	hostName string
}

func (l *hookList) parse(text []byte, hostName string) (*hookFile, error) {
	d, err := parseDocument(text)
	if err != nil {
		return nil, err
	}
	return &hookFile{d, l, hostName}, nil
}

func (l hookList) install(text []byte, hostName string, h Hook) ([]byte, error) {
	f, err := l.parse(text, hostName)
	if err != nil {
		return nil, err
	}
	if l.version != 0 {
		version, err := f.member(f.root, "version")
		if err != nil {
			return nil, err
		}
		if version == nil {
			text = f.with(f.root, "version", l.version)
		}
	}
	for _, e := range l.eventsOf(hostName) {
		if text, err = l.installEvent(text, hostName, e, l.handler(h, e)); err != nil {
			return nil, err
		}
	}
	return text, nil
}

func (l *hookList) installEvent(text []byte, hostName string, e event, want handler) ([]byte, error) {
	f, err := l.parse(text, hostName)
	if err != nil {
		return nil, err
	}
	if _, _, err := f.eventList(e.name); err != nil {
		return nil, err
	}
	own := f.own(e.name)
	if len(own) == 1 && own[0].is(e, want) {
		return f.text, nil
	}
	for len(own) > 0 {
		if f, err = l.parse(f.remove(own[0]), hostName); err != nil {
			return nil, err
		}
		own = f.own(e.name)
	}
	return f.add(e, want)
}

// eventList returns the object of events and one event's list in it, or nil for those that are
// missing.
func (f *hookFile) eventList(event string) (hooks, list *hujson.Value, err error) {
	if hooks, err = f.member(f.root, f.key); err != nil || hooks == nil {
		return nil, nil, err
	}
	if !isObject(hooks) {
		return nil, nil, umpire.Errorf("%s: %s: want an object", f.at(hooks.StartOffset), f.key)
	}
	if list, err = f.member(hooks, event); err != nil || list == nil {
		return hooks, nil, err
	}
	if !isArray(list) {
		return nil, nil, umpire.Errorf("%s: %s.%s: want a list", f.at(list.StartOffset), f.key, event)
	}
	return hooks, list, nil
}

// add appends a handler to its event's list.
func (f *hookFile) add(e event, h handler) ([]byte, error) {
	var entry any = h
	if f.grouped {
		entry = hookGroup{Matcher: e.matcher, Hooks: []handler{h}}
	}
	hooks, list, err := f.eventList(e.name)
	switch {
	case err != nil:
		return nil, err
	case hooks == nil:
		return f.with(f.root, f.key, map[string][]any{e.name: {entry}}), nil
	case list == nil:
		return f.with(hooks, e.name, []any{entry}), nil
	}
	return f.with(list, "", entry), nil
}

func (l hookList) uninstall(text []byte, hostName string) ([]byte, error) {
	for {
		f, err := l.parse(text, hostName)
		if err != nil {
			return nil, err
		}
		own := f.own("")
		if len(own) == 0 {
			return text, nil
		}
		text = f.remove(own[0])
	}
}

func (l hookList) registered(text []byte, hostName string) ([]Registration, error) {
	f, err := l.parse(text, hostName)
	if err != nil {
		return nil, err
	}
	var list []Registration
	for _, own := range f.own("") {
		r := readRegistration(own.handler, host.Find(hostName).Unit)
		r.Event, r.Line = own.event, f.at(own.handler.StartOffset).line
		list = append(list, r)
	}
	return list, nil
}

// readRegistration reads one handler, ours or not.
func readRegistration(v *hujson.Value, unit time.Duration) Registration {
	h, _ := decode(v).(map[string]any)
	r := Registration{OnFailureBlock: h["onFailure"] == "block" || h["failClosed"] == true}
	line, isText := h["command"].(string)
	if !isText {
		line, _ = h["bash"].(string)
	}
	if list, hasArgs := h["args"].([]any); hasArgs {
		r.Command = line
		for _, arg := range list {
			text, _ := arg.(string)
			r.Args = append(r.Args, text)
		}
	} else if words := splitCommand(line); len(words) > 0 {
		r.Command, r.Args, r.Shell = words[0], words[1:], line
	}
	limit, isNumber := h["timeout"].(float64)
	if !isNumber {
		limit, _ = h["timeoutSec"].(float64)
	}
	r.Timeout = time.Duration(limit * float64(unit))
	return r
}

// A step leads from a container to one of its items.
type step struct {
	container *hujson.Value
	index     int
}

// An ownHook is one of our handlers and the path to it: the object of events, an event, a group and
// its hooks if there are groups, the handler.
type ownHook struct {
	event   string
	path    []step
	group   *hujson.Value // nil without groups
	handler *hujson.Value
}

// own finds our handlers of one event, or of all events for "". A value in another shape than a
// hook is not ours.
func (f *hookFile) own(event string) []ownHook {
	var found []ownHook
	each(nil, f.root, f.key, func(p []step, hooks *hujson.Value) {
		if !isObject(hooks) {
			return
		}
		for i, listed := range items(hooks) {
			if event != "" && listed.name != event || !isArray(listed.value) {
				continue
			}
			for j, entry := range items(listed.value) {
				to := append(slices.Clone(p), step{hooks, i}, step{listed.value, j})
				if f.grouped {
					found = append(found, f.ownOf(listed.name, to, entry.value)...)
				} else if isOwn(entry.value, f.hostName) {
					found = append(found, ownHook{event: listed.name, path: to, handler: entry.value})
				}
			}
		}
	})
	return found
}

func (f *hookFile) ownOf(event string, path []step, group *hujson.Value) []ownHook {
	var found []ownHook
	each(path, group, "hooks", func(p []step, list *hujson.Value) {
		for i, it := range items(list) {
			if isArray(list) && isOwn(it.value, f.hostName) {
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

// remove removes a handler, and every container that becomes empty. In a group only its handlers
// count: without them its matcher means nothing.
func (f *hookFile) remove(h ownHook) []byte {
	at := len(h.path) - 1
	for at > 0 && (len(items(h.path[at].container)) == 1 || h.path[at].container == h.group) {
		at--
	}
	return f.without(h.path[at].container, h.path[at].index)
}

// is reports whether the handler equals the one that would be written for the event.
func (h ownHook) is(e event, want handler) bool {
	if h.group != nil {
		group, _ := decode(h.group).(map[string]any)
		for name := range group {
			if name != "hooks" && name != "matcher" {
				return false
			}
		}
		if matcher, _ := group["matcher"].(string); matcher != e.matcher {
			return false
		}
	}
	var wanted any
	if err := json.Unmarshal(strictjson.EncodeLine(want), &wanted); err != nil {
		return false
	}
	return reflect.DeepEqual(decode(h.handler), wanted)
}

// isOwn recognises our handler by the command it starts.
func isOwn(v *hujson.Value, hostName string) bool {
	h, _ := decode(v).(map[string]any)
	if kind, ok := h["type"]; ok && kind != "command" {
		return false
	}
	r := readRegistration(v, time.Second)
	return isOwnCommand(r.Command, r.Args, hostName)
}
