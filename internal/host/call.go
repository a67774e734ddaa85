package host

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/strictjson"
)

// call maps a tool's name and input, and returns the call's input decoded too. raw and input are the same
// object.
func (h *Host) call(
	name string, raw json.RawMessage, input strictjson.Object,
) (umpire.Call, strictjson.Object, error) {
	call := umpire.Call{Tool: name, Input: raw}
	row, ok := h.row(name, input)
	if ok {
		call.Tool, call.Background = row.As, row.Background
	}
	for _, name := range []string{"run_in_background", "is_background", "background"} {
		background, err := input.Flag(name)
		if err != nil {
			return umpire.Call{}, nil, err
		}
		call.Background = call.Background || background
	}
	var err error
	if _, has := input[row.From]; ok && row.From != "" && has {
		if call.Input, err = rename(input, row.From, row.To); err == nil {
			input = maps.Clone(input)
			input[row.To] = input[row.From]
			delete(input, row.From)
		}
	}
	return call, input, err
}

func (h *Host) row(name string, input strictjson.Object) (Tool, bool) {
	row, known := h.tool(name)
	_, has := input[row.Needs]
	return row, known && (row.Needs == "" || has)
}

// dirOf returns the folder that a call works in, if its input names one, else the event's.
func (h *Host) dirOf(e *Event, input strictjson.Object) string {
	row, _ := h.tool(e.ToolName)
	own, err := input.Text(row.Dir)
	switch {
	case row.Dir == "" || err == nil && own == "":
		return e.Dir
	case err != nil || !IsAbsolute(own) && e.Dir == "":
		return ""
	case IsAbsolute(own):
		return own
	}
	return e.Dir + "/" + own
}

// rename returns the object with one field renamed. Everything else stays byte for byte; keys are
// sorted to keep equal inputs equal.
func rename(input strictjson.Object, from, to string) (json.RawMessage, error) {
	if _, taken := input[to]; taken {
		return nil, umpire.Errorf("both %q and %q", from, to)
	}
	var b bytes.Buffer
	for i, name := range slices.Sorted(maps.Keys(input)) {
		if i == 0 {
			b.WriteByte('{')
		} else {
			b.WriteByte(',')
		}
		shown := name
		if name == from {
			shown = to
		}
		b.Write(bytes.TrimSuffix(strictjson.EncodeLine(shown), []byte("\n")))
		b.WriteByte(':')
		b.Write(input[name])
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
