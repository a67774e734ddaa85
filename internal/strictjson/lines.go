// Package jsonl reads lines of JSON that strangers wrote: a line that is too
// long costs no memory and not the next line, and an object that two readers
// could read as two different ones is an error.
package jsonl

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxLine is the longest line that is read.
const MaxLine = 10 << 20

// ErrLineTooLong stands for a line beyond the limit. The line after it can be
// read.
var ErrLineTooLong = fmt.Errorf("the line is longer than %d bytes", MaxLine)

// A Line is one line of input, or why there is none.
type Line struct {
	Text []byte
	Err  error // what ReadLine returned
}

// ReadLine returns the next line without its end, io.EOF after the last one, and
// ErrLineTooLong for one of more than limit bytes. What goes beyond the limit is
// read and dropped, so that memory stays bounded and the next line is found.
func ReadLine(in *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	long := false
	for {
		piece, err := in.ReadSlice('\n')
		if !long && len(line)+len(piece) > limit+1 {
			long, line = true, nil
		}
		if !long {
			line = append(line, piece...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && (len(line) > 0 || long):
			err = nil
		}
		if err == nil && long {
			err = ErrLineTooLong
		}
		return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")), err
	}
}

// ReadObject reads the members of the one object in a text. A key that stands
// twice is an error: two readers may see two different calls.
func ReadObject(text []byte) (map[string]json.RawMessage, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	token, err := decoder.Token()
	if err != nil {
		return nil, problem(err)
	}
	if token != json.Delim('{') {
		return nil, errors.New("it does not begin with {")
	}
	fields := map[string]json.RawMessage{}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, problem(err)
		}
		key, _ := name.(string)
		if _, twice := fields[key]; twice {
			return nil, fmt.Errorf("%q stands twice", key)
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, fmt.Errorf("%q: %w", key, problem(err))
		}
		fields[key] = value
	}
	if _, err := decoder.Token(); err != nil {
		return nil, problem(err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the object")
	}
	return fields, nil
}

func problem(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it ends too early")
	}
	return err
}
