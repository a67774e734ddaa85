package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/strictjson"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/host/jsonrpc"
)

// The protocol's names for a request's facts about its client.
const (
	metaPrefix       = "io.modelcontextprotocol/"
	metaCapabilities = metaPrefix + "clientCapabilities"
	metaProgress     = "progressToken"
)

// A proxyRequest is a tools/call of a client.
type proxyRequest struct {
	message   *jsonrpc.Message
	params    strictjson.Object
	meta      strictjson.Object // may be nil
	tool      string
	arguments json.RawMessage
	// described is the server's description of the tool, or "{}" if it is not listed.
	described json.RawMessage
	// state is the pending state that the client came back with, "" at first, and declined is set
	// if the user does not want to wait.
	state    string
	declined bool
}

// readRequest reads a tools/call.
func readRequest(m *jsonrpc.Message) (*proxyRequest, error) {
	r := &proxyRequest{message: m, arguments: json.RawMessage("{}")}
	var err error
	if r.params, err = strictjson.ReadObject(m.Params); err == nil {
		err = r.params.CheckSpelling()
	}
	if m.Method == methodResource {
		r.tool, r.described = "Read", json.RawMessage("{}")
		r.arguments = strictjson.EncodeLine(map[string]string{"file_path": fileOf(m.Params)})
	} else if err == nil {
		r.tool, err = r.params.RequiredText("name")
	}
	if err == nil {
		r.meta, err = r.params.Child("_meta")
	}
	if err == nil {
		r.state, err = r.params.Text("requestState")
	}
	if err != nil {
		return r, umpire.Errorf("%s: %w", m.Method, err)
	}
	if raw := r.params["arguments"]; m.Method == methodCall && raw != nil && string(raw) != "null" {
		if r.arguments, err = strictjson.Canonical(raw); err != nil {
			return r, umpire.Errorf("tools/call: arguments: %w", err)
		}
	}
	r.declined = r.answered() == "decline"
	return r, nil
}

// answered returns the action of the client's user when asked to wait.
func (r *proxyRequest) answered() string {
	responses, err := r.params.Child("inputResponses")
	if err != nil {
		return ""
	}
	said, err := responses.Child(ownInput)
	if err != nil {
		return ""
	}
	action, _ := said.Text("action")
	return action
}

// ours reports whether the client comes back with a state from umpire.
func (r *proxyRequest) ours() bool { return strings.HasPrefix(r.state, statePrefix) }

// round returns the key of a call for which the server needs more input.
func (r *proxyRequest) round() string { return roundOf(r.digest(), r.state) }

func roundOf(digest, state string) string { return digest + " " + state }

func (r *proxyRequest) digest() string { return requestDigest(r.tool, r.arguments) }

// comesBack reports whether the client can be asked to come back: it declares its abilities with
// each request, and can ask its user.
func (r *proxyRequest) comesBack() bool {
	abilities, err := r.meta.Child(metaCapabilities)
	return err == nil && abilities["elicitation"] != nil
}

// forwarded returns the request for the server, without the fields meant for umpire.
func (r *proxyRequest) forwarded() []byte {
	if !r.ours() {
		return r.message.Raw
	}
	delete(r.params, "requestState")
	delete(r.params, "inputResponses")
	return jsonrpc.Call(r.message.ID, r.message.Method, bytes.TrimSpace(strictjson.EncodeLine(r.params)))
}

// shown returns a digest of the request and its tool's description, as shown to a person.
func (r *proxyRequest) shown() string { return requestDigest(r.digest(), r.described) }

// findTool asks the server for the tool's description. Once a person was asked about the call, a
// different description is an error: the person has seen the first.
func (p *Proxy) findTool(ctx context.Context, r *proxyRequest) error {
	if r.message.Method != methodCall {
		return nil
	}
	was := r.described
	now, err := p.describeTool(ctx, r)
	if err == nil {
		r.described, err = strictjson.Canonical(now)
	}
	if err == nil && was != nil && !bytes.Equal(was, r.described) {
		err = umpire.Errorf("the server's description of the tool has changed since the question")
	}
	return err
}

