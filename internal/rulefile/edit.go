package rulefile

import (
	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/docedit"
)

// An edit changes the text of a rule file and leaves everything else alone: comments, unknown
// keys and the author's layout.
type edit struct {
	doc *docedit.Doc
	// read are the rules of the list, one per element, as loading names them.
	read []named
}

// emptyFile is the initial content of a rule file.
const emptyFile = "{\n  \"version\": 1,\n  \"rules\": []\n}\n"

// newEdit parses a text for editing. An invalid text is an error, because an edit could
// not preserve it.
func newEdit(path string, data []byte) (*edit, error) {
	doc, err := docedit.Open(docedit.JSON, data)
	scratch := &reader{layer: Layer{Path: path}, keep: true}
	if err == nil {
		err = scratch.readJSON(data)
	}
	if err != nil {
		return nil, problemOf(path, err)
	}
	return &edit{doc, scratch.read}, nil
}

// addRule returns the text with one more rule at the end of the list.
func (e *edit) addRule(r umpire.Rule) ([]byte, error) {
	to, value := e.doc.Root, any([]umpire.Rule{r})
	if list, listed := e.list(); listed {
		to, value = list, r
	}
	next, err := e.doc.Append(to, "rules", value)
	if err != nil {
		return nil, umpire.Errorf("rule %q: %w", r.ID, err)
	}
	return next.Bytes(), nil
}

// list returns the list of rules, if the file has one.
func (e *edit) list() (list *docedit.Value, listed bool) {
	list = e.doc.Root.At("rules")
	return list, list.Kind == docedit.List
}

// remove returns the text without the i-th rule. Comments stay.
func (e *edit) remove(i int) ([]byte, error) {
	list, _ := e.list()
	next, err := e.doc.Delete(list.Items[i])
	if err != nil {
		return nil, err
	}
	return next.Bytes(), nil
}
