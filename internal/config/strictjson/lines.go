package strictjson

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// MaxLine is the longest line that is read.
const MaxLine = 10 << 20

// ErrLineTooLong is returned for a line beyond the limit. The next line can still be read.
var ErrLineTooLong = errors.New("the line is longer than 10485760 bytes")

// A Line is one line of input, or the error in its place.
type Line struct {
	Text []byte
	Err  error // returned by ReadLine
}

// ReadLine returns the next line without its end, io.EOF after the last one, and ErrLineTooLong for
// a line of more than limit bytes. It reads and drops the rest of a long line, which bounds memory
// and finds the next line.
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
