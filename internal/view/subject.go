package view

import "encoding/json"

// subjectFields are the inputs that best describe a call, the best first.
var subjectFields = []string{"command", "cmd", "file_path", "path", "filePath", "url", "pattern", "bash_id",
	"shell_id", "description"}

// SubjectOf describes a call in one line by its input, such as its command or its path.
func SubjectOf(input json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil {
		return string(input)
	}
	for _, name := range subjectFields {
		var text string
		if json.Unmarshal(fields[name], &text) == nil && text != "" {
			return text
		}
	}
	return string(input)
}
