package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"sync"

	"github.com/umpirehq/umpire"
)

// A Log is a model that writes each request as one line of JSON before it passes the request on. If
// the write fails, the request is not sent.
type Log struct {
	model Model

	mu sync.Mutex // guards w: a line is written whole
	w  io.Writer
}

// NewLog returns a model that logs the requests to another model.
func NewLog(model Model, w io.Writer) *Log { return &Log{model: model, w: w} }

// Reply logs the request and passes it on.
func (l *Log) Reply(ctx context.Context, r Request, onDelta func(Delta)) (Message, error) {
	if err := l.writeLine(r); err != nil {
		return Message{}, umpire.Errorf("log of model requests: %w", err)
	}
	return l.model.Reply(ctx, r, onDelta)
}

// writeLine writes the line in one piece, for other processes reading the file to see whole lines.
func (l *Log) writeLine(r Request) error {
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false) // the file is for people and their tools to search
	if err := e.Encode(r); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := l.w.Write(line.Bytes())
	return err
}
