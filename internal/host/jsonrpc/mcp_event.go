package jsonrpc

import (
	"bufio"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/umpirehq/umpire/internal/config/strictjson"
)

// An event is an event of a stream.
type event struct {
	id   string // may be ""
	data []byte
	// retry is how long to wait before resuming the stream; 0 if not given.
	retry time.Duration
}

// maxRetry bounds the waiting time that a server may set.
const maxRetry = 5 * time.Minute

// readEvent reads the next event with content. The error is io.EOF at the end; an unterminated
// event is not returned.
func readEvent(in *bufio.Reader) (event, error) {
	var e event
	said := false
	for {
		line, err := strictjson.ReadLine(in, MaxMessage)
		switch {
		case err != nil:
			return event{}, err
		case len(line) == 0 && said:
			return e, nil
		}
		field, value, _ := strings.Cut(string(line), ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "data":
			if e.data != nil {
				e.data = append(e.data, '\n')
			}
			if e.data = append(e.data, value...); len(e.data) > MaxMessage {
				return event{}, ErrTooLarge
			}
		case "id":
			e.id = value
		case "retry":
			if ms, err := strconv.ParseUint(value, 10, 31); err == nil {
				e.retry = min(time.Duration(ms)*time.Millisecond, maxRetry)
			}
		default:
			continue
		}
		said = true
	}
}

// writeEvent writes an event whose data is one line.
func writeEvent(out io.Writer, e event) error {
	text := make([]byte, 0, len(e.data)+len(e.id)+32)
	if e.id != "" {
		text = append(append(append(text, "id: "...), e.id...), '\n')
	}
	text = append(append(append(text, "data: "...), e.data...), "\n\n"...)
	_, err := out.Write(text)
	return err
}
