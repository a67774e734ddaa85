package host

import (
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/strictjson"
)

// completePatch reads the files of a patch in Codex's format. A patch that deletes or moves a file
// is judged as the deletion of all files that it names.
func completePatch(e *Event, input strictjson.Object) error {
	if e.ToolName != "apply_patch" && e.ToolName != "patch" {
		return nil
	}
	field := "command"
	for _, name := range []string{"patchText", "input"} {
		if _, has := input[name]; has {
			field = name
		}
	}
	text, err := input.RequiredText(field)
	if err != nil {
		return err
	}
	paths, deletes := patchedFiles(text)
	if len(paths) == 0 {
		return umpire.Errorf("%s: the patch names no file", field)
	}
	if deletes {
		e.Call.Tool = "Delete"
	}
	e.setInput(strictjson.Object{"paths": encode(paths), "patch": encode(text)})
	return nil
}

// patchedFiles returns the files that a patch names, and whether it removes one of them.
func patchedFiles(patch string) (paths []string, deletes bool) {
	for line := range strings.Lines(patch) {
		for _, head := range [...]struct {
			text  string
			takes bool
		}{{"*** Add File:", false}, {"*** Update File:", false}, {"*** Delete File:", true}, {"*** Move to:", true}} {
			if path, found := strings.CutPrefix(strings.TrimSpace(line), head.text); found {
				paths, deletes = append(paths, strings.TrimSpace(path)), deletes || head.takes
			}
		}
	}
	return paths, deletes
}
