package host

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/umpirehq/umpire/internal/config/strictjson"
)

// A foreignError means that a question comes from another agent. Several agents read the settings
// of others and start the hooks there, with their own payloads.
type foreignError struct {
	// Agent is the sender's name as in umpire setup, or "" if unknown.
	Agent string
	text  string
}

// Error names the sender of the question and suggests a fix.
func (e *foreignError) Error() string { return e.text }

// senderOf returns the host that sent the question according to err, or nil.
func senderOf(err error) *Host {
	foreign, is := errors.AsType[*foreignError](err)
	if !is {
		return nil
	}
	return Find(foreign.Agent)
}

// checkPayload returns a *foreignError for a payload that is not the host's.
func (h *Host) checkPayload(payload []byte) error {
	o, err := readPayload(payload)
	if err != nil {
		return err
	}
	return h.checkForeign(o)
}

// checkForeign returns a *foreignError for a payload that is not the host's, by the names of its
// fields, its event, and its tool. An event that the host is not known to have may decide about a
// call, so it is refused even with the marks of the host.
func (h *Host) checkForeign(o strictjson.Object) error {
	in := reader{of: o}
	event, tool := in.text(h.fields.event), in.text("tool_name")
	if h.eventOf != nil {
		event = h.eventOf(o)
	}
	sender := h
	if !h.marks(o) {
		if sender = marked(o); sender == nil {
			sender = h.unmarked(in.text("transcript_path"), in.text("hook_event_name"), tool)
		}
	}
	row, known := h.Event(event)
	switch {
	case sender != nil && sender != h:
		return &foreignError{sender.Name, fmt.Sprintf(
			"this is a question of %s, not of %s; it needs the adapter %q: see umpire setup",
			sender.Title, h.Title, sender.Name)}
	case !h.knows(event) && (event != "" || h.eventOf != nil):
		return &foreignError{text: fmt.Sprintf("%.100q is not an event of %s", event, h.Title)}
	case sender == h:
		return nil
	case known && row.Kind.AboutTool() && len(h.Marks) > 0:
		return &foreignError{text: fmt.Sprintf("this is not a question of %s: it has no %s", h.Title,
			strings.Join(h.Marks[0], " and "))}
	}
	return nil
}

// marked returns the host whose marks a payload bears, or nil.
func marked(o strictjson.Object) *Host {
	for _, h := range Hosts {
		if h.marks(o) {
			return h
		}
	}
	return nil
}

// unmarked returns the host that sent a payload in Claude Code's form, which several hosts use,
// judging by its transcript, event and tool. If several hosts are possible, it returns h.
func (h *Host) unmarked(transcript, event, tool string) *Host {
	speaks := func(other *Host) bool { return other.fields.event == claudeFields.event && other.knows(event) }
	if event == "" {
		return nil
	}
	if speaks(h) && h.writes(transcript) {
		return h
	}
	var found *Host
	for _, other := range Hosts {
		if len(other.Marks) > 0 && other != h || !speaks(other) {
			continue
		}
		row, _ := other.Event(event)
		switch {
		case other.writes(transcript):
			return other
		case other == h && (len(h.Marks) > 0 && row.Kind.AboutTool()):
		case found == nil, other == h && !found.hasTool(tool), !found.hasTool(tool) && other.hasTool(tool):
			found = other
		case other == h && h.hasTool(tool):
			found = h
		}
	}
	if i := slices.IndexFunc(Hosts, speaks); found == nil && i >= 0 && !speaks(h) {
		return Hosts[i]
	}
	return found
}

// writes reports whether a transcript is in the folder of the host's settings.
func (h *Host) writes(transcript string) bool {
	folder, _, below := strings.Cut(h.Settings.User, "/")
	return below && strings.HasPrefix(folder, ".") && strings.Contains(transcript, "/"+folder+"/")
}

// hasTool reports whether a tool is one of the host's.
func (h *Host) hasTool(name string) bool {
	_, has := h.tool(name)
	return has
}

// marks reports whether a payload has fields that only this host sends.
func (h *Host) marks(o strictjson.Object) bool {
	return slices.ContainsFunc(h.Marks, func(group []string) bool {
		return !slices.ContainsFunc(group, func(name string) bool {
			name, absent := strings.CutPrefix(name, "!")
			_, has := o[name]
			return has == absent
		})
	})
}

// knows reports whether the host has an event.
func (h *Host) knows(event string) bool {
	_, known := h.Event(event)
	_, other := lookUp(h.Others, event)
	return known || other
}
