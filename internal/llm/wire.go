package llm

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"strings"
)

// What providers accept as the id of a call and as the name of a tool, the strictest
// of them. A request with another one is refused as a whole, and would be for ever.
var (
	wireID   = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	wireName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	offWire  = regexp.MustCompile(`[^A-Za-z0-9_-]`)
)

// WireID returns the id under which a call is known to a provider: its own, or one
// that follows from it when providers would refuse it.
func WireID(id string) string {
	if wireID.MatchString(id) {
		return id
	}
	return "call_" + digest(id)
}

// WireName returns a name of a tool that providers accept. A model may call a tool by
// any name; the call stays in the conversation although no such tool is there.
func WireName(name string) string {
	if wireName.MatchString(name) {
		return name
	}
	plain := offWire.ReplaceAllString(name, "_")
	return plain[:min(len(plain), 40)] + "_" + digest(name)
}

// digest is short enough to stand in an id.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// Arguments makes the block of a call from what a model wrote as its input. What is
// not a JSON object makes a broken call; cut says that the reply was cut off.
func Arguments(id, tool, text string, cut bool) Block {
	text = strings.TrimSpace(text)
	if text == "" && !cut {
		return Call(id, tool, nil)
	}
	input := json.RawMessage(text)
	if json.Valid(input) && sortOf(input) == "an object" {
		return Call(id, tool, input)
	}
	call := Call(id, tool, nil)
	call.Broken = "The input was not a JSON object. Make the call again with a correct one."
	if cut {
		call.Broken = "The reply was cut off before the input was complete. Make the call again with a shorter input, or in several steps."
	}
	return call
}

// Sendable returns the content of a message as providers accept it: without texts that
// show nothing, and without the thinking of other providers. When nothing but thinking
// is left, as of a reply that was cut off in it, silence is.
func Sendable(m Message, provider string) []Block {
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

// silence stands for a message that says nothing, which no provider accepts.
const silence = "(nothing)"
