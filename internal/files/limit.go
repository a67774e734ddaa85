package files

import (
	"errors"
	"io"
)

// LimitWriter returns a writer to w whose writes fail beyond the first n bytes.
func LimitWriter(w io.Writer, n int) io.Writer { return &limited{w, n} }

type limited struct {
	w    io.Writer
	left int
}

func (l *limited) Write(data []byte) (int, error) {
	if len(data) > l.left {
		return 0, errors.New("too much output")
	}
	l.left -= len(data)
	return l.w.Write(data)
}