// rule returns the name of the requested object for rules.
func (r *proxyRequest) rule(server string) string {
	if r.message.Method != methodCall {
		return r.tool
	}
	return toolName(server, r.tool)
}

// isFileRead reports whether a message asks a server for a file.
func isFileRead(m *jsonrpc.Message) bool {
	return m.Method == methodResource && fileOf(m.Params) != ""
}

// addressOf returns the address of the resource in a request, or "" without one.
func addressOf(params json.RawMessage) string {
	var about struct {
		URI string `json:"uri"`
	}
	if json.Unmarshal(params, &about) != nil {
		return ""
	}
	return about.URI
}

// checkAddress rejects an address with a blank or an invisible character. Servers drop some of
// them, and would then read another address than umpire.
func checkAddress(params json.RawMessage) error {
	address := addressOf(params)
	dropped := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) || r == utf8.RuneError }
	if strings.ContainsFunc(address, dropped) {
		return umpire.Errorf("the address %q contains a space or an invisible character", files.Clip(address))
	}
	return nil
}

// fileOf returns the path of the file that a resource request names, or "" for another resource. An
// address that a careless server could take for a file counts as one.
func fileOf(params json.RawMessage) string {
	text := addressOf(params)
	at, err := url.Parse(text)
	switch {
	case err != nil || at.Scheme == "" || len(at.Scheme) == 1: // a path, possibly with a drive
		return text
	case !strings.EqualFold(at.Scheme, "file"):
		return ""
	case at.Opaque != "":
		return at.Opaque
	}
	if host := at.Hostname(); host != "" && host != "localhost" {
		return "//" + host + at.Path
	}
	return at.Path
}

// noteList remembers that the client asks for the tools.
func (p *Proxy) noteList(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.lists) < maxHeldCalls {
		p.lists[key] = true
	}
}

// noteTools remembers the descriptions that the client receives. The lock is held.
func (p *Proxy) noteTools(result json.RawMessage) {
	var listed struct {
		Tools []json.RawMessage `json:"tools"`
	}
	if json.Unmarshal(result, &listed) != nil {
		return
	}
	for _, raw := range listed.Tools {
		tool, err := strictjson.ReadObject(raw)
		if err != nil {
			continue
		}
		name, err := tool.Text("name")
		canonical, wrong := strictjson.Canonical(raw)
		if err == nil && wrong == nil && len(p.shownTools) < maxShownTools {
			p.shownTools[name] = requestDigest("", canonical)
		}
	}
}

// describeTool finds a tool in the server's list. A name that a rule or the server could take for
// another tool is an error.
func (p *Proxy) describeTool(ctx context.Context, r *proxyRequest) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	meta := map[string]json.RawMessage{}
	for name, value := range r.meta {
		if strings.HasPrefix(name, metaPrefix) {
			meta[name] = value
		}
	}
	cursor, found := "", json.RawMessage(nil)
	for range maxTools {
		params := map[string]any{}
		if len(meta) > 0 {
			params["_meta"] = meta
		}
		if cursor != "" {
			params["cursor"] = cursor
		}
		result, err := p.ask(ctx, methodList, params)
		if err != nil {
			return nil, err
		}
		var listed struct {
			Tools []json.RawMessage `json:"tools"`
			Next  string            `json:"nextCursor"`
		}
		if err := json.Unmarshal(result, &listed); err != nil {
			return nil, umpire.Errorf("list the tools: %w", err)
		}
		for _, raw := range listed.Tools {
			tool, err := strictjson.ReadObject(raw)
			if err != nil {
				continue
			}
			name, err := tool.Text("name")
			switch {
			case err != nil || toolName(p.Name, name) != toolName(p.Name, r.tool):
			case name != r.tool || found != nil:
				return nil, umpire.Errorf("tools %q and %q share the name %s", name, r.tool, toolName(p.Name, name))
			default:
				found = raw
			}
		}
		if cursor = listed.Next; cursor == "" {
			if found == nil {
				found = json.RawMessage("{}")
			}
			return found, nil
		}
	}
	return nil, umpire.Errorf("it has more than %d tools", maxTools)
}
