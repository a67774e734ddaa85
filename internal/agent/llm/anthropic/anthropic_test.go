package anthropic

import (
	"testing"

	"github.com/umpirehq/umpire/internal/agent/agenttest"
	"github.com/umpirehq/umpire/internal/agent/llm"
)

func newModel(url string, o llm.Options) *Model {
	server := endpoint(url)
	server.Header.Set("X-Api-Key", agenttest.Key)
	return &Model{name: agenttest.ModelName, options: o, server: server}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	agenttest.RunSuite(t, agenttest.Provider{Thinks: true, Overload: llm.FailedOverload, Model: func(s *agenttest.Server, o llm.Options) llm.Model {
		return newModel(s.URL, o)
	}})
}

func TestTranscripts(t *testing.T) {
	t.Parallel()
	agenttest.RunTranscripts(t, "testdata/*.txtar", func(url string) llm.Model {
		return newModel(url, llm.Options{})
	})
}

func FuzzReply(f *testing.F) {
	agenttest.FuzzStreams(f, "testdata/*.txtar", func(url string) llm.Model {
		return newModel(url, llm.Options{})
	})
}
