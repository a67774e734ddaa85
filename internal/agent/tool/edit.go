package tool

import (
	"bytes"
	"errors"
	"fmt"
)

var editTool = tool{
	about: "Replaces text in a file. old_string must stand there exactly once, so give enough of what is around it, " +
		"or set replace_all. With an empty old_string a file is made that must not be there yet.",
	schema: `{"type":"object","required":["file_path","old_string","new_string"],"properties":{
		"file_path":{"type":"string","description":"the file, absolute or from the working directory"},
		"old_string":{"type":"string","description":"the text to replace, exactly as it stands in the file"},
		"new_string":{"type":"string","description":"the text to put there"},
		"replace_all":{"type":"boolean","description":"replace it everywhere (default false)"}}}`,
	run: (*Set).changeFiles,
}

// countNoun writes a number with its noun.
func countNoun(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// A replacement is one text that replaces another.
type replacement struct {
	field    string // of the input, with the old text
	old, new []byte
	all      bool
}

func editChange(in input) (change, error) {
	before, err := in.must("old_string")
	if err != nil {
		return change{}, err
	}
	after, err := in.must("new_string")
	if err != nil {
		return change{}, err
	}
	r := replacement{field: "old_string", old: []byte(before), new: []byte(after)}
	r.all, err = in.flag("replace_all")
	switch {
	case err != nil:
		return change{}, err
	case before == after:
		return change{}, errors.New("input.new_string: is the same as old_string")
	case before == "":
		return change{verb: "wrote", create: true, apply: r.create}, nil
	}
	return change{verb: "edited", apply: r.apply}, nil
}

// create creates the file of an edit with nothing to replace.
func (r replacement) create(o *original) ([]byte, string, error) {
	if o != nil && o.size > 0 {
		return nil, "", errors.New("already exists; set old_string to the text to replace")
	}
	return r.new, fmt.Sprintf("a new file of %d bytes", len(r.new)), nil
}

// apply makes the replacement. In a file whose lines end in CR LF, a text of several
// lines that was written without is meant so.
func (r replacement) apply(o *original) ([]byte, string, error) {
	data, before, after := o.content, r.old, r.new
	n := bytes.Count(data, before)
	if crlf := withCRLF(before); n == 0 && bytes.Contains(data, []byte("\r\n")) && !bytes.Equal(crlf, before) {
		before, after = crlf, withCRLF(after)
		n = bytes.Count(data, before)
	}
	switch {
	case n == 0:
		return nil, "", fmt.Errorf("%s not found: read the file and copy the text exactly", r.field)
	case n > 1 && !r.all && r.field == "old_string":
		return nil, "", fmt.Errorf(
			"old_string matches %d times: add surrounding lines to make it unique, or set replace_all", n,
		)
	case n > 1 && !r.all:
		return nil, "", fmt.Errorf("%s matches %d times: add surrounding lines to make it unique", r.field, n)
	}
	result := bytes.ReplaceAll(data, before, after)
	return result, fmt.Sprintf("%s, %d bytes now", countNoun(n, "replacement"), len(result)), nil
}

// withCRLF ends lines in CR LF.
func withCRLF(text []byte) []byte {
	plain := bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(plain, []byte("\n"), []byte("\r\n"))
}
