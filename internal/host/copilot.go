package host

import "github.com/umpirehq/umpire/internal/config/strictjson"

// copilotEvent derives the event from the payload's fields, because few payloads name it.
func copilotEvent(o strictjson.Object) string {
	if name, err := o.Text("hookName"); err == nil && name != "" {
		return name
	}
	for _, mark := range [][2]string{
		{"toolResult", "postToolUse"}, {"toolName", "preToolUse"}, {"toolArgs", "preToolUse"},
		{"prompt", "userPromptSubmitted"}, {"source", "sessionStart"}, {"reason", "sessionEnd"},
	} {
		if _, has := o[mark[0]]; has {
			return mark[1]
		}
	}
	return ""
}
