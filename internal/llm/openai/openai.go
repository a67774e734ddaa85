// Package openai asks models over OpenAI's two interfaces, through OpenAI's SDK:
// Responses, and Chat Completions, which many other servers speak too.
//
//	model, err := openai.New("gpt-5.2", openai.Auto, llm.Options{}) message, err :=
//	model.Reply(ctx, request, nil)
//
// The key, the base URL and what else there is are read from the environment as the
// SDK does: OPENAI_API_KEY, OPENAI_BASE_URL. Requests that fail before a reply begins
// are tried again by the SDK, twice, and later if the server asks for it.
//
// Over Responses nothing is stored at OpenAI: what the model said, its reasoning encrypted,
// is kept as the items that came and sent back unchanged. Chat Completions have no such
// items; a server's account of its model's thinking is passed on, and is not kept.
package openai

import (
	"cmp"
	"net/url"
	"os"
	"strings"

	sdk "github.com/openai/openai-go/v3"

	"github.com/umpirehq/umpire/internal/llm"
)

// provider marks what this provider wants back unchanged.
const provider = "openai"

// A Wire is one of OpenAI's interfaces.
type Wire uint8

// The interfaces. The zero value chooses by the base URL: Responses at OpenAI, Chat
// Completions anywhere else.
const (
	Auto Wire = iota
	Responses
	Chat
)

const (
	keyVariable  = "OPENAI_API_KEY"
	baseVariable = "OPENAI_BASE_URL"
)

// New returns a model by its name. Without a key it fails with a *llm.NoKeyError; a
// server that needs none takes any.
func New(name string, w Wire, o llm.Options) (llm.Model, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	if os.Getenv(keyVariable) == "" {
		return nil, &llm.NoKeyError{Provider: provider, Variable: keyVariable}
	}
	options := sdk.DefaultClientOptions()
	if w == Responses || w == Auto && atOpenAI(os.Getenv(baseVariable)) {
		return newResponses(name, o, options), nil
	}
	return newChat(name, o, options), nil
}

// atOpenAI reports whether a base URL leads to OpenAI itself; none does.
func atOpenAI(base string) bool {
	u, err := url.Parse(base)
	return base == "" || err == nil && (u.Hostname() == "openai.com" || strings.HasSuffix(u.Hostname(), ".openai.com"))
}

// A deltaFunc receives the pieces of a reply as they come in.
type deltaFunc func(llm.Delta)

func (e deltaFunc) send(d llm.Delta) {
	if e != nil && d != (llm.Delta{}) {
		e(d)
	}
}

// outputOf is the output of a result. The API has no field that marks an error; the text says
// it.
func outputOf(b *llm.Block) string {
	if b.IsError {
		return cmp.Or(b.Output, "Error")
	}
	return b.Output
}

// endOfStream says why a stream ended before the reply did.
func endOfStream(line *llm.Line, err error, begun bool) error {
	if cause := line.Failure(); cause != nil {
		return cause
	}
	return failureOf(err, begun)
}

var _, _ llm.Model = (*responsesModel)(nil), (*chatModel)(nil)
