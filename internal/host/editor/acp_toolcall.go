package editor

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/strictjson"
)

// The kinds of tools that are understood. All others are unknown tools.
const (
	kindRead    = "read"
	kindSearch  = "search"
	kindEdit    = "edit"
	kindExecute = "execute"
	kindFetch   = "fetch"
	// kindSwitchMode is the agent's own dialog, such as the one that leaves plan mode.
	kindSwitchMode = "switch_mode"
)

// noteTool remembers the agent's report on a call: a later question may only name its id.
func (s *session) noteTool(update strictjson.Object) {
	id, err := update.Text("toolCallId")
	if err != nil || id == "" {
		return
	}
	merged, err := json.Marshal(s.mergeTool(id, update))
	if err == nil && len(merged) <= maxTool {
		s.tools.Put(id, merged)
	}
}

// maxTool bounds the remembered data of one call.
const maxTool = 256 << 10

// mergeTool merges the agent's new report on a call into the earlier ones.
func (s *session) mergeTool(id string, now strictjson.Object) strictjson.Object {
	merged := strictjson.Object{}
	known, _ := s.tools.Get(id)
	if before, err := strictjson.ReadObject(known); err == nil {
		merged = before
	}
	for _, name := range []string{"kind", "title", "rawInput", "locations", "content"} {
		if raw := now[name]; raw != nil && string(raw) != "null" {
			merged[name] = mergeInput(name, merged[name], raw)
		}
	}
	return merged
}

// mergeInput merges the earlier parts of an input into the new report.
func mergeInput(name string, before, now json.RawMessage) json.RawMessage {
	was, badBefore := strictjson.ReadObject(before)
	is, badNow := strictjson.ReadObject(now)
	if name != "rawInput" || badBefore != nil || badNow != nil {
		return now
	}
	maps.Copy(was, is)
	return encode(was)
}

// A toolCall is the agent's report on a call.
type toolCall struct {
	id, kind, title string
	input           strictjson.Object // may be nil
	rawInput        json.RawMessage
	paths           []string          // absolute
	contents        map[string]string // future contents of files, by path
}

// readToolCall reads the call that a question is about.
func (s *session) readToolCall(params strictjson.Object) (toolCall, error) {
	o, err := params.Child("toolCall")
	if err != nil {
		return toolCall{}, err
	}
	if err := o.CheckSpelling(); err != nil {
		return toolCall{}, err
	}
	t := toolCall{contents: map[string]string{}}
	if t.id, err = o.Text("toolCallId"); err != nil {
		return t, err
	}
	o = s.mergeTool(t.id, o)
	if t.kind, err = o.Text("kind"); err != nil {
		return t, err
	}
	if t.title, err = o.Text("title"); err != nil {
		return t, err
	}
	t.rawInput = o["rawInput"]
	if strictjson.KindOf(t.rawInput) == "an object" {
		if t.input, err = readParams(t.rawInput); err != nil {
			return t, umpire.Errorf("rawInput: %w", err)
		}
	}
	return t, t.readFiles(o)
}

// readFiles determines the files of a call.
func (t *toolCall) readFiles(o strictjson.Object) error {
	var locations []struct {
		Path string `json:"path"`
	}
	var contents []struct {
		Type string `json:"type"`
		Path string `json:"path"`
		Text string `json:"newText"`
	}
	if raw := o["locations"]; raw != nil && json.Unmarshal(raw, &locations) != nil {
		return umpire.Errorf("locations: want a list of paths")
	}
	if raw := o["content"]; raw != nil && json.Unmarshal(raw, &contents) != nil {
		return umpire.Errorf("content: want a list of contents")
	}
	for _, l := range locations {
		t.paths = append(t.paths, l.Path)
	}
	for _, c := range contents {
		if c.Type == "diff" {
			t.paths = append(t.paths, c.Path)
			t.contents[c.Path] = c.Text
		}
	}
	for _, name := range []string{"path", "file_path", "filePath", "filepath", "absolute_path"} {
		if path, err := t.input.Text(name); err == nil && path != "" {
			t.paths = append(t.paths, path)
		}
	}
	slices.Sort(t.paths)
	t.paths = slices.Compact(t.paths)
	return nil
}

// callsOfQuestion returns the calls that a question of the agent is about.
func (s *session) callsOfQuestion(params strictjson.Object) ([]umpire.Call, error) {
	t, err := s.readToolCall(params)
	if err != nil {
		return nil, umpire.Errorf("toolCall: %w", err)
	}
	if calls := s.knownCalls(&t); len(calls) > 0 {
		return calls, nil
	}
	input := maps.Clone(t.input)
	if input == nil {
		input = strictjson.Object{}
	}
	if command, _ := input.Text("command"); command == "" && t.title != "" {
		// Some agents send only the title. It may say less than the command that runs and therefore
		// never allows, but it is still examined.
		input["command"] = encode(t.title)
	}
	kind := t.kind
	if kind == "" {
		kind = "other"
	}
	return []umpire.Call{s.unknownCall(toolWord(kind), encode(input))}, nil
}

// toolWord converts a word of the agent to a valid part of a tool's name.
func toolWord(word string) string {
	word = string([]rune(word)[:min(len([]rune(word)), 32)])
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, word)
}

// knownCalls returns the calls of a sufficiently clear kind, or nil.
func (s *session) knownCalls(t *toolCall) []umpire.Call {
	switch t.kind {
	case kindExecute:
		return s.commandCalls(t)
	case kindFetch:
		if url, err := t.input.Text("url"); err == nil && url != "" {
			return []umpire.Call{s.newCall("WebFetch", map[string]any{"url": url})}
		}
		return nil
	case kindRead, kindSearch, kindEdit:
		return s.fileCalls(t)
	}
	return nil
}

// commandCalls returns the calls of a tool that runs a command line.
func (s *session) commandCalls(t *toolCall) []umpire.Call {
	line, err := t.input.Text("command")
	if err != nil {
		words, err := t.input.Texts("command")
		if err != nil || len(words) == 0 {
			return nil
		}
		line = quoteWord(words[0]) + joinWords(words[1:], quoteWord)
	}
	if line == "" {
		return nil
	}
	call := s.newCall("Bash", map[string]any{"command": line})
	for _, name := range []string{"cwd", "workdir", "directory", "dir_path", "working_directory"} {
		dir, err := t.input.Text(name)
		switch {
		case err != nil:
			return nil
		case filepath.IsAbs(dir):
			call.Dir = filepath.Clean(dir)
		case dir != "":
			call.Dir = filepath.Join(s.project, dir)
		}
	}
	return []umpire.Call{call}
}

// fileCalls returns the calls of a tool that reads or changes the files it names.
func (s *session) fileCalls(t *toolCall) []umpire.Call {
	var calls []umpire.Call
	for _, path := range t.paths {
		content, whole := t.contents[path]
		if !filepath.IsAbs(path) {
			path = filepath.Join(s.project, path)
		}
		switch {
		case t.kind == kindRead:
			calls = append(calls, s.newCall("Read", map[string]any{"file_path": path}))
		case t.kind == kindSearch:
			calls = append(calls, s.newCall("Grep", map[string]any{"pattern": "", "path": path}))
		case whole:
			calls = append(calls, s.writeCall(path, content))
		default:
			calls = append(calls, s.newCall("Edit", map[string]any{"file_path": path}))
		}
	}
	return calls
}
