package server

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/umpirehq/umpire"
	umpirev1 "github.com/umpirehq/umpire/internal/api/umpire/v1"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// A frame is one event with its encodings. Each encoding is made once, on first use, and
// shared by all subscribers.
type frame struct {
	event umpire.Event

	english, codes lines

	binary   sync.Once
	proto    []byte
	protoErr error
}

// lines are an event as JSON.
type lines struct {
	once sync.Once
	sse  []byte // the complete server-sent event
	json []byte // its data, within sse
	err  error
}

func newFrame(e umpire.Event) *frame { return &frame{event: e} }

// frameOverhead is roughly the size of a frame without its data.
const frameOverhead = 1024

func (f *frame) size() int { return len(f.event.Data) + len(f.event.Reason) + frameOverhead }

// lines returns the frame as a server-sent event, with its phrases as codes or in
// English.
func (f *frame) lines(codes bool) ([]byte, error) {
	l := &f.english
	if codes {
		l = &f.codes
	}
	l.once.Do(func() {
		event := f.event
		if !codes {
			event = catalogue.In(catalogue.English, event)
		}
		data, err := json.Marshal(event)
		if err != nil {
			l.err = err
			return
		}
		l.sse = strconv.AppendInt([]byte("id: "), f.event.Seq, 10)
		if kind := string(f.event.Kind); kind != "" && !strings.ContainsAny(kind, "\r\n") {
			l.sse = append(append(l.sse, "\nevent: "...), kind...)
		}
		l.sse = append(l.sse, "\ndata: "...)
		start := len(l.sse)
		l.sse = append(append(l.sse, data...), "\n\n"...)
		l.json = l.sse[start : start+len(data)]
	})
	return l.sse, l.err
}

// joinLines concatenates frames. The result must not be changed: that of a single frame
// is shared by all subscribers.
func joinLines(frames []*frame, codes bool) (lines []byte, err error) {
	for i, f := range frames {
		more, err := f.lines(codes)
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

func (f *frame) encodeJSON() ([]byte, error) {
	_, err := f.lines(false)
	return slices.Clone(f.english.json), err
}

func (f *frame) encodeProto() ([]byte, error) {
	f.binary.Do(func() {
		if _, f.protoErr = f.lines(false); f.protoErr == nil {
			f.proto, f.protoErr = encodeProtoOf(f.english.json, new(umpirev1.Event))
		}
	})
	return slices.Clone(f.proto), f.protoErr
}

// A frame is never decoded.
func (f *frame) readJSON([]byte)  {}
func (f *frame) readProto([]byte) {}

// resumeLines tells a watcher where to continue. A browser sends its id when it
// reconnects.
func resumeLines(after int64, why string) []byte {
	number := strconv.FormatInt(after, 10)
	return []byte("id: " + number + "\nevent: resume\ndata: " +
		"{\"after\":" + number + ",\"reason_code\":\"" + why + "\"}\n\n")
}

// beatLines is a comment that only shows that the gate is alive.
var beatLines = []byte(":\n\n")
