package tool

import (
	"bytes"
	"errors"
	"fmt"
	"math"
)

// The two tools to which a profile's editableFileSuffixes apply. The decision names the
// refused files; the tool only skips them.

var linesTool = tool{
	about: "Replaces lines of a file by their numbers, from 1, both ends included: read the file first. " +
		"Empty newContent takes the lines out; startLine behind the last line appends. " +
		"filePath may be a list of objects, each with a path and its own fields: then each file has its own result.",
	schema: `{"type":"object","required":["filePath"],"properties":{
		"filePath":{"type":["string","array"],` +
		`"description":"the file, absolute or from the working directory, or a list of files",
			"items":{"type":"object","required":["path","startLine","endLine","newContent"],"properties":{
				"path":{"type":"string"},"startLine":{"type":"integer","minimum":1},` +
		`"endLine":{"type":"integer","minimum":1},"newContent":{"type":"string"}}}},
		"startLine":{"type":"integer","minimum":1,"description":"the first line to replace"},
		"endLine":{"type":"integer","minimum":1,"description":"the last line to replace"},
		"newContent":{"type":"string","description":"the lines to put there"}}}`,
	run: (*Set).changeFiles,
}

var searchTool = tool{
	about: "Replaces text in a file. searchContent must stand there exactly once, so give enough of what is around " +
		"it. " +
		"filePath may be a list of objects, each with a path and its own fields: then each file has its own result.",
	schema: `{"type":"object","required":["filePath"],"properties":{
		"filePath":{"type":["string","array"],` +
		`"description":"the file, absolute or from the working directory, or a list of files",
			"items":{"type":"object","required":["path","searchContent","replaceContent"],"properties":{
				"path":{"type":"string"},"searchContent":{"type":"string"},"replaceContent":{"type":"string"}}}},
		"searchContent":{"type":"string","description":"the text to replace, exactly as it stands in the file"},
		"replaceContent":{"type":"string","description":"the text to put there"}}}`,
	run: (*Set).changeFiles,
}

// A span is a range of lines, counted from 1, and their replacement.
type span struct {
	first, last int
	content     []byte
}

func linesChange(in input) (change, error) {
	var sp span
	first, err := in.number("startLine", 0, 1, math.MaxInt32)
	last, errLast := in.number("endLine", 0, 1, math.MaxInt32)
	content, errContent := in.must("newContent")
	if err = errors.Join(err, errLast, errContent); err != nil {
		return change{}, err
	}
	switch sp = (span{first, last, []byte(content)}); {
	case first == 0:
		return change{}, errors.New("input.startLine: is missing")
	case last == 0:
		return change{}, errors.New("input.endLine: is missing")
	case last < first:
		return change{}, fmt.Errorf("input.endLine: %d comes before startLine %d", last, first)
	}
	return change{verb: "edited", apply: sp.apply}, nil
}

// apply replaces the lines with the content. The content ends in a line end if the
// lines did, and gets the line ends of the file.
func (sp span) apply(o *original) ([]byte, string, error) {
	data := o.content
	lines := bytes.SplitAfter(data, newline)
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	if sp.first > len(lines)+1 {
		return nil, "", fmt.Errorf("has only %s: startLine %d is past the end", countNoun(len(lines), "line"), sp.first)
	}
	last := min(sp.last, len(lines))
	head, old, tail := bytes.Join(lines[:sp.first-1], nil), bytes.Join(
		lines[sp.first-1:last], nil,
	), bytes.Join(lines[last:], nil)
	content := sp.content
	appended := len(old) == 0
	if len(content) > 0 && !bytes.HasSuffix(content, newline) &&
		(bytes.HasSuffix(old, newline) || appended && bytes.HasSuffix(head, newline)) {
		content = append(bytes.Clone(content), '\n')
	}
	if appended && len(head) > 0 && !bytes.HasSuffix(head, newline) {
		content = append([]byte("\n"), content...)
	}
	if bytes.Contains(data, []byte("\r\n")) {
		content = withCRLF(content)
	}
	after := bytes.Join([][]byte{head, content, tail}, nil)
	return after, fmt.Sprintf("lines %d to %d, %d bytes now", sp.first, max(last, sp.first), len(after)), nil
}

func searchChange(in input) (change, error) {
	before, err := in.must("searchContent")
	after, errAfter := in.must("replaceContent")
	if err = errors.Join(err, errAfter); err != nil {
		return change{}, err
	}
	switch before {
	case "":
		return change{}, errors.New("input.searchContent: is empty")
	case after:
		return change{}, errors.New("input.replaceContent: is the same as searchContent")
	}
	r := replacement{field: "searchContent", old: []byte(before), new: []byte(after)}
	return change{verb: "edited", apply: r.apply}, nil
}
