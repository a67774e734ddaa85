package anthropic

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/umpirehq/umpire/internal/llm"
)

// statusOverloaded is Anthropic's own status for having too much to do.
const statusOverloaded = 529

// failureOf turns an error of the SDK into the reason why there is no reply. The types are
// those of https://platform.claude.com/docs/en/api/errors.
func failureOf(err error, begun bool) error {
	answer, ok := errors.AsType[*sdk.Error](err)
	switch {
	case ok && answer.StatusCode == http.StatusOK:
		// The failure stood in the stream, where no status is.
		return &llm.ReplyError{Kind: kindOf(string(answer.Type()), 0), Reason: reasonOf(answer)}
	case ok && answer.StatusCode == http.StatusBadRequest && !tooLong(reasonOf(answer)):
		return &llm.BadRequestError{Status: answer.StatusCode, Reason: reasonOf(answer)}
	case ok && tooLong(reasonOf(answer)):
		return &llm.ReplyError{Kind: llm.FailedTooLong, Status: answer.StatusCode, Reason: reasonOf(answer)}
	case ok:
		return &llm.ReplyError{
			Kind: kindOf(string(answer.Type()), answer.StatusCode), Status: answer.StatusCode, Reason: reasonOf(answer),
		}
	case begun || err == nil:
		return &llm.ReplyError{Kind: llm.FailedBroken, Err: err}
	}
	return &llm.ReplyError{Kind: llm.FailedConnection, Err: err}
}

// kindOf takes the type that the server gives, and the status where it gives none.
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

// tooLong recognizes the refusal of a conversation that does not fit; it has no type
// of its own.
func tooLong(reason string) bool {
	return strings.Contains(reason, "prompt is too long") || strings.Contains(reason, "exceed context limit") ||
		strings.Contains(reason, "request_too_large")
}

// reasonOf is what the server said.
func reasonOf(answer *sdk.Error) string {
	var body struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(answer.RawJSON()), &body) == nil && body.Error.Message != "" {
		return body.Error.Message
	}
	return answer.RawJSON()
}
