package openai

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/umpirehq/umpire/internal/agent/llm"
)

// A serverError is the error in a server's answer. The codes are those of
// https://developers.openai.com/api/docs/guides/error-codes.
type serverError struct {
	Code    string `json:"code"` // empty if a server gives a number
	Type    string `json:"type"`
	Message string `json:"message"`
	Param   string `json:"param"`
}

// refusalOf returns the error for an answer in place of a reply.
func refusalOf(answer *llm.AnswerError) error {
	var body struct {
		Error serverError `json:"error"`
	}
	_ = json.Unmarshal(answer.Body, &body) // an answer in another form is shown unchanged
	reason := cmp.Or(body.Error.Message, string(answer.Body))
	kind := kindOf(cmp.Or(body.Error.Code, body.Error.Type), answer.Status)
	switch {
	case tooLong(body.Error.Code, reason):
		kind = llm.FailedTooLong
	case answer.Status == http.StatusBadRequest:
		return &badRequestError{
			BadRequestError: llm.BadRequestError{Status: answer.Status, Reason: reason}, param: body.Error.Param,
		}
	}
	return &llm.ReplyError{Kind: kind, Status: answer.Status, Reason: reason}
}

// A badRequestError also names the parameter that the server rejects.
type badRequestError struct {
	llm.BadRequestError

	param string
}

// Unwrap returns the form that all providers share.
func (b *badRequestError) Unwrap() error { return &b.BadRequestError }

// streamFailure returns the error for a failure in the middle of a reply.
func streamFailure(code, reason string) error {
	if tooLong(code, reason) {
		return &llm.ReplyError{Kind: llm.FailedTooLong, Reason: reason}
	}
	return &llm.ReplyError{Kind: kindOf(code, 0), Reason: cmp.Or(reason, code)}
}

// kindOf classifies an error by the server's code, or by the status without a code.
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
