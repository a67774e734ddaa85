package llm

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
)

// statusOverloaded is Anthropic's own status for an overloaded server.
const statusOverloaded = 529

// An anthropicError is the error in a server's answer. The types are those of
// https://platform.claude.com/docs/en/api/errors.
type anthropicError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// failure returns the error of an event in a stream, which has no status.
func (e *anthropicError) failure() error {
	return &ReplyError{Kind: anthropicFailureKind(e.Type, 0), Reason: cmp.Or(e.Message, e.Type)}
}

// anthropicFailure returns the error for a stream that ended before the reply did.
func anthropicFailure(err error) error {
	answer, ok := errors.AsType[*answerError](err)
	if !ok {
		return cmp.Or(err, error(&ReplyError{Kind: FailedBroken}))
	}
	var body struct {
		Error anthropicError `json:"error"`
	}
	_ = json.Unmarshal(answer.Body, &body) // an answer in another form is shown unchanged
	reason := cmp.Or(body.Error.Message, string(answer.Body))
	kind := anthropicFailureKind(body.Error.Type, answer.Status)
	switch {
	case anthropicSaysTooLong(reason):
		kind = FailedTooLong
	case answer.Status == http.StatusBadRequest:
		return &BadRequestError{Status: answer.Status, Reason: reason}
	}
	return &ReplyError{Kind: kind, Status: answer.Status, Reason: reason}
}

// anthropicFailureKind classifies an error by the server's type, or by the status without a type.
func anthropicFailureKind(errorType string, status int) FailureKind {
	switch {
	case errorType == "authentication_error" || status == http.StatusUnauthorized:
		return FailedKey
	case errorType == "permission_error" || status == http.StatusForbidden:
		return FailedRights
	case errorType == "not_found_error" || status == http.StatusNotFound:
		return FailedModel
	case errorType == "rate_limit_error" || errorType == "billing_error" || status == http.StatusTooManyRequests:
		return FailedLimit
	case errorType == "overloaded_error" || status == statusOverloaded || status == http.StatusServiceUnavailable:
		return FailedOverload
	case status == http.StatusRequestEntityTooLarge:
		return FailedTooLong
	case errorType == "api_error" || errorType == "timeout_error" || status >= http.StatusInternalServerError:
		return FailedServer
	}
	return FailedUnknown
}

// anthropicSaysTooLong recognizes the refusal of a conversation that does not fit; the API gives it no separate
// type.
func anthropicSaysTooLong(reason string) bool {
	return strings.Contains(reason, "prompt is too long") || strings.Contains(reason, "exceed context limit") ||
		strings.Contains(reason, "request_too_large")
}
