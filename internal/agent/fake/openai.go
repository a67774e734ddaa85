package fake

import (
	"cmp"
	"net/http"
	"regexp"
	"strings"
)

// bearer checks the headers for both of OpenAI's interfaces and returns the key.
func bearer(h http.Header) (string, error) {
	key, ok := strings.CutPrefix(h.Get("Authorization"), "Bearer ")
	if !ok {
		return "", &refusal{status: 401, kind: "invalid_request_error", message: "You didn't provide an API key."}
	}
	return key, nil
}

// refuseOpenAI writes a refusal in the form of both interfaces.
func refuseOpenAI(w http.ResponseWriter, r *refusal) {
	optional := func(text string) any {
		if text == "" {
			return nil
		}
		return text
	}
	answerJSON(w, r, fields{"error": fields{
		"message": r.message, "type": cmp.Or(r.kind, "invalid_request_error"), "param": optional(r.param),
		"code": optional(r.code),
	}})
}

// faultOpenAI returns the refusal for a fault of the script.
func faultOpenAI(f Fault) *refusal {
	again := map[string]string{"Retry-After": "0"}
	switch f {
	case faultKey:
		return &refusal{
			status: 401, kind: "invalid_request_error", code: "invalid_api_key",
			message: "Incorrect API key provided: sk-l***2a.",
		}
	case faultRights:
		return &refusal{
			status: 403, kind: "invalid_request_error", code: "unsupported_country_region_territory",
			message: "Country, region, or territory not supported",
		}
	case faultModel:
		return &refusal{
			status: 404, kind: "invalid_request_error", code: "model_not_found",
			message: "The model `strict-2` does not exist or you do not have access to it.",
		}
	case faultTooLong:
		return &refusal{
			status: 400, kind: "invalid_request_error", code: "context_length_exceeded", param: "input",
			message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
		}
	case faultLimit:
		return &refusal{
			status: 429, kind: "requests", code: "rate_limit_exceeded", message: "Rate limit reached for strict-1",
			header: again,
		}
	case faultLongWait:
		return &refusal{
			status: 429, kind: "tokens", code: "rate_limit_exceeded", message: "Rate limit reached for strict-1",
			header: map[string]string{"Retry-After": "7200"},
		}
	case faultOverload:
		return &refusal{
			status: 503, kind: "server_error", code: "server_is_overloaded",
			message: "The engine is currently overloaded, please try again later", header: again,
		}
	case faultServer:
		return &refusal{
			status: 500, kind: "server_error", message: "The server had an error while processing your request",
			header: again,
		}
	case faultRequest, faultSilence, faultRedirect, faultBreak, faultEvent, faultHang, faultFlood:
	}
	return &refusal{status: 400, kind: "invalid_request_error", message: "llmtest: a fault of the script"}
}

var openaiName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

const maxOpenAIID = 64

// checkFunction checks an offered tool.
func checkFunction(param, name string, parameters fields, known map[string]bool) error {
	switch {
	case !openaiName.MatchString(name):
		return bad(param+".name", "Invalid '%s.name': string does not match pattern. Expected a string that matches "+
			"the pattern '^[a-zA-Z0-9_-]+$'.", param)
	case known[name]:
		return bad(param, "Tool names must be unique: %s", name)
	case parameters["type"] != "object":
		return bad(param+".parameters", "Invalid schema for function '%s': schema must be a JSON Schema of 'type: "+
			"\"object\"', got 'type: \"None\"'.", name)
	}
	known[name] = true
	return nil
}
