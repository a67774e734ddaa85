package anthropic

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/umpirehq/umpire/internal/agent/llm"
)

// statusOverloaded is Anthropic's own status for an overloaded server.
const statusOverloaded = 529

// A serverError is the error in a server's answer. The types are those of
// https://platform.claude.com/docs/en/api/errors.
type serverError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// failure returns the error of an event in a stream, which has no status.
func (e *serverError) failure() error {
	return &llm.ReplyError{Kind: kindOf(e.Type, 0), Reason: cmp.Or(e.Message, e.Type)}
}

// failureOf returns the error for a stream that ended before the reply did.
func failureOf(err error) error {
	answer, ok := errors.AsType[*llm.AnswerError](err)
	if !ok {
		return cmp.Or(err, error(&llm.ReplyError{Kind: llm.FailedBroken}))
	}
	var body struct {
		Error serverError `json:"error"`
	}
	_ = json.Unmarshal(answer.Body, &body) // an answer in another form is shown unchanged
	reason := cmp.Or(body.Error.Message, string(answer.Body))
	kind := kindOf(body.Error.Type, answer.Status)
	switch {
	case tooLong(reason):
		kind = llm.FailedTooLong
	case answer.Status == http.StatusBadRequest:
		return &llm.BadRequestError{Status: answer.Status, Reason: reason}
	}
	return &llm.ReplyError{Kind: kind, Status: answer.Status, Reason: reason}
}

// kindOf classifies an error by the server's type, or by the status without a type.
func kindOf(errorType string, status int) llm.FailureKind {
	switch {
	case errorType == "authentication_error" || status == http.StatusUnauthorized:
		return llm.FailedKey
	case errorType == "permission_error" || status == http.StatusForbidden:
		return llm.FailedRights
	case errorType == "not_found_error" || status == http.StatusNotFound:
		return llm.FailedModel
	case errorType == "rate_limit_error" || errorType == "billing_error" || status == http.StatusTooManyRequests:
		return llm.FailedLimit
	case errorType == "overloaded_error" || status == statusOverloaded || status == http.StatusServiceUnavailable:
		return llm.FailedOverload
	case status == http.StatusRequestEntityTooLarge:
		return llm.FailedTooLong
	case errorType == "api_error" || errorType == "timeout_error" || status >= http.StatusInternalServerError:
		return llm.FailedServer
	}
	return llm.FailedUnknown
}

// tooLong recognizes the refusal of a conversation that does not fit; the API gives it no separate
// type.
func tooLong(reason string) bool {
	return strings.Contains(reason, "prompt is too long") || strings.Contains(reason, "exceed context limit") ||
		strings.Contains(reason, "request_too_large")
}
