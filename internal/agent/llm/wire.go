package llm

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/umpirehq/umpire/internal/config/strictjson"
)

// fields is a JSON object.
type fields map[string]any

// maxWire is the longest call id and tool name that the strictest provider accepts. A request with
// a longer one, or with characters that are not [plain], is rejected as a whole, every time.
const maxWire = 64

// isPlainRune reports whether providers accept a character in names.
func isPlainRune(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-'
}

// Plain reports whether providers accept a text as a name, except for its length.
func Plain(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool { return !isPlainRune(r) })
}

// WireID returns the id of a call for providers: its own, or one derived from it if providers would
// reject it.
func WireID(id string) string {
	if len(id) <= maxWire && Plain(id) {
		return id
	}
	return "call_" + shortDigest(id)
}

// WireName returns a tool name that providers accept. A model may call a tool by any name, and the
// call stays in the conversation even if no such tool exists.
func WireName(name string) string {
	if len(name) <= maxWire && Plain(name) {
		return name
	}
	start := strings.Map(func(r rune) rune {
		if isPlainRune(r) {
			return r
		}
		return '_'
	}, name)
	return start[:min(len(start), 40)] + "_" + shortDigest(name)
}

// shortDigest returns a digest that is short enough for an id.
func shortDigest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// Arguments returns the block of a call with the model's text as its input. Input that is not a
// JSON object makes a broken call; cut means that the reply was cut off.
func Arguments(id, tool, text string, cut bool) Block {
	text = strings.TrimSpace(text)
	if text == "" && !cut {
		return Call(id, tool, nil)
	}
	input := json.RawMessage(text)
	if json.Valid(input) && strictjson.KindOf(input) == "an object" {
		return Call(id, tool, input)
	}
	call := Call(id, tool, nil)
	call.Broken = "The input was not a JSON object. Make the call again with a correct one."
	if cut {
		call.Broken = "The reply was cut off before the input was complete. Make the call again with a shorter " +
			"input, or in several steps."
	}
	return call
}

// sendable returns the content of a message as providers accept it: without blank texts, and
// without the thinking of other providers. If only thinking remains, as in a reply that was cut off
// during it, Sendable returns silence.
func sendable(m Message, provider string) []Block {
	var kept []Block
	says := false
	for _, b := range m.Content {
		switch b.Type {
		case TypeText:
			if strings.TrimSpace(b.Text) == "" {
				continue
			}
		case TypeThinking:
			if !b.Own(provider) {
				continue
			}
		case TypeCall, TypeResult:
		}
		kept = append(kept, b)
		says = says || b.Type != TypeThinking
	}
	if !says {
		return []Block{Text(silence)}
	}
	return kept
}

// silence replaces an empty message, which no provider accepts.
const silence = "(nothing)"
