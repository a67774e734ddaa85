package host

import (
	"encoding/json"
	"maps"

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
	if _, has := input[row.From]; ok && row.From != "" && has {
		if _, taken := input[row.To]; taken {
			return call, input, umpire.Errorf("both %q and %q", row.From, row.To)
		}
		input = maps.Clone(input)
		input[row.To] = input[row.From]
		delete(input, row.From)
		call.Input = encode(input)
	}
	return call, input, nil
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
