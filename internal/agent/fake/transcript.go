package fake

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/umpirehq/umpire/internal/agent/llm"
)

// RunTranscripts plays streams byte for byte, and compares the messages that a model makes of them.
// Each file holds "stream", as it comes over the wire, and "message", the reply as JSON, or
// "failure", the text of the error. They are written from the providers' documents and not by
// [ModelServer], to avoid the same mistake in both.
func RunTranscripts(t *testing.T, pattern string, model func(url string) llm.Model) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", pattern, len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			parts := map[string]string{}
			for _, f := range archive.Files {
				parts[f.Name] = string(f.Data)
			}
			transcript(t, parts, model)
		})
	}
}

func transcript(t *testing.T, parts map[string]string, model func(url string) llm.Model) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		w.Write([]byte(parts["stream"])) //nolint:errcheck // the client may be gone
	}))
	defer server.Close()
	m, err := model(server.URL).Reply(
		t.Context(), llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: []llm.Block{llm.Text("go")}}}},
		nil,
	)
	if want, fails := parts["failure"]; fails {
		if err == nil || err.Error() != strings.TrimSpace(want) {
			t.Errorf("got %v, want %s", err, want)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(decoded(t, parts["message"]), decoded(t, string(got))); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func decoded(t *testing.T, text string) (value any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return value
}
