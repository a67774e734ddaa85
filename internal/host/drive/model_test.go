package drive

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestModelPlaysTheNextTurn: over each interface the first turn is played, its result is
// noted, and then the play ends.
func TestModelPlaysTheNextTurn(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, path, first, second string }{
		{
			"messages", "/v1/messages", `{"tools": [{"name": "Bash"}], "messages": [{"role": "user", "content": "x"}]}`,
			`{"tools": [{"name": "Bash"}], "messages": [{"role": "user", "content": [
				{"type": "tool_result", "tool_use_id": "c1", "content": [{"text": "listed"}]}]}]}`,
		},
		{
			"responses", "/v1/responses", `{"tools": [{"name": "Bash"}], "input": [{"role": "user", "content": "go"}]}`,
			`{"tools": [{"name": "Bash"}], "input": [
				{"type": "function_call_output", "call_id": "c1", "output": "listed"}]}`,
		},
		{
			"chat", "/v1/chat/completions",
			`{"tools": [{"function": {"name": "Bash"}}], "messages": [{"role": "user", "content": "go"}]}`,
			`{"tools": [{"function": {"name": "Bash"}}], "messages": [
				{"role": "tool", "tool_call_id": "c1", "content": "listed"}]}`,
		},
		{
			"gemini", "/v1beta/models/m:generateContent",
			`{"tools": [{"functionDeclarations": [{"name": "Bash"}]}], "contents": [
				{"role": "user", "parts": [{"text": "go"}]}]}`,
			`{"tools": [{"functionDeclarations": [{"name": "Bash"}]}], "contents": [{"role": "user", "parts": [
				{"functionResponse": {"id": "c1", "response": {"output": "listed"}}}]}]}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m, err := StartModel(Turn{{ID: "c1", Tool: "Bash", Input: fields{"command": "ls -la"}}})
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			stream := strings.Replace(tt.first, "{", `{"stream": true, `, 1)
			for _, body := range []string{tt.first, stream} {
				if got := post(t, m.URL+tt.path, body); !strings.Contains(got, "ls -la") {
					t.Errorf("the call was not made: %s", got)
				}
			}
			if got := post(t, m.URL+tt.path, tt.second); strings.Contains(got, "ls -la") {
				t.Errorf("the call was made twice: %s", got)
			}
			if r, ok := m.Result("c1"); !ok || strings.TrimSpace(r.Text) != "listed" || r.IsError {
				t.Errorf("the result is %v, %v", r, ok)
			}
		})
	}
}

func post(t *testing.T, url, body string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v\n%s", url, response.Status, err, text)
	}
	return string(text)
}
