package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/umpirehq/umpire/internal/config/strictjson"
)

// An item is one file of a call that names several.
type item struct {
	path string
	in   input
}

// changeSeveral is for a tool that takes one path or a list of files.
func changeSeveral(read func(input) (change, error)) func(input) ([]change, error) {
	return func(in input) ([]change, error) {
		items, listed, err := in.items()
		if err != nil {
			return nil, err
		}
		if !listed {
			return changeOneFile(read)(in)
		}
		changes := make([]change, len(items))
		for i, it := range items {
			c, err := read(it.in)
			if err != nil {
				c = change{apply: func(*original) ([]byte, string, error) { return nil, "", err }}
			}
			c.path = it.path
			changes[i] = c
		}
		return changes, nil
	}
}

// items reads a list of files from the path field. A file without a field uses that of the
// list.
func (in input) items() (items []item, listed bool, err error) {
	name, raw := in.field("filePath", "file_path", "path")
	if name == "" || raw[0] != '[' {
		return nil, false, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, true, fmt.Errorf("input.%s: %w", name, err)
	}
	if len(list) == 0 {
		return nil, true, fmt.Errorf("input.%s: names no file", name)
	}
	for i, raw := range list {
		it, err := in.item(raw)
		if err != nil {
			return nil, true, fmt.Errorf("input.%s[%d]: %w", name, i, err)
		}
		items = append(items, it)
	}
	return items, true, nil
}

func (in input) item(raw json.RawMessage) (item, error) {
	it := item{in: input{}}
	for _, name := range changeFields {
		if value, ok := in[name]; ok {
			it.in[name] = value
		}
	}
	if raw[0] == '"' {
		return it, json.Unmarshal(raw, &it.path)
	}
	var own input
	if err := json.Unmarshal(raw, &own); err != nil {
		return it, errors.New("want an object with a path")
	}
	maps.Copy(it.in, own)
	path, err := own.must("path")
	it.path = path
	return it, err
}

// changeFields are the fields that the files of a list may share.
var changeFields = []string{"startLine", "endLine", "newContent", "searchContent", "replaceContent"}

// A fileResult is the result for one file of a list.
type fileResult struct {
	Path    string `json:"path"`
	Edited  bool   `json:"edited"`
	Message string `json:"message"`
}

// changeEach edits the files of a list one by one, in order: a file that cannot be edited, or
// is refused, is left alone, and earlier files stay edited.
func (s *Set) changeEach(ctx context.Context, u *use, changes []change) (string, error) {
	var results struct {
		Results []fileResult `json:"results"`
	}
	done := 0
	for i := range changes {
		r := fileResult{Path: cleanText(changes[i].path)}
		message, err := s.changeNext(ctx, u, &changes[i])
		if r.Edited, r.Message = err == nil, cleanText(message); err != nil {
			r.Message = cleanText(err.Error())
		} else {
			done++
		}
		results.Results = append(results.Results, r)
	}
	text := strings.TrimSpace(string(strictjson.EncodeLine(results)))
	if done == 0 {
		return "", errors.New(text)
	}
	return text, nil
}

// changeNext makes one change of several, unless the call was ended meanwhile.
func (s *Set) changeNext(ctx context.Context, u *use, c *change) (string, error) {
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	return s.change(ctx, u, c)
}
