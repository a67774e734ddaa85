package policy

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell"
)

// TestMalformedInput: an input of the wrong shape is an error that names its field.
func TestMalformedInput(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ tool, input, want string }{
		{"Bash", `{"command":5}`, "input.command: want a string, got a number"},
		{"Bash", `[]`, "input: want a JSON object"},
		{"Read", `{"path":{}}`, "input.path: want a string, got an object"},
		{"Read", `{"paths":["a",1]}`, "input.paths[1]: want a string, got a number"},
		{"Read", `{"paths":[""]}`, "input.paths[0]: names no path"},
		{"Write", `{"file_path":"a\u0000"}`, "input.file_path: contains a NUL byte"},
		{"filesystem-edit", `{"filePath":[{"x":1}]}`, "input.filePath[0]: want a string, got nothing"},
		{"filesystem-edit", `{"filePath":[{"path":null}]}`, "input.filePath[0]: names no path"},
		{"WebFetch", `{"url":true}`, "input.url: want a string, got a boolean"},
	} {
		t.Run(tt.tool+" "+tt.input, func(t *testing.T) {
			t.Parallel()
			_, err := FactsOf(umpire.Call{Tool: tt.tool, Input: json.RawMessage(tt.input)}, shell.Env{Dir: "/p"})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// FuzzFactsOf: no input causes a panic, and without an error there are facts.
func FuzzFactsOf(f *testing.F) {
	for i := range tools {
		f.Add(tools[i].name, `{"filePath":[{"path":"a"},"b"],"command":"ls","url":"https://x.org","pattern":"/**"}`)
	}
	f.Add("filesystem-edit", `{"filePath":[{"x":1}]}`)
	f.Add("x", `{"paths":[null,[],{}]}`)
	f.Fuzz(func(t *testing.T, tool, input string) {
		facts, err := FactsOf(umpire.Call{Tool: tool, Input: json.RawMessage(input)}, shell.Env{Dir: "/p", Home: "/h"})
		if err == nil && len(facts.Accesses) == 0 {
			t.Fatalf("%s %q: nothing is known", tool, input)
		}
	})
}
