package openai

import (
	"testing"

	"github.com/openai/openai-go/v3/option"

	"github.com/umpirehq/umpire/internal/llm"
	"github.com/umpirehq/umpire/internal/llm/llmtest"
)

func at(s *llmtest.Server) []option.RequestOption {
	return []option.RequestOption{option.WithBaseURL(s.URL + "/v1"), option.WithAPIKey(llmtest.Key)}
}

func TestResponses(t *testing.T) {
	t.Parallel()
	llmtest.RunSuite(t, llmtest.Provider{Thinks: true, Overload: llm.FailedServer, Model: func(s *llmtest.Server, o llm.Options) llm.Model {
		return newResponses(llmtest.ModelName, o, at(s))
	}})
}

func TestChat(t *testing.T) {
	t.Parallel()
	llmtest.RunSuite(t, llmtest.Provider{Overload: llm.FailedServer, Model: func(s *llmtest.Server, o llm.Options) llm.Model {
		return newChat(llmtest.ModelName, o, at(s))
	}})
}
