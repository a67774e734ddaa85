//go:build unix

package relay

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/hold/process"
)

// Ask asks the running gate, and reports whether it answered. If it reaches no gate, it reads and
// sends nothing.
func (a *Attempt) Ask() (answer Output, answered bool) {
	defer func() {
		if recover() != nil {
			answer, answered = Output{}, false
		}
	}()
	began := time.Now()
	args := a.Args
	if len(args) > 0 && args[0] == "hook" {
		args = args[1:]
	}
	caller, o := a.readArgs(args)
	if caller == nil {
		return Output{}, false
	}
	getenv := Registered(a.Getenv, args)
	a.home = Home(getenv, a.Dir)
	if a.home == "" || o.Home == "" && !a.ownsHome(getenv) || !HasUsualSocket(a.home) || !a.connect() {
		return Output{}, false
	}
	a.Profile.End(process.GateConnected)
	until := began.Add(a.Patience)
	if !a.readPayload(until) {
		return Output{}, false
	}
	a.Profile.End(process.QuestionRead)
	q := caller.NewQuestion(a.payload, o, a.Dir, getenv)
	q.Runner, q.Nonce, q.Deadline = a.Runner(), a.Nonce, o.Deadline-time.Since(began)
	a.send(newUsualLine(a.home, a.token, nil).request(q))
	answer, err := readAnswer(&earlyReader{a, until})
	if err != nil || a.unsent != nil {
		return answer, false
	}
	a.Profile.End(process.GateAnswered)
	return answer, true
}

// readArgs reads the arguments after the word hook. It returns no caller if anything about them is
// unusual.
func (a *Attempt) readArgs(args []string) (*Caller, Options) {
	if len(args) == 0 || a.Dir == "" {
		return nil, Options{}
	}
	caller := FindCaller(args[0])
	if caller == nil {
		return nil, Options{}
	}
	o, err := ParseOptions(args[1:], Deadline(caller.DefaultTimeout))
	if err != nil || o.Deadline < 2*a.Patience {
		return nil, Options{}
	}
	return caller, o
}

// ownsHome reports whether umpire's folder is the person's own and cannot have come with a project.
func (a *Attempt) ownsHome(getenv func(string) string) bool {
	if named := getenv(HomeVariable); named != "" && !filepath.IsAbs(named) || !IsUsual(getenv) {
		return false
	}
	_, err := files.Canonical(a.home)
	return err == nil
}

// connect connects to the gate and reads the credential.
func (a *Attempt) connect() bool {
	fd, err := connectTo(Socket(a.home))
	if errors.Is(err, ErrAbsent) {
		a.absent = err
	}
	if err != nil {
		return false
	}
	if a.token, err = readToken(a.home); err != nil {
		_ = syscall.Close(fd) // it was never used
		return false
	}
	a.fd, a.connected = fd, true
	return true
}

// readPayload reads standard input, and reports whether it came to its end in time.
func (a *Attempt) readPayload(until time.Time) bool {
	a.payload = make([]byte, 0, 4<<10)
	for len(a.payload) <= maxEarly {
		if len(a.payload) == cap(a.payload) {
			a.payload = append(a.payload, 0)[:len(a.payload)]
		}
		n, err := readEarly(a.Stdin, a.payload[len(a.payload):cap(a.payload)], until)
		if err != nil {
			return false
		}
		if a.payload = a.payload[:len(a.payload)+n]; n == 0 {
			a.ended = true
			return true
		}
	}
	return false
}

// send writes the request once. If the socket does not accept all of it, unsent is set.
func (a *Attempt) send(request []byte) {
	a.sent = true
	n, err := syscall.Write(a.fd, request)
	if err == nil && n < len(request) {
		err = io.ErrShortWrite
	}
	a.unsent = err
}

// An earlyReader reads the answer of an attempt, and keeps a copy in the attempt.
type earlyReader struct {
	attempt *Attempt
	until   time.Time
}

func (r *earlyReader) Read(p []byte) (int, error) {
	n, err := readEarly(r.attempt.fd, p, r.until)
	if err == nil && n == 0 {
		return 0, io.EOF
	}
	r.attempt.answer = append(r.attempt.answer, p[:n]...)
	return n, err
}

// readEarly reads once from a descriptor, if anything comes in time. It returns 0 at the end.
func readEarly(fd int, p []byte, until time.Time) (int, error) {
	for {
		wait := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		_, err := unix.Poll(wait, int(max(0, time.Until(until))/time.Millisecond))
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return 0, err
		case wait[0].Revents&(unix.POLLIN|unix.POLLHUP) == 0:
			return 0, os.ErrDeadlineExceeded
		}
		n, err := syscall.Read(fd, p)
		if errors.Is(err, syscall.EINTR) || errors.Is(err, syscall.EAGAIN) {
			continue
		}
		return max(n, 0), err
	}
}
