package llm

import (
	"fmt"
	"net/http"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/strictjson"
)

func badMessage(format string, args ...any) error {
	return &BadRequestError{Status: http.StatusBadRequest, Reason: fmt.Sprintf(format, args...)}
}

// Check returns a *BadRequestError for a request that the strictest of the real interfaces would
// reject: the user must speak first and last, both sides must alternate, no message may be empty,
// each tool must be described once, and each call must be answered exactly once, in the very next
// message, before anything else there, in the order of the calls.
func Check(r Request) error {
	if err := checkTools(r.Tools); err != nil {
		return err
	}
	if len(r.Messages) == 0 {
		return badMessage("messages: want at least one")
	}
	want, ids := RoleUser, map[string]bool{}
	var open []Block
	for i, m := range r.Messages {
		if m.Role != want {
			return badMessage("messages[%d]: role is %q, want %q", i, m.Role, want)
		}
		if err := checkAnswers(open, m); err != nil {
			return badMessage("messages[%d]: %v", i, err)
		}
		if err := checkBlocks(m, ids); err != nil {
			return badMessage("messages[%d].%v", i, err)
		}
		open, want = m.Calls(), otherRole(want)
	}
	if want == RoleUser {
		return badMessage("messages[%d]: the last message is not from the user", len(r.Messages)-1)
	}
	return nil
}

func otherRole(r Role) Role {
	if r == RoleUser {
		return RoleAssistant
	}
	return RoleUser
}

func checkTools(tools []Tool) error {
	known := map[string]bool{}
	for i, t := range tools {
		if t.Name == "" || known[t.Name] {
			return badMessage("tools[%d]: name %q is empty or stands twice", i, t.Name)
		}
		if kind := strictjson.KindOf(t.Schema); kind != "an object" {
			return badMessage("tools[%d]: input_schema is %s, want an object", i, kind)
		}
		known[t.Name] = true
	}
	return nil
}

// checkAnswers checks that the results of a message answer the calls of the previous one.
func checkAnswers(open []Block, m Message) error {
	results := m.Results()
	for i, call := range open {
		if i >= len(results) {
			return umpire.Errorf("call %q of the previous message has no result", call.ID)
		}
		if results[i].Call != call.ID {
			return umpire.Errorf("result %d answers call %q, want %q", i, results[i].Call, call.ID)
		}
	}
	if len(results) > len(open) {
		return umpire.Errorf(
			"result %d answers call %q, which is not an open call of the previous message", len(open),
			results[len(open)].Call,
		)
	}
	return nil
}

// checkBlocks checks that every block has the fields that its type and its side require. ids are
// those of the calls so far.
func checkBlocks(m Message, ids map[string]bool) error {
	if len(m.Content) == 0 {
		return umpire.Errorf("content: is empty")
	}
	texts := false
	for i, b := range m.Content {
		switch {
		case b.Type == TypeText && b.Text != "":
			texts = true
		case b.Type == TypeText:
			return umpire.Errorf("content[%d]: text is empty", i)
		case b.Type == TypeThinking && m.Role == RoleAssistant:
		case b.Type == TypeCall && m.Role == RoleAssistant:
			if b.ID == "" || b.Tool == "" || ids[b.ID] {
				return umpire.Errorf(
					"content[%d]: call %q of tool %q: the id or name is missing, or the id is a duplicate", i, b.ID,
					b.Tool,
				)
			}
			if kind := strictjson.KindOf(b.Input); kind != "an object" {
				return umpire.Errorf("content[%d]: input of call %q is %s, want an object", i, b.ID, kind)
			}
			ids[b.ID] = true
		case b.Type == TypeResult && m.Role == RoleUser && !texts:
		case b.Type == TypeResult && m.Role == RoleUser:
			return umpire.Errorf("content[%d]: a result must come before text", i)
		default:
			return umpire.Errorf("content[%d]: a message of role %[3]q cannot contain a block of type %[2]q",
				i, b.Type, m.Role)
		}
	}
	return nil
}
