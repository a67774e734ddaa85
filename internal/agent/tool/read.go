package tool

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/umpirehq/umpire"
)

const (
	readLines    = 2000      // lines of one Read, unless it asks for another number
	maxReadLines = 100_000   // that it may ask for
	maxReadBytes = 200 << 10 // of one Read
	maxLine      = 2000      // bytes shown of one line
	sniffBytes   = 8 << 10   // bytes examined to tell text from binary
)

var readTool = tool{
	about: "Reads a text file. The result has the line numbers in front, from 1. " +
		"A long file is read in parts: offset is the first line, limit how many.",
	schema: `{"type":"object","required":["file_path"],"properties":{
		"file_path":{"type":"string","description":"the file, absolute or from the working directory"},
		"offset":{"type":"integer","minimum":1,"description":"the first line to read, from 1"},
		"limit":{"type":"integer","minimum":1,"description":"how many lines to read (default 2000)"}}}`,
	run: (*Set).readFile,
}

// openTarget reaches the place of a use's path.
func (o *Options) openTarget(u *use, kind umpire.AccessKind, create bool) (*place, error) {
	path, err := u.in.mustPath()
	if err != nil {
		return nil, err
	}
	decided, err := o.decided(u, path, kind)
	if err != nil {
		return nil, err
	}
	return o.openPlace(decided, create)
}

func (s *Set) readFile(ctx context.Context, u *use) (string, error) {
	offset, err := u.in.number("offset", 1, 0, math.MaxInt32)
	if err != nil {
		return "", err
	}
	limit, err := u.in.number("limit", readLines, 1, maxReadLines)
	if err != nil {
		return "", err
	}
	p, err := s.options.openTarget(u, umpire.KindRead, false)
	if err != nil {
		return "", err
	}
	defer p.closeDir()
	f, info, err := p.file()
	if err != nil {
		return "", err
	}
	defer f.Close()
	text := bufio.NewReaderSize(f, 64<<10)
	if isBinary(text) {
		return "", fmt.Errorf("%s: is a binary file of %d bytes", p.path, info.Size())
	}
	return numberLines(ctx, text, max(offset, 1), limit)
}

// isBinary looks at the beginning without taking it.
func isBinary(r *bufio.Reader) bool {
	head, _ := r.Peek(sniffBytes) // a short file is not an error here
	return bytes.IndexByte(head, 0) >= 0
}

// numberLines returns limit lines from the first one on, with their numbers.
func numberLines(ctx context.Context, r *bufio.Reader, first, limit int) (string, error) {
	var out strings.Builder
	for n := 1; ; n++ {
		if n%1000 == 0 && ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		line, cut, err := readLine(r)
		if errors.Is(err, io.EOF) {
			return out.String() + atEnd(n-1, first), nil
		}
		if err != nil {
			return "", err
		}
		if n < first {
			continue
		}
		if n >= first+limit || out.Len() > maxReadBytes {
			fmt.Fprintf(&out, "[there is more: go on with offset %d]\n", n)
			return out.String(), nil
		}
		fmt.Fprintf(&out, "%6d\t%s", n, line)
		if cut > 0 {
			fmt.Fprintf(&out, " [%d more bytes in this line]", cut)
		}
		out.WriteByte('\n')
	}
}

// atEnd says why there are no lines to return.
func atEnd(lines, first int) string {
	switch {
	case lines == 0:
		return "[the file is empty]\n"
	case first > lines:
		return fmt.Sprintf("[the file has %d lines]\n", lines)
	}
	return ""
}

// readLine returns one line without its end, and the number of bytes cut off. The error
// is io.EOF at the end.
func readLine(r *bufio.Reader) (line string, cut int, err error) {
	var kept []byte
	for total := 0; ; {
		part, err := r.ReadSlice('\n')
		total += len(part)
		kept = append(kept, part[:min(len(part), maxLine+1-min(len(kept), maxLine+1))]...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (!errors.Is(err, io.EOF) || total == 0):
			return "", 0, err
		}
		if len(kept) <= maxLine {
			return strings.TrimRight(string(kept), "\r\n"), 0, nil
		}
		if err == nil {
			total-- // the line's end
		}
		kept = wholeRunes(kept[:maxLine])
		return string(kept), total - len(kept), nil
	}
}

// wholeRunes cuts off a character that is not complete at the end.
func wholeRunes(b []byte) []byte {
	for i := 1; i <= min(utf8.UTFMax, len(b)); i++ {
		if tail := b[len(b)-i:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}
