package llm

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"strings"
)

// This file asks models over OpenAI's two interfaces: Responses, and Chat Completions, which many other servers speak
// too.
//
// The server and the credentials come from the same environment variables as for OpenAI's own programs:
// OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_ORG_ID, OPENAI_PROJECT_ID, OPENAI_CUSTOM_HEADERS.
//
// Over Responses nothing is stored at OpenAI: the model's items, with its reasoning encrypted, are
// kept as received and sent back unchanged. Chat Completions have no such items; a server's report
// of its model's thinking is passed on, but not kept.

// openAIName marks blocks that this provider requires back unchanged.
const openAIName = "openai"

// A Wire is one of OpenAI's interfaces.
type Wire uint8

// The interfaces. The zero value chooses by the base URL: Responses at OpenAI, Chat
// Completions anywhere else.
const (
	WireAuto Wire = iota
	WireResponses
	WireChat
)

const (
	openAIKey         = "OPENAI_API_KEY"
	openAIBase        = "OPENAI_BASE_URL"
	openAIDefaultBase = "https://api.openai.com/v1"
)

// NewOpenAI returns a model by its name. Without a key it fails with a [NoKeyError]; a server that
// needs no key accepts any.
func NewOpenAI(name string, w Wire, o Options) (Model, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	if os.Getenv(openAIKey) == "" {
		return nil, &NoKeyError{Provider: openAIName, Variable: openAIKey}
	}
	server := openAIEndpoint(cmp.Or(os.Getenv(openAIBase), openAIDefaultBase), os.Getenv(openAIKey))
	for variable, header := range map[string]string{
		"OPENAI_ORG_ID": "OpenAI-Organization", "OPENAI_PROJECT_ID": "OpenAI-Project",
	} {
		if value := os.Getenv(variable); value != "" {
			server.Header.Set(header, value)
		}
	}
	server.AddHeaders(os.Getenv("OPENAI_CUSTOM_HEADERS"))
	if w == WireResponses || w == WireAuto && atOpenAI(os.Getenv(openAIBase)) {
		return newResponses(name, o, server), nil
	}
	return newChat(name, o, server), nil
}

func openAIEndpoint(base, key string) *Endpoint {
	return &Endpoint{URL: base, Header: http.Header{"Authorization": {"Bearer " + key}}}
}

// atOpenAI reports whether a base URL is OpenAI's own, which "" is.
func atOpenAI(base string) bool {
	u, err := url.Parse(base)
	return base == "" || err == nil && (u.Hostname() == "openai.com" || strings.HasSuffix(u.Hostname(), ".openai.com"))
}

// A deltaFunc receives the pieces of a reply as they come in.
type deltaFunc func(Delta)

func (e deltaFunc) send(d Delta) {
	if e != nil && d != (Delta{}) {
		e(d)
	}
}

// outputOf returns the output of a result. The API has no field that marks an error, so the text
// does.
func outputOf(b *Block) string {
	if b.IsError {
		return cmp.Or(b.Output, "Error")
	}
	return b.Output
}

// endOfStream returns the error for a stream that ended before the reply did.
func endOfStream(err error) error {
	if answer, ok := errors.AsType[*answerError](err); ok {
		return openAIRefusal(answer)
	}
	if err == nil {
		return &ReplyError{Kind: FailedBroken}
	}
	return err
}

// A text is a string. If a server sends another JSON value, the text is that JSON.
type text string

// UnmarshalJSON never fails.
func (t *text) UnmarshalJSON(data []byte) error {
	var s string
	if json.Unmarshal(data, &s) != nil {
		s = string(data)
	}
	*t = text(s)
	return nil
}

var _, _ Model = (*responsesModel)(nil), (*chatModel)(nil)
