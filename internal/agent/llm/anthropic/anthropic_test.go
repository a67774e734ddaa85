package anthropic

import (
	"testing"

	"github.com/umpirehq/umpire/internal/agent/llm"
	"github.com/umpirehq/umpire/internal/agent/llm/llmtest"
)

func newModel(url string, o llm.Options) *Model {
	server := endpoint(url)
	server.Header.Set("X-Api-Key", llmtest.Key)
	return &Model{name: llmtest.ModelName, options: o, server: server}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	llmtest.RunSuite(t, llmtest.Provider{Thinks: true, Overload: llm.FailedOverload, Model: func(s *llmtest.Server, o llm.Options) llm.Model {
		return newModel(s.URL, o)
	}})
}

func TestTranscripts(t *testing.T) {
	t.Parallel()
	llmtest.RunTranscripts(t, "testdata/*.txtar", func(url string) llm.Model {
		return newModel(url, llm.Options{})
	})
}

func FuzzReply(f *testing.F) {
	llmtest.FuzzStreams(f, "testdata/*.txtar", func(url string) llm.Model {
		return newModel(url, llm.Options{})
	})
}
