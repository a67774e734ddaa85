package openai

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/umpirehq/umpire/internal/llm"
)

// failureOf turns an error of the SDK into the reason why there is no reply. The codes are
// those of https://developers.openai.com/api/docs/guides/error-codes.
func failureOf(err error, begun bool) error {
	answer, ok := errors.AsType[*sdk.Error](err)
	if ok {
		return refusalOf(answer)
	}
	if inStream, ok := errors.AsType[*ssestream.StreamError](err); ok {
		var body struct {
			Error struct {
				Code    any    `json:"code"`
				Type    string `json:"type"`
				Message string `json:"message"`
			} `json:"error"`
		}
		if json.Unmarshal(inStream.Event.Data, &body) != nil {
			return streamFailure("", inStream.Message)
		}
		code, _ := body.Error.Code.(string) // some servers give a number
		return streamFailure(cmp.Or(code, body.Error.Type), body.Error.Message)
	}
	if begun || err == nil {
		return &llm.ReplyError{Kind: llm.FailedBroken, Err: err}
	}
	return &llm.ReplyError{Kind: llm.FailedConnection, Err: err}
}

// refusalOf is an answer of the server instead of a reply.
func refusalOf(answer *sdk.Error) error {
	reason := cmp.Or(answer.Message, answer.RawJSON())
	kind := kindOf(cmp.Or(answer.Code, answer.Type), answer.StatusCode)
	switch {
	case tooLong(answer.Code, reason):
		kind = llm.FailedTooLong
	case answer.StatusCode == http.StatusBadRequest:
		return &badRequestError{
			BadRequestError: llm.BadRequestError{Status: answer.StatusCode, Reason: reason}, answer: answer,
		}
	}
	return &llm.ReplyError{Kind: kind, Status: answer.StatusCode, Reason: reason}
}

// A badRequestError also holds what the server said in its own form.
type badRequestError struct {
	llm.BadRequestError

	answer *sdk.Error
}

// Unwrap returns both forms.
func (b *badRequestError) Unwrap() []error { return []error{&b.BadRequestError, b.answer} }

// streamFailure is a failure that came instead of the rest of a reply.
func streamFailure(code, reason string) error {
	if tooLong(code, reason) {
		return &llm.ReplyError{Kind: llm.FailedTooLong, Reason: reason}
	}
	return &llm.ReplyError{Kind: kindOf(code, 0), Reason: cmp.Or(reason, code)}
}

// kindOf takes the code that the server gives, and the status where it gives none.
func kindOf(code string, status int) llm.FailureKind {
	switch {
	case code == "invalid_api_key" || status == http.StatusUnauthorized:
		return llm.FailedKey
	case status == http.StatusForbidden:
		return llm.FailedRights
	case code == "model_not_found" || status == http.StatusNotFound:
		return llm.FailedModel
	case code == "rate_limit_exceeded" || code == "insufficient_quota" || status == http.StatusTooManyRequests:
		return llm.FailedLimit
	case code == "server_is_overloaded" || code == "slow_down" || status == http.StatusServiceUnavailable:
		return llm.FailedOverload
	case status == http.StatusRequestEntityTooLarge:
		return llm.FailedTooLong
	case code == "server_error" || status >= http.StatusInternalServerError:
		return llm.FailedServer
	}
	return llm.FailedUnknown
}

// tooLong recognizes the refusal of a conversation that does not fit. Other servers
// have no code for it.
func tooLong(code, reason string) bool {
	if code == "context_length_exceeded" {
		return true
	}
	reason = strings.ToLower(reason)
	return strings.Contains(reason, "maximum context length") || strings.Contains(reason, "context window") ||
		strings.Contains(reason, "exceeds the available context size")
}
