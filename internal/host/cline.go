package host

import (
	"encoding/json"
	"strings"

	"github.com/umpirehq/umpire/internal/config/strictjson"
	"github.com/umpirehq/umpire/shell"
)

// clineEvent returns the event of a payload. Older versions use other names and other fields.
func clineEvent(o strictjson.Object) string {
	name, err := o.Text("hookName")
	if err != nil {
		return ""
	}
	if _, has := o["tool_call"]; has && name == "PreToolUse" {
		return "tool_call"
	}
	return name
}

// completeCline reads the tools that take lists. An input in another shape is judged as that of an
// unknown tool.
func completeCline(e *Event, input strictjson.Object) error {
	field, value := "", any(nil)
	switch e.ToolName {
	case "run_commands":
		if line := clineLine(input["commands"]); line != "" {
			field, value = "command", line
		}
	case "read_files":
		if files := clineList(input["files"]); len(files) > 0 {
			field, value = "paths", files
		}
	case "fetch_web_content":
		if pages := clineList(input["requests"]); len(pages) == 1 {
			page, err := strictjson.ReadObject(pages[0])
			if err != nil {
				return err
			}
			field, value = "url", page["url"]
		}
	default:
		return completePatch(e, input)
	}
	if field == "" {
		e.Call.Tool = e.ToolName
		e.setInput(e.sent)
		return nil
	}
	e.setInput(strictjson.Object{field: encode(value)})
	return nil
}

// clineList returns a list, or nil for any other value.
func clineList(raw json.RawMessage) (list []json.RawMessage) {
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

// clineLine returns a command, or a list of commands as one line; "" if the input is not
// understood. Cline starts a shell for each, all at once, but joins some if one looks like the
// start of a here-document.
func clineLine(raw json.RawMessage) string {
	var lines []string
	if one := ""; json.Unmarshal(raw, &one) == nil {
		return one
	}
	for _, item := range clineList(raw) {
		var line string
		if json.Unmarshal(item, &line) != nil || line == "" {
			return ""
		}
		lines = append(lines, line)
	}
	if len(lines) < 2 {
		return strings.Join(lines, "")
	}
	for i, line := range lines {
		if strings.Contains(line, "<<") {
			return ""
		}
		lines[i] = "bash -c " + shell.Quote(line)
	}
	return strings.Join(lines, "\n")
}
