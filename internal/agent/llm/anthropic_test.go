package llm_test

import (
	"testing"

	"github.com/umpirehq/umpire/internal/agent/fake"
	"github.com/umpirehq/umpire/internal/agent/llm"
)

func anthropicAt(url string, o llm.Options) llm.Model {
	return llm.AnthropicAt(url, fake.ModelName, fake.ModelKey, o)
}

func TestMessages(t *testing.T) {
	t.Parallel()
	fake.RunSuite(t, fake.Provider{
		Thinks: true, Overload: llm.FailedOverload,
		Model: func(s *fake.ModelServer, o llm.Options) llm.Model { return anthropicAt(s.URL, o) },
	})
}

func TestAnthropicTranscripts(t *testing.T) {
	t.Parallel()
	fake.RunTranscripts(t, "testdata/messages_*.txtar", func(url string) llm.Model {
		return anthropicAt(url, llm.Options{})
	})
}

func FuzzReply(f *testing.F) {
	fake.FuzzStreams(f, "testdata/messages_*.txtar", func(url string) llm.Model {
		return anthropicAt(url, llm.Options{})
	})
}
