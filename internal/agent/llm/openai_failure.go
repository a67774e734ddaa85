package llm

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"
)

// An openAIError is the error in a server's answer. The codes are those of
// https://developers.openai.com/api/docs/guides/error-codes.
type openAIError struct {
	Code    string `json:"code"` // empty if a server gives a number
	Type    string `json:"type"`
	Message string `json:"message"`
	Param   string `json:"param"`
}

// openAIRefusal returns the error for an answer in place of a reply.
func openAIRefusal(answer *answerError) error {
	var body struct {
		Error openAIError `json:"error"`
	}
	_ = json.Unmarshal(answer.Body, &body) // an answer in another form is shown unchanged
	reason := cmp.Or(body.Error.Message, string(answer.Body))
	kind := openAIFailureKind(cmp.Or(body.Error.Code, body.Error.Type), answer.Status)
	switch {
	case openAISaysTooLong(body.Error.Code, reason):
		kind = FailedTooLong
	case answer.Status == http.StatusBadRequest:
		return &badRequestError{
			BadRequestError: BadRequestError{Status: answer.Status, Reason: reason}, param: body.Error.Param,
		}
	}
	return &ReplyError{Kind: kind, Status: answer.Status, Reason: reason}
}

// A badRequestError also names the parameter that the server rejects.
type badRequestError struct {
	BadRequestError

	param string
}

// Unwrap returns the form that all providers share.
func (b *badRequestError) Unwrap() error { return &b.BadRequestError }

// openAIStreamFailure returns the error for a failure in the middle of a reply.
func openAIStreamFailure(code, reason string) error {
	if openAISaysTooLong(code, reason) {
		return &ReplyError{Kind: FailedTooLong, Reason: reason}
	}
	return &ReplyError{Kind: openAIFailureKind(code, 0), Reason: cmp.Or(reason, code)}
}

// openAIFailureKind classifies an error by the server's code, or by the status without a code.
func openAIFailureKind(code string, status int) FailureKind {
	switch {
	case code == "invalid_api_key" || status == http.StatusUnauthorized:
		return FailedKey
	case status == http.StatusForbidden:
		return FailedRights
	case code == "model_not_found" || status == http.StatusNotFound:
		return FailedModel
	case code == "rate_limit_exceeded" || code == "insufficient_quota" || status == http.StatusTooManyRequests:
		return FailedLimit
	case code == "server_is_overloaded" || code == "slow_down" || status == http.StatusServiceUnavailable:
		return FailedOverload
	case status == http.StatusRequestEntityTooLarge:
		return FailedTooLong
	case code == "server_error" || status >= http.StatusInternalServerError:
		return FailedServer
	}
	return FailedUnknown
}

// openAISaysTooLong recognizes the refusal of a conversation that does not fit. Other servers
// have no code for it.
func openAISaysTooLong(code, reason string) bool {
	if code == "context_length_exceeded" {
		return true
	}
	reason = strings.ToLower(reason)
	return strings.Contains(reason, "maximum context length") || strings.Contains(reason, "context window") ||
		strings.Contains(reason, "exceeds the available context size")
}
