package fake

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/umpirehq/umpire/internal/agent/llm"
)

// FuzzStreams plays streams that no provider would send, made from the transcripts: the model must
// return either an error or a message that can be kept.
func FuzzStreams(f *testing.F, pattern string, model func(url string) llm.Model) {
	f.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		f.Fatalf("%s: %d files, %v", pattern, len(files), err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(archive.Files[0].Data)
	}
	var stream atomic.Pointer[[]byte]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Write(*stream.Load()) //nolint:errcheck // the client may be gone
	}))
	f.Cleanup(server.Close)
	asked := model(server.URL)
	f.Fuzz(func(t *testing.T, data []byte) {
		stream.Store(&data)
		began := time.Now()
		m, err := asked.Reply(
			t.Context(),
			llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: []llm.Block{llm.Text("go")}}}},
			func(llm.Delta) {},
		)
		if err != nil {
			if time.Since(began) > time.Minute {
				t.Errorf("an error after %v: %v", time.Since(began), err)
			}
			return
		}
		keepable(t, m)
	})
}

// keepable checks that a message can be stored and sent again.
func keepable(t *testing.T, m llm.Message) {
	t.Helper()
	if _, err := json.Marshal(m); err != nil {
		t.Error(err)
	}
	if m.Role != llm.RoleAssistant {
		t.Errorf("role %q", m.Role)
	}
	for _, b := range m.Content {
		switch b.Type {
		case llm.TypeText:
		case llm.TypeThinking:
			if b.Provider == "" || !json.Valid(b.Raw) {
				t.Errorf("thinking %+v", b)
			}
		case llm.TypeCall:
			var input map[string]json.RawMessage
			if json.Unmarshal(b.Input, &input) != nil || input == nil {
				t.Errorf("input %s", b.Input)
			}
		case llm.TypeResult:
			t.Error("a model gives no results")
		}
	}
}
