package host

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/strictjson"
	"github.com/umpirehq/umpire/internal/files"
)

// A Write is a call of a host that writes one file.
type Write struct {
	Call    umpire.Call
	Path    string // absolute, as in the call
	edits   []edit
	content *string
}

// An edit is one replacement of a call.
type edit struct {
	Old string `json:"old_string"`
	New string `json:"new_string"`
	All bool   `json:"replace_all"`
}

// Expect returns the file's new content, given the old one. It returns false if only the host
// knows.
func (w *Write) Expect(before []byte) ([]byte, bool) {
	if w.content != nil {
		return []byte(*w.content), true
	}
	for _, e := range w.edits {
		n := 1
		if e.All {
			n = -1
		}
		if e.Old == "" || !bytes.Contains(before, []byte(e.Old)) {
			return nil, false
		}
		before = bytes.Replace(before, []byte(e.Old), []byte(e.New), n)
	}
	return before, len(w.edits) > 0
}

// WriteOf returns the write that an event describes, in the folder that the host was started in. It
// returns false for other calls.
func WriteOf(e *Event, project string) (*Write, bool) {
	if e.Call.Tool != "Write" && e.Call.Tool != "Edit" {
		return nil, false
	}
	var in struct {
		edit
		Path    string   `json:"file_path"`
		Other   string   `json:"path"`
		Camel   string   `json:"filePath"`
		Paths   []string `json:"paths"`
		Content *string  `json:"content"`
		Edits   []edit   `json:"edits"`
	}
	if json.Unmarshal(e.Call.Input, &in) != nil {
		return nil, false
	}
	path := cmp.Or(in.Path, in.Other, in.Camel)
	if path == "" && len(in.Paths) == 1 {
		path = in.Paths[0]
	}
	if path == "" {
		return nil, false
	}
	w := &Write{Call: e.Call, Path: path, content: in.Content, edits: in.Edits}
	if in.Old != "" {
		w.edits = append(w.edits, in.edit)
	}
	if !filepath.IsAbs(w.Path) {
		w.Path = files.AbsoluteFrom(cmp.Or(e.Call.Dir, project), w.Path)
	}
	return w, true
}

// remember records the write that a call is about to do, or has done. A failure does not stop the
// call: the host would not wait for it either.
func (p *Responder) remember(ctx context.Context, q *Question, e *Event, d *umpire.Decision) {
	if p.Remember != nil && e.Kind != BeforeDialog && e.Kind.AboutTool() && !e.row().Again {
		p.Remember(ctx, q, e, d)
	}
}

// RunsOn reports whether a call that the host reports as finished still runs in the background.
func (e *Event) RunsOn() bool {
	if e.Call.Background || e.Kind != AfterTool || e.Call.Tool != "Bash" {
		return e.Call.Background
	}
	response, err := strictjson.ReadObject(e.Response)
	if err != nil {
		return false
	}
	task, err := response.Text("backgroundTaskId")
	return err == nil && task != ""
}
