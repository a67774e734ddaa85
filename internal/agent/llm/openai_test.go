package llm_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/umpirehq/umpire/internal/agent/fake"
	"github.com/umpirehq/umpire/internal/agent/llm"
)

func at(s *fake.ModelServer) *llm.Endpoint { return llm.OpenAIEndpoint(s.URL+"/v1", fake.ModelKey) }

func TestResponses(t *testing.T) {
	t.Parallel()
	fake.RunSuite(t, fake.Provider{Thinks: true, Overload: llm.FailedServer, Model: func(s *fake.ModelServer, o llm.Options) llm.Model {
		return llm.NewResponses(fake.ModelName, o, at(s))
	}})
}

func TestChat(t *testing.T) {
	t.Parallel()
	fake.RunSuite(t, fake.Provider{Overload: llm.FailedServer, Model: func(s *fake.ModelServer, o llm.Options) llm.Model {
		return llm.NewChat(fake.ModelName, o, at(s))
	}})
}

func TestOpenAITranscripts(t *testing.T) {
	t.Parallel()
	fake.RunTranscripts(t, "testdata/responses_*.txtar", func(url string) llm.Model {
		return llm.NewResponses(fake.ModelName, llm.Options{}, llm.OpenAIEndpoint(url, fake.ModelKey))
	})
	fake.RunTranscripts(t, "testdata/chat_*.txtar", func(url string) llm.Model {
		return llm.NewChat(fake.ModelName, llm.Options{}, llm.OpenAIEndpoint(url, fake.ModelKey))
	})
}

// TestOpenAIIsKnownByItsAddress: any other server is asked in the way that they all speak.
func TestOpenAIIsKnownByItsAddress(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]bool{
		"": true, "https://api.openai.com/v1": true, "https://eu.api.openai.com/v1/": true, "http://127.0.0.1:8080/v1": false,
		"https://openai.com.example.org/v1": false, "https://notopenai.com/v1": false, "://": false,
	} {
		if got := llm.AtOpenAI(base); got != want {
			t.Errorf("%q: %v", base, got)
		}
	}
}

// TestModelThatDoesNotReason refuses to give reasoning, and is asked without from then on.
func TestModelThatDoesNotReason(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		include := strings.Contains(string(body), "reasoning.encrypted_content")
		mu.Lock()
		asked = append(asked, include)
		mu.Unlock()
		if include {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, `{"error": {"message": "Encrypted content is not supported with this model.", "type": "invalid_request_error", "param": "include", "code": null}}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\"}}\n\n")
	}))
	defer server.Close()
	model := llm.NewResponses("gpt-4.1", llm.Options{}, llm.OpenAIEndpoint(server.URL, "k"))
	for range 2 {
		if _, err := model.Reply(t.Context(), llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: []llm.Block{llm.Text("go")}}}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if want := []bool{true, false, false}; !slices.Equal(asked, want) {
		t.Errorf("asked with reasoning: %v, want %v", asked, want)
	}
}

func FuzzResponsesReply(f *testing.F) {
	fake.FuzzStreams(f, "testdata/responses_*.txtar", func(url string) llm.Model {
		return llm.NewResponses(fake.ModelName, llm.Options{}, llm.OpenAIEndpoint(url, fake.ModelKey))
	})
}

func FuzzChatReply(f *testing.F) {
	fake.FuzzStreams(f, "testdata/chat_*.txtar", func(url string) llm.Model {
		return llm.NewChat(fake.ModelName, llm.Options{}, llm.OpenAIEndpoint(url, fake.ModelKey))
	})
}
