package anthropic

import (
	"testing"

	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/umpirehq/umpire/internal/llm"
	"github.com/umpirehq/umpire/internal/llm/llmtest"
)

func TestMessages(t *testing.T) {
	t.Parallel()
	llmtest.RunSuite(t, llmtest.Provider{Thinks: true, Overload: llm.FailedOverload, Model: func(s *llmtest.Server, o llm.Options) llm.Model {
		return newModel(llmtest.ModelName, o, []option.RequestOption{option.WithBaseURL(s.URL), option.WithAPIKey(llmtest.Key)})
	}})
}

func TestTranscripts(t *testing.T) {
	t.Parallel()
	llmtest.RunTranscripts(t, "testdata/*.txtar", func(url string) llm.Model {
		return newModel(llmtest.ModelName, llm.Options{}, []option.RequestOption{option.WithBaseURL(url), option.WithAPIKey(llmtest.Key)})
	})
}

func FuzzReply(f *testing.F) {
	llmtest.FuzzStreams(f, "testdata/*.txtar", func(url string) llm.Model {
		return newModel(llmtest.ModelName, llm.Options{}, []option.RequestOption{option.WithBaseURL(url), option.WithAPIKey(llmtest.Key), option.WithMaxRetries(0)})
	})
}
