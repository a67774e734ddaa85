package editor

import (
	"encoding/json"

	"github.com/umpirehq/umpire/internal/config/strictjson"
)

// The kinds of options that umpire answers with. Only people may choose options that last longer
// than once.
const (
	optionAllow  = "allow_once"
	optionReject = "reject_once"
)

// An option is an answer offered by the agent.
type option struct {
	ID   string `json:"optionId"`
	Name string `json:"name"`
	Kind string `json:"kind"`
}

// optionsOf returns the options of a question. It drops options with a duplicate id, because it is
// unknown which of them the id would choose.
func optionsOf(params json.RawMessage) []option {
	o, err := readParams(params)
	if err != nil {
		return nil
	}
	var listed []json.RawMessage
	if json.Unmarshal(o["options"], &listed) != nil {
		return nil
	}
	var all []option
	times := map[string]int{}
	for _, raw := range listed {
		read, err := readParams(raw)
		if err != nil {
			continue
		}
		id, badID := read.Text("optionId")
		kind, badKind := read.Text("kind")
		times[id]++
		if badID == nil && badKind == nil && id != "" {
			all = append(all, option{ID: id, Kind: kind})
		}
	}
	unique := all[:0]
	for _, each := range all {
		if times[each.ID] == 1 {
			unique = append(unique, each)
		}
	}
	return unique
}

// pick returns the option of a kind. If there are several, it returns the first to refuse, but none
// to allow: they differ in a way that umpire does not know.
func pick(options []option, kind string) (option, bool) {
	var found []option
	for _, o := range options {
		if o.Kind == kind {
			found = append(found, o)
		}
	}
	if len(found) == 0 || kind == optionAllow && len(found) > 1 {
		return option{}, false
	}
	return found[0], true
}

// A selection is the answer to a question of the agent.
type selection struct {
	Outcome outcome `json:"outcome"`
}

type outcome struct {
	Outcome string `json:"outcome"`
	Option  string `json:"optionId,omitempty"`
}

func selected(o option) selection { return selection{outcome{"selected", o.ID}} }

// cancelled answers a question of a turn that was cancelled. It is never an answer of a policy,
// because agents end the turn by it.
var cancelled = selection{outcome{Outcome: "cancelled"}}

// chosen returns the kind of the option that a person chose, or "".
func chosen(result json.RawMessage, options []option) string {
	o, err := strictjson.ReadObject(result)
	if err != nil {
		return ""
	}
	said, err := o.Child("outcome")
	if err != nil {
		return ""
	}
	word, _ := said.Text("outcome")
	id, _ := said.Text("optionId")
	for _, each := range options {
		if word == "selected" && each.ID == id {
			return each.Kind
		}
	}
	return ""
}
