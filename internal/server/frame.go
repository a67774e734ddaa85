package server

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/umpirehq/umpire"
	umpirev1 "github.com/umpirehq/umpire/internal/api/umpire/v1"
)

// A frame is one event with its encodings, each made once, when somebody first
// wants it, and shared by all subscribers.
type frame struct {
	event umpire.Event

	text sync.Once
	sse  []byte // the whole server-sent event
	json []byte // its data, within sse
	err  error

	binary   sync.Once
	proto    []byte
	protoErr error
}

func newFrame(e umpire.Event) *frame { return &frame{event: e} }

// frameOverhead is about what a frame takes beside its data.
const frameOverhead = 1024

func (f *frame) size() int { return len(f.event.Data) + len(f.event.Reason) + frameOverhead }

// lines returns the frame as a server-sent event.
func (f *frame) lines() ([]byte, error) {
	f.text.Do(func() {
		data, err := json.Marshal(f.event)
		if err != nil {
			f.err = err
			return
		}
		f.sse = strconv.AppendInt([]byte("id: "), f.event.Seq, 10)
		if kind := string(f.event.Kind); kind != "" && !strings.ContainsAny(kind, "\r\n") {
			f.sse = append(append(f.sse, "\nevent: "...), kind...)
		}
		f.sse = append(f.sse, "\ndata: "...)
		start := len(f.sse)
		f.sse = append(append(f.sse, data...), "\n\n"...)
		f.json = f.sse[start : start+len(data)]
	})
	return f.sse, f.err
}

// joinLines returns frames as one piece. It is not to be changed: a single frame's is
// shared by all subscribers.
func joinLines(frames []*frame) (lines []byte, err error) {
	for i, f := range frames {
		more, err := f.lines()
		if err != nil {
			return nil, err
		}
		if i == 0 {
			lines = slices.Clip(more)
		} else {
			lines = append(lines, more...)
		}
	}
	return lines, nil
}

func (f *frame) appendJSON(dst []byte) ([]byte, error) {
	_, err := f.lines()
	return append(dst, f.json...), err
}

func (f *frame) appendProto(dst []byte) ([]byte, error) {
	f.binary.Do(func() {
		if _, f.protoErr = f.lines(); f.protoErr == nil {
			f.proto, f.protoErr = appendProtoOf(nil, f.json, new(umpirev1.Event))
		}
	})
	return append(dst, f.proto...), f.protoErr
}

// A frame is only ever written.
func (f *frame) readJSON([]byte)  {}
func (f *frame) readProto([]byte) {}

// resumeLines tells a watcher where to go on from. Its id is what a browser sends
// when it connects again.
func resumeLines(after int64, why string) []byte {
	number := strconv.FormatInt(after, 10)
	return []byte("id: " + number + "\nevent: resume\ndata: {\"after\":" + number + ",\"reason_code\":\"" + why + "\"}\n\n")
}

// beatLines is a comment, which says no more than that the gate is there.
var beatLines = []byte(":\n\n")
