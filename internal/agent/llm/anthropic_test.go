package llm_test

import (
	"testing"

	"github.com/umpirehq/umpire/internal/agent/agenttest"
	"github.com/umpirehq/umpire/internal/agent/llm"
)

func anthropicAt(url string, o llm.Options) llm.Model {
	return llm.AnthropicAt(url, agenttest.ModelName, agenttest.Key, o)
}

func TestMessages(t *testing.T) {
	t.Parallel()
	agenttest.RunSuite(t, agenttest.Provider{
		Thinks: true, Overload: llm.FailedOverload,
		Model: func(s *agenttest.Server, o llm.Options) llm.Model { return anthropicAt(s.URL, o) },
	})
}

func TestAnthropicTranscripts(t *testing.T) {
	t.Parallel()
	agenttest.RunTranscripts(t, "testdata/messages_*.txtar", func(url string) llm.Model {
		return anthropicAt(url, llm.Options{})
	})
}

func FuzzReply(f *testing.F) {
	agenttest.FuzzStreams(f, "testdata/messages_*.txtar", func(url string) llm.Model {
		return anthropicAt(url, llm.Options{})
	})
}
