package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/umpirehq/umpire"
)

var editTool = tool{
	about: "Replaces text in a file. old_string must stand there exactly once, so give enough of what is around it, " +
		"or set replace_all. With an empty old_string a file is made that must not be there yet.",
	schema: `{"type":"object","required":["file_path","old_string","new_string"],"properties":{
		"file_path":{"type":"string","description":"the file, absolute or from the working directory"},
		"old_string":{"type":"string","description":"the text to replace, exactly as it stands in the file"},
		"new_string":{"type":"string","description":"the text to put there"},
		"replace_all":{"type":"boolean","description":"replace it everywhere (default false)"}}}`,
	run: (*Set).edit,
}

func (s *Set) edit(_ context.Context, u *use) (string, error) {
	var e edit
	if err := e.read(u.in); err != nil {
		return "", err
	}
	p, err := s.at(u, umpire.KindWrite, len(e.old) == 0)
	if err != nil {
		return "", err
	}
	defer p.close()
	data, before, err := p.hold()
	if len(e.old) == 0 {
		return e.create(p, before, err)
	}
	if err != nil {
		return "", err
	}
	after, n, err := e.apply(data)
	if err != nil {
		return "", plain(p.path, err)
	}
	if err := p.replace(before, after); err != nil {
		return "", err
	}
	return fmt.Sprintf("edited %s: %s, %d bytes now", p.path, counted(n, "replacement"), len(after)), nil
}

// counted writes a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// An edit is one replacement of text.
type edit struct {
	old, new []byte
	all      bool
}

func (e *edit) read(in input) error {
	before, err := in.must("old_string")
	if err != nil {
		return err
	}
	after, err := in.must("new_string")
	if err != nil {
		return err
	}
	e.old, e.new = []byte(before), []byte(after)
	e.all, err = in.flag("replace_all")
	if err == nil && before == after {
		err = errors.New("input.new_string: is the same as old_string")
	}
	return err
}

// create makes the file of an edit that replaces nothing.
func (e *edit) create(p *place, before fs.FileInfo, err error) (string, error) {
	if err == nil && before.Size() > 0 {
		return "", fmt.Errorf("%s: is there already; say in old_string what to replace", p.path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err := p.replace(before, e.new); err != nil {
		return "", err
	}
	return fmt.Sprintf("wrote %s: a new file of %d bytes", p.path, len(e.new)), nil
}

// apply returns the text with the replacement made, and how often. In a file whose
// lines end in CR LF, a text of several lines that was written without is meant so.
func (e *edit) apply(data []byte) ([]byte, int, error) {
	before, after := e.old, e.new
	n := bytes.Count(data, before)
	if crlf := withCRLF(before); n == 0 && bytes.Contains(data, []byte("\r\n")) && !bytes.Equal(crlf, before) {
		before, after = crlf, withCRLF(after)
		n = bytes.Count(data, before)
	}
	switch {
	case n == 0:
		return nil, 0, errors.New("old_string does not stand there: read the file and copy it exactly")
	case n > 1 && !e.all:
		return nil, 0, fmt.Errorf("old_string stands there %d times: give more of what is around it, or set replace_all", n)
	}
	return bytes.ReplaceAll(data, before, after), n, nil
}

// withCRLF ends lines in CR LF.
func withCRLF(text []byte) []byte {
	plain := bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(plain, []byte("\n"), []byte("\r\n"))
}
