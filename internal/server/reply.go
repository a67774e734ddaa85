package server

import (
	"net/http"
	"time"
)

// A reply is a response writer that completes the errors of unary Connect, the only
// responses with a status other than 200, and limits how long a write may take.
type reply struct {
	http.ResponseWriter
	x       *exchange
	stall   time.Duration // 0 means no limit
	wrote   bool
	failing bool
}

// WriteHeader uses the failure's own status, if it has one.
func (w *reply) WriteHeader(status int) {
	w.wrote = true
	w.failing = status >= http.StatusBadRequest
	if f := w.x.failure; f != nil && w.failing && f.status != 0 {
		status = f.status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write inserts the failure's fields into a JSON error.
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
	// If the connection cannot be flushed, the next write fails.
	_ = http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap lets http.ResponseController reach the connection.
func (w *reply) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// bound sets a deadline and returns a function that removes it: over HTTP/2, an expired
// deadline resets the stream even if nothing is being written.
func (w *reply) bound() (free func()) {
	if w.stall == 0 {
		return func() {}
	}
	// A connection without deadlines is in memory and does not stall.
	control := http.NewResponseController(w.ResponseWriter)
	_ = control.SetWriteDeadline(time.Now().Add(w.stall))
	return func() { _ = control.SetWriteDeadline(time.Time{}) }
}
