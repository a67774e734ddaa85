package setup

import (
	"iter"
	"strconv"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/docedit"
	"github.com/umpirehq/umpire/internal/config/strictjson"
	"github.com/umpirehq/umpire/internal/host"
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
	for _, e := range host.Find(hostName).Events() {
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
	*hookList

	doc      *docedit.Doc
	hostName string
}

func (l *hookList) open(text []byte, hostName string) (*hookFile, error) {
	d, err := openJSON(text)
	return &hookFile{l, d, hostName}, err
}

func (l hookList) install(text []byte, hostName string, h Hook) ([]byte, error) {
	f, err := l.open(text, hostName)
	if err != nil {
		return nil, err
	}
	if l.version != 0 {
		version, err := f.doc.Root.Member("version")
		if err == nil && version == nil {
			f.doc, err = f.doc.Append(f.doc.Root, "version", l.version)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, e := range l.eventsOf(hostName) {
		if err := f.installEvent(e, l.handler(h, e)); err != nil {
			return nil, err
		}
	}
	return f.doc.Bytes(), nil
}

func (f *hookFile) installEvent(e event, want handler) error {
	if _, _, err := f.eventList(e.name); err != nil {
		return err
	}
	own := f.own(e.name)
	if len(own) == 1 && own[0].is(e, want) {
		return nil
	}
	if err := f.removeAll(e.name); err != nil {
		return err
	}
	return f.add(e, want)
}

// eventList returns the object of events and one event's list in it, or nil for those that are
// missing.
func (f *hookFile) eventList(event string) (hooks, list *docedit.Value, err error) {
	if hooks, err = f.doc.Root.Member(f.key); err != nil || hooks == nil {
		return nil, nil, err
	}
	if err := hooks.Want(docedit.Object); err != nil {
		return nil, nil, hooks.Fault(umpire.Errorf("%s: %w", f.key, err))
	}
	if list, err = hooks.Member(event); err != nil || list == nil {
		return hooks, nil, err
	}
	if err := list.Want(docedit.List); err != nil {
		return nil, nil, list.Fault(umpire.Errorf("%s: %w", f.key+"."+event, err))
	}
	return hooks, list, nil
}

// add appends a handler to its event's list.
func (f *hookFile) add(e event, h handler) error {
	var entry any = h
	if f.grouped {
		entry = hookGroup{Matcher: e.matcher, Hooks: []handler{h}}
	}
	hooks, list, err := f.eventList(e.name)
	switch {
	case err != nil:
	case hooks == nil:
		f.doc, err = f.doc.Append(f.doc.Root, f.key, map[string][]any{e.name: {entry}})
	case list == nil:
		f.doc, err = f.doc.Append(hooks, e.name, []any{entry})
	default:
		f.doc, err = f.doc.Append(list, "", entry)
	}
	return err
}

func (l hookList) uninstall(text []byte, hostName string) ([]byte, error) {
	f, err := l.open(text, hostName)
	if err != nil || len(f.own("")) == 0 {
		return text, err
	}
	err = f.removeAll("")
	return f.doc.Bytes(), err
}

func (l hookList) registered(text []byte, hostName string) ([]Registration, error) {
	f, err := l.open(text, hostName)
	if err != nil {
		return nil, err
	}
	var list []Registration
	for _, own := range f.own("") {
		r := readRegistration(own.handler, host.Find(hostName).Unit())
		r.Event, r.Line = own.event, own.handler.Line
		list = append(list, r)
	}
	return list, nil
}

// readRegistration reads one handler, ours or not.
func readRegistration(h *docedit.Value, unit time.Duration) Registration {
	r := Registration{OnFailureBlock: isText(h.At("onFailure"), "block") || isTrue(h.At("failClosed"))}
	line := h.At("command")
	if line.Kind != docedit.String {
		line = h.At("bash")
	}
	if args := h.At("args"); args.Kind == docedit.List {
		r.Command = line.Text
		for _, arg := range args.Items {
			r.Args = append(r.Args, arg.Text)
		}
	} else if words := splitCommand(line.Text); len(words) > 0 {
		r.Command, r.Args, r.Shell = words[0], words[1:], line.Text
	}
	limit, isNumber := number(h.At("timeout"))
	if !isNumber {
		limit, _ = number(h.At("timeoutSec"))
	}
	r.Timeout = time.Duration(limit * float64(unit))
	return r
}

// number returns a value that is a number.
func number(v *docedit.Value) (n float64, is bool) {
	n, err := strconv.ParseFloat(v.Text, 64)
	return n, v.Kind == docedit.Number && err == nil
}

// An ownHook is one of our handlers, in the group of its event if there are groups.
type ownHook struct {
	event          string
	group, handler *docedit.Value
}

// own finds our handlers of one event, or of all events for "". A value in another shape than a
// hook is not ours.
func (f *hookFile) own(event string) []ownHook {
	var found []ownHook
	for list := range each(f.doc.Root, f.key, docedit.Object) {
		if event != "" && list.Key != event || list.Kind != docedit.List {
			continue
		}
		for _, entry := range list.Items {
			if !f.grouped && isOwn(entry, f.hostName) {
				found = append(found, ownHook{event: list.Key, handler: entry})
			}
			for h := range each(entry, "hooks", docedit.List) {
				if f.grouped && isOwn(h, f.hostName) {
					found = append(found, ownHook{list.Key, entry, h})
				}
			}
		}
	}
	return found
}

// each iterates over the items of every member of that name and kind.
func each(v *docedit.Value, name string, kind docedit.Kind) iter.Seq[*docedit.Value] {
	return func(yield func(*docedit.Value) bool) {
		for m := range v.Members() {
			for _, item := range m.Items {
				if m.Key == name && m.Kind == kind && !yield(item) {
					return
				}
			}
		}
	}
}

// removeAll removes our handlers of one event, or of all events for "", and every container that
// becomes empty. In a group only its handlers count: without them its matcher means nothing.
func (f *hookFile) removeAll(event string) error {
	for own := f.own(event); len(own) > 0; own = f.own(event) {
		at := own[0].handler
		for of := at.Parent; of.Parent != nil && (len(of.Items) == 1 || of == own[0].group); of = of.Parent {
			at = of
		}
		next, err := f.doc.Delete(at)
		if err != nil {
			return err
		}
		f.doc = next
	}
	return nil
}

// is reports whether the handler equals the one that would be written for the event.
func (h ownHook) is(e event, want handler) bool {
	if h.group != nil {
		for m := range h.group.Members() {
			if m.Key != "hooks" && m.Key != "matcher" {
				return false
			}
		}
		if h.group.At("matcher").Text != e.matcher {
			return false
		}
	}
	wanted, err := docedit.Open(docedit.JSON, strictjson.EncodeLine(want))
	return err == nil && docedit.Equal(h.handler, wanted.Root)
}

// isOwn recognises our handler by the command it starts.
func isOwn(h *docedit.Value, hostName string) bool {
	if kind := h.At("type"); kind.Parent != nil && !isText(kind, "command") {
		return false
	}
	r := readRegistration(h, time.Second)
	return isOwnCommand(r.Command, r.Args, hostName)
}
