package jsonrpc

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/umpirehq/umpire/internal/config/strictjson"
)

// headerParam is the prefix of header fields that repeat arguments of a tool.
const headerParam = "Mcp-Param-"

// A param is an argument of a tool that is repeated in a header field. path leads to it.
type param struct {
	field string
	path  []string
}

// A schema is a tool's description of its arguments, or of one of them.
type schema struct {
	Type       string            `json:"type"`
	Header     string            `json:"x-mcp-header"`
	Properties map[string]schema `json:"properties"`
}

// isFieldName reports whether a name is valid for a header field.
func isFieldName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
}

// params returns the repeated arguments. It skips those that the protocol does not define; a server
// that requires them refuses the call.
func (s *schema) params(path []string) (all []param) {
	for name, property := range s.Properties {
		at := append(slices.Clip(path), name)
		plain := slices.Contains([]string{"string", "integer", "number", "boolean"}, property.Type)
		if plain && isFieldName(property.Header) {
			all = append(all, param{headerParam + property.Header, at})
		}
		all = append(all, property.params(at)...)
	}
	return all
}

// noteTools remembers the repeated arguments of the listed tools: none for a tool with an
// unreadable schema.
func (r *MCPRemote) noteTools(result json.RawMessage) {
	var list struct {
		Tools []struct {
			Name  string          `json:"name"`
			Input json.RawMessage `json:"inputSchema"`
		} `json:"tools"`
	}
	if json.Unmarshal(result, &list) != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, tool := range list.Tools {
		var input schema
		if json.Unmarshal(tool.Input, &input) != nil {
			input = schema{}
		}
		r.params.Put(tool.Name, input.params(nil))
	}
}

// repeatParams sets the header fields for a call's arguments, as in its body.
func (r *MCPRemote) repeatParams(h http.Header, m *Message) {
	r.mu.Lock()
	all, _ := r.params.Get(nameOf(m))
	r.mu.Unlock()
	if len(all) == 0 {
		return
	}
	params, err := strictjson.ReadObject(m.Params)
	if err != nil {
		return
	}
	for _, p := range all {
		if text := p.text(params["arguments"]); text != "" {
			h.Set(p.field, text)
		}
	}
}

// text returns the value of an argument, or "".
func (p *param) text(value json.RawMessage) string {
	for _, name := range p.path {
		object, err := strictjson.ReadObject(value)
		if err != nil {
			return ""
		}
		value = object[name]
	}
	if len(value) == 0 || string(value) == "null" || value[0] == '{' || value[0] == '[' {
		return ""
	}
	if value[0] == '"' {
		return headerText(strictjson.UnquoteText(value))
	}
	return string(value)
}
