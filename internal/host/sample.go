package host

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"
)

// Sample returns a payload of the host that asks about a shell command, as the host itself would
// send it, to test a hook. It is nil for a host without events or without a shell.
func (h *Host) Sample(session, id, dir, command string) []byte {
	shell, runs := h.shellTool()
	if h.own != nil || !runs {
		return nil
	}
	top := map[string]any{}
	if len(h.Marks) > 0 {
		for _, mark := range h.Marks[0] {
			if !strings.HasPrefix(mark, "!") {
				top[mark] = "sample"
			}
		}
	}
	for field, value := range map[string]any{
		h.fields.event: h.before().Name, h.fields.session: session, h.fields.dir: dir, h.fields.project: dir,
		h.fields.tool: shell.Name, h.fields.id: id,
		h.fields.input: map[string]any{cmp.Or(shell.commandField(), "command"): command},
	} {
		setField(top, field, value)
	}
	for _, m := range h.Modes() {
		if m.Is == Default && m.Word != "" {
			setField(top, h.fields.mode, m.Word)
			break
		}
	}
	return encode(top)
}

// setField sets a field by its name, in which dots lead into objects; "" is ignored.
func setField(top map[string]any, field string, value any) {
	for {
		outer, rest, nested := strings.Cut(field, ".")
		if !nested {
			break
		}
		inner, ok := top[outer].(map[string]any)
		if !ok {
			inner = map[string]any{}
			top[outer] = inner
		}
		top, field = inner, rest
	}
	if field != "" {
		top[field] = value
	}
}

// DecisionOf reads an answer to an event before a call: allow, deny or ask, or "" if it expresses
// no opinion, or none that the host would understand. The answer is one line of JSON and an exit
// code.
func (h *Host) DecisionOf(stdout []byte, exit int) string {
	f := h.before().form
	if f.decision == "" {
		if exit != 0 && exit == f.exit {
			return "deny"
		}
		return ""
	}
	var value any
	if json.Unmarshal(stdout, &value) != nil {
		return ""
	}
	object, _ := value.(map[string]any)
	for i, name := range f.within {
		if name == "" {
			continue
		}
		if object, _ = object[name].(map[string]any); i == 0 && f.event != "" && object[f.event] != h.before().Name {
			return ""
		}
	}
	said, ok := object[f.decision]
	if !ok {
		return ""
	}
	for word, written := range map[string]string{"deny": f.deny, "allow": f.allow, "ask": f.ask} {
		if written != "" && string(encode(said)) == written {
			return word
		}
	}
	return ""
}

// SaysAllow reports whether the host has a word for allow; for other hosts silence allows.
func (h *Host) SaysAllow() bool { return h.before().form.allow != "" }

// Denies reports whether an answer stops the call in every way that the host checks.
func (h *Host) Denies(stdout, stderr []byte, exit int) bool {
	want := h.before().form.exit
	return h.DecisionOf(stdout, exit) == "deny" && exit == want && (want == 0 || len(bytes.TrimSpace(stderr)) > 0)
}
