package server

import (
	"net/http"
	"time"
)

// A reply is a response writer that completes the errors of unary Connect, which
// are the only answers with a status other than 200, and bounds how long a write
// may take.
type reply struct {
	http.ResponseWriter
	x       *exchange
	stall   time.Duration // 0 sets no bound
	wrote   bool
	failing bool
}

// WriteHeader replaces the status of a failure that has one of its own.
func (w *reply) WriteHeader(status int) {
	w.wrote = true
	w.failing = status >= http.StatusBadRequest
	if f := w.x.failure; f != nil && w.failing && f.status != 0 {
		status = f.status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write puts the failure's fields before those of a JSON error.
func (w *reply) Write(b []byte) (int, error) {
	w.wrote = true
	defer w.bound()()
	if !w.failing || len(b) == 0 || b[0] != '{' {
		return w.ResponseWriter.Write(b)
	}
	w.failing = false
	if w.x.failure == nil {
		w.x.failure = failureIn(b)
	}
	whole := append(append([]byte{'{'}, w.x.failure.fields(w.x.codes)...), b[1:]...)
	if _, err := w.ResponseWriter.Write(whole); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Flush is needed by streams.
func (w *reply) Flush() {
	w.wrote = true
	defer w.bound()()
	// A connection that cannot be flushed any more fails at the next write.
	_ = http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap lets http.ResponseController reach the connection.
func (w *reply) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// bound sets a deadline and returns what takes it away: over HTTP/2, one that
// passes resets the stream even when nothing is being written.
func (w *reply) bound() (free func()) {
	if w.stall == 0 {
		return func() {}
	}
	// What has no deadlines is in memory, and does not stall.
	control := http.NewResponseController(w.ResponseWriter)
	_ = control.SetWriteDeadline(time.Now().Add(w.stall))
	return func() { _ = control.SetWriteDeadline(time.Time{}) }
}
