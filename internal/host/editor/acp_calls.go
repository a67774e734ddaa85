package editor

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/strictjson"
)

// The agent's requests that are judged. Other requests below fs/ and terminal/ that may do
// something are judged as unknown tools.
const (
	methodPermission = "session/request_permission"
	methodRead       = "fs/read_text_file"
	methodWrite      = "fs/write_text_file"
	methodTerminal   = "terminal/create"
)

// openTerminalMethods are about a terminal that the editor has opened, after terminal/create was
// judged.
var openTerminalMethods = []string{
	"terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release",
}

// isJudged reports whether a request of the agent is judged.
func isJudged(method string) bool {
	switch {
	case method == methodPermission, strings.HasPrefix(method, "fs/"):
		return true
	case strings.HasPrefix(method, "terminal/"):
		return !slices.Contains(openTerminalMethods, method)
	}
	return false
}

// foldMethod returns a method as a careless editor might read it.
func foldMethod(method string) string {
	blank := func(r rune) bool { return !unicode.IsPrint(r) || r == ' ' }
	return strings.ToLower(strings.TrimFunc(method, blank))
}

// callsOf returns the calls for a request of the agent. All of them must be allowed.
func callsOf(s *session, method string, params json.RawMessage) ([]umpire.Call, error) {
	o, err := readParams(params)
	if err != nil {
		return nil, err
	}
	switch method {
	case methodPermission:
		return s.callsOfQuestion(o)
	case methodTerminal:
		return s.callsOfTerminal(o)
	}
	path, err := o.Text("path")
	if err != nil {
		return nil, err
	}
	switch {
	case method != methodRead && method != methodWrite:
		return []umpire.Call{s.unknownCall(strings.ReplaceAll(method, "/", "_"), params)}, nil
	case !filepath.IsAbs(path):
		return nil, umpire.Errorf("path: want an absolute path, got %q", path)
	case method == methodRead:
		return []umpire.Call{s.newCall("Read", map[string]any{"file_path": path})}, nil
	}
	content, err := o.Text("content")
	if err != nil {
		return nil, err
	}
	return []umpire.Call{s.writeCall(path, content)}, nil
}

// encode returns a value as JSON without a newline.
func encode(v any) json.RawMessage { return bytes.TrimSpace(strictjson.EncodeLine(v)) }

// readParams reads parameters that mean the same to every reader.
func readParams(params json.RawMessage) (strictjson.Object, error) {
	o, err := strictjson.ReadObject(params)
	if err == nil {
		err = o.CheckSpelling()
	}
	return o, err
}

// newCall returns a call of a tool in the folder of the session.
func (s *session) newCall(tool string, input any) umpire.Call {
	return umpire.Call{Tool: tool, Dir: s.project, Session: s.umpireID(), Input: encode(input)}
}

func (s *session) writeCall(path, content string) umpire.Call {
	return s.newCall("Write", map[string]any{"file_path": path, "content": content})
}

// unknownCall returns a call of a tool that is known by its name only. It asks, unless its input
// names something forbidden.
func (s *session) unknownCall(tool string, input json.RawMessage) umpire.Call {
	call := s.newCall(unknownPrefix+tool, nil)
	if call.Input = input; strictjson.KindOf(input) != "an object" {
		call.Input = json.RawMessage("{}")
	}
	return call
}

// unknownPrefix begins the names of tools that are only known by name.
const unknownPrefix = "mcp__acp__"

// callsOfTerminal returns the calls of a command for the editor to run. Editors treat the arguments
// differently: some start the program with them, others pass the words to a shell as they are. If
// the two could differ, both are judged.
func (s *session) callsOfTerminal(o strictjson.Object) ([]umpire.Call, error) {
	command, err := o.RequiredText("command")
	if err != nil {
		return nil, err
	}
	args, err := o.Texts("args")
	if err != nil {
		return nil, err
	}
	dir, err := o.Text("cwd")
	if err != nil {
		return nil, err
	}
	if dir != "" && !filepath.IsAbs(dir) {
		return nil, umpire.Errorf("cwd: want an absolute path, got %q", dir)
	}
	exports, err := exportsOf(o["env"])
	if err != nil {
		return nil, err
	}
	lines := []string{exports + command + joinWords(args, quoteWord)}
	if slices.ContainsFunc(args, func(arg string) bool { return quoteWord(arg) != arg }) {
		lines = append(lines, exports+command+joinWords(args, func(arg string) string { return arg }))
	}
	var calls []umpire.Call
	for _, line := range lines {
		call := s.newCall("Bash", map[string]any{"command": line})
		if dir != "" {
			call.Dir = filepath.Clean(dir)
		}
		calls = append(calls, call)
	}
	return calls, nil
}

// exportsOf returns the shell commands that set a command's variables.
func exportsOf(env json.RawMessage) (string, error) {
	var list []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	if env != nil && json.Unmarshal(env, &list) != nil {
		return "", umpire.Errorf("env: want a list of names and values")
	}
	var line strings.Builder
	for _, v := range list {
		if v.Name == "" || strings.ContainsFunc(v.Name, func(r rune) bool { return !isPlain(r) || r == '=' }) {
			return "", umpire.Errorf("env: %q is not the name of a variable", v.Name)
		}
		line.WriteString("export " + v.Name + "=" + quoteWord(v.Value) + "; ")
	}
	return line.String(), nil
}

func joinWords(words []string, form func(string) string) string {
	var line strings.Builder
	for _, w := range words {
		line.WriteString(" " + form(w))
	}
	return line.String()
}

// quoteWord quotes a word for a shell if necessary.
func quoteWord(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !isPlain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// isPlain reports whether a shell always takes a character literally.
func isPlain(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:,+@%=", r)
}
