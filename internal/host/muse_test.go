package host

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
)

func TestReadMuse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, payload string
		want          policy.Query
	}{
		{"M-186 no options", `{"toolName":"Read","input":{"path":"a"}}`,
			policy.Query{Call: umpire.Call{Tool: "Read", Input: json.RawMessage(`{"path":"a"}`), Agent: "muse"}}},
		{"M-188 allowOnceTools", `{"toolName":"Write","toolCallId":"tc-1","input":{"path":"test.ts"},"options":{"allowOnceTools":["Write"]}}`,
			policy.Query{
				Call: umpire.Call{ID: "tc-1", Tool: "Write", Input: json.RawMessage(`{"path":"test.ts"}`), Agent: "muse"},
				Conditions: policy.Conditions{
					Grants: []umpire.Grant{{Scope: umpire.ScopeOnce, Tool: "Write"}},
				},
			}},
		{"M-189 sessionApprovedTools", `{"toolName":"Edit","input":{},"options":{"sessionApprovedTools":["Edit",""],"allowOnceTools":null}}`,
			policy.Query{
				Call: umpire.Call{Tool: "Edit", Input: json.RawMessage(`{}`), Agent: "muse"},
				Conditions: policy.Conditions{
					Grants: []umpire.Grant{{Scope: umpire.ScopeSession, Tool: "Edit"}},
				},
			}},
		{"M-107 M-108 M-109 M-190 allowAll, beside options that are read by others", `{"toolName":"GitPush","input":{},"options":{"toolPermissions":{"allowAll":true},"hooks":{},"sandboxMode":"x"}}`,
			policy.Query{Call: umpire.Call{Tool: "GitPush", Input: json.RawMessage(`{}`), Agent: "muse"}, Conditions: policy.Conditions{AllowAll: true}}},
		{"M-138 rules have no source and so cannot allow", `{"toolName":"Bash","input":{"command":"x","background":true},"options":{"permissionRules":[
			{"id":"a","action":"deny","tool":"Bash","match":{"commandPrefix":"npm publish"}},{"action":"allow","tool":"Bash"},{"tool":"Edit"}]}}`,
			policy.Query{
				Call: umpire.Call{Tool: "Bash", Input: json.RawMessage(`{"command":"x","background":true}`), Agent: "muse", Background: true},
				Conditions: policy.Conditions{
					Tighten: []umpire.Rule{
						{ID: "a", Action: umpire.Deny, Tool: "Bash", Match: umpire.Match{CommandPrefix: "npm publish"}},
						{ID: "request-2", Action: umpire.Allow, Tool: "Bash"},
						{ID: "request-3", Action: umpire.Deny, Tool: "Edit"},
					},
				},
			}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := ReadMuse([]byte(tt.payload))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreUnexported(policy.Query{})); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadMuseRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ payload, want string }{
		{`{}`, "toolName: missing"},
		{`{"toolName":1}`, "toolName: want a string"},
		{`{"toolName":"A","toolCallId":1}`, "toolCallId: want a string"},
		{`{"toolName":"A","toolName":"B","input":{}}`, `"toolName" appears twice`},
		{`{"toolName":"A","input":[]}`, "input: want an object"},
		{`{"toolName":"A","input":{"path":"a","Path":"b"}}`, `both "Path" and "path"`},
		{`{"toolName":"A","input":{},"options":[]}`, "options: want an object"},
		{`{"toolName":"A","input":{},"options":{"allowOnceTools":"A"}}`, "options.allowOnceTools: want a list of strings"},
		{`{"toolName":"A","input":{},"options":{"permissionRules":{}}}`, "options.permissionRules:"},
		{`{"toolName":"A","input":{},"options":{"permissionRules":[{"action":"deny"}]}}`, "permissionRules[0].tool: missing"},
	} {
		_, err := ReadMuse([]byte(tt.payload))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", tt.payload, err, tt.want)
		}
	}
}

func FuzzReadMuse(f *testing.F) {
	f.Add([]byte(`{"toolName":"Write","toolCallId":"tc-1","input":{"path":"a"},"options":{"allowOnceTools":["Write"]}}`))
	f.Add([]byte(`{"toolName":"__tool_permission__:\n","input":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := ReadMuse(data)
		if err != nil {
			if out := failMuse(r.Call.Tool, err); out.Exit != 2 || len(out.Stderr) == 0 ||
				!bytes.HasPrefix(out.Stdout, []byte("Error: Tool ")) {
				t.Fatalf("a failure did not deny: %+v", out)
			}
			return
		}
		for _, v := range []umpire.Verdict{umpire.Deny, umpire.Ask, umpire.Allow} {
			out := AnswerMuse(r.Call, umpire.Decision{Verdict: v, Reason: umpire.Verbatim(string(data))})
			if bytes.Count(out.Stdout, []byte("\n")) != 1 {
				t.Fatalf("%s is not one line: %q", v, out.Stdout)
			}
			if marked := bytes.HasPrefix(out.Stdout, []byte(museMarker)); marked != (v == umpire.Ask) {
				t.Fatalf("%s: %q", v, out.Stdout)
			}
		}
	})
}
