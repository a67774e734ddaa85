package docedit

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/umpirehq/umpire"
)

// newValue returns a value as a part of a tree, and as JSON.
func newValue(key string, value any) (*Value, []byte, error) {
	var raw bytes.Buffer
	e := json.NewEncoder(&raw)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil, nil, err
	}
	d := &Doc{text: raw.String(), lines: Lines{Text: raw.String()}}
	if err := d.parseJSON(); err != nil {
		return nil, nil, err
	}
	d.Root.Key = key
	return d.Root, bytes.TrimSpace(raw.Bytes()), nil
}

// An edit replaces bytes of a text.
type edit struct {
	from, to int
	text     string
}

// edited returns the document with edits, given in their order. want is the tree to expect.
func (d *Doc) edited(want *Value, edits ...edit) (*Doc, error) {
	next, err := d.reopen(edits...)
	if err == nil && !Equal(next.Root, want) {
		return nil, errors.New("the edit would also change something else: edit the file by hand")
	}
	return next, err
}

// reopen returns the document with edits.
func (d *Doc) reopen(edits ...edit) (*Doc, error) {
	text, at := d.mark, 0
	for _, e := range edits {
		if e.from < at || e.to < e.from {
			return nil, errors.New("the edit would also change something else: edit the file by hand")
		}
		text += d.text[at:e.from] + e.text
		at = e.to
	}
	next, err := Open(d.format, []byte(text+d.text[at:]))
	if err != nil {
		return nil, umpire.Errorf("the change would break the file: %w", err)
	}
	return next, nil
}
