package relay

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// A question goes to the gate as one HTTP/1.1 request on a separate connection. It is written and
// read here by hand: net/http takes longer to start than the rest of the hook together.

const (
	// Path is the gate's path for questions.
	Path = "/v1/hook"
	// The headers of an answer: the exit code, and how much of the body goes to standard output.
	// The rest goes to standard error.
	HeaderExit   = "Umpire-Exit"
	HeaderStdout = "Umpire-Stdout"

	maxHead   = 64 << 10
	maxAnswer = 4 << 20
	maxToken  = 4096
)

// ErrAbsent means that no gate answers at the address.
var ErrAbsent = errors.New("no gate answers")

// ErrLost means that the gate was reached and did not answer: it may be back soon.
var ErrLost = errors.New("lost the connection to the gate")

// An Output is the output of a hook process. The zero value prints nothing and exits 0: no opinion.
type Output struct {
	Stdout []byte
	Stderr []byte
	Exit   int
}

// Print writes an answer and returns the exit code of the process. If the answer cannot be written
// it returns ExitDenied, because the agent would treat a missing answer as consent.
func (o Output) Print(stdout, stderr io.Writer) (exit int) {
	if len(o.Stderr) > 0 {
		stderr.Write(o.Stderr) //nolint:errcheck // there is nowhere left to report it
	}
	if len(o.Stdout) == 0 {
		return o.Exit
	}
	if _, err := stdout.Write(o.Stdout); err != nil {
		return ExitDenied
	}
	return o.Exit
}

// ExitDenied is the exit code that blocks a call without an answer. With any other code the agent
// continues.
const ExitDenied = 2

// A Line is the way to a running gate.
type Line struct {
	// Host is the gate's name in requests: its address, or any name for a socket.
	Host string
	// Token is the credential.
	Token string
	// Dial connects. The first connection may already exist.
	Dial func(ctx context.Context) (io.ReadWriteCloser, error)
	Conn io.ReadWriteCloser
	// Sent, if set, is called once the question has been sent: while the gate works, there is time
	// for work that must not delay the question.
	Sent func()
}

// Ask sends a question and reads the answer. Its error matches ErrLost if the gate was there but
// broke off, or announced that it is going away.
func (l *Line) Ask(ctx context.Context, q *Question) (Output, error) {
	conn := l.Conn
	l.Conn = nil
	if conn == nil {
		var err error
		if conn, err = l.Dial(ctx); err != nil {
			return Output{}, err
		}
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	if _, err := conn.Write(l.request(q)); err != nil {
		return Output{}, umpire.Errorf("%w: %w", ErrLost, err)
	}
	if l.Sent != nil {
		l.Sent()
	}
	return readAnswer(conn)
}

func (l *Line) request(q *Question) []byte {
	body := q.Marshal()
	head := "POST " + Path + " HTTP/1.1\r\nHost: " + l.Host + "\r\nAuthorization: Bearer " + l.Token +
		"\r\nUmpire-Client: hook\r\nContent-Type: application/octet-stream\r\nConnection: close\r\nContent-Length: " +
		strconv.Itoa(len(body)) + "\r\n\r\n"
	return append([]byte(head), body...)
}

// readAnswer reads one answer. It accepts only the gate's own format: a declared length, each
// header once, nothing after the body.
func readAnswer(from io.Reader) (Output, error) {
	head, rest, err := readHead(from)
	if err != nil {
		return Output{}, err
	}
	status, headers, err := parseHead(head)
	if err != nil {
		return Output{}, err
	}
	length, err := count(headers, "content-length", maxAnswer)
	if err != nil {
		return Output{}, err
	}
	if len(rest) > length {
		return Output{}, errors.New("the gate's answer is longer than announced")
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(from, body[copy(body, rest):]); err != nil {
		return Output{}, umpire.Errorf("%w: %w", ErrLost, err)
	}
	if status != "200" {
		return Output{}, refusalOf(status, body)
	}
	return outputOf(headers, body)
}

// readHead reads up to the empty line, and also returns the bytes after it.
func readHead(from io.Reader) (head string, rest []byte, err error) {
	buffer := make([]byte, 0, 4096)
	for {
		if len(buffer) == cap(buffer) {
			buffer = append(buffer, 0)[:len(buffer)]
		}
		n, err := from.Read(buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		if head, rest, ok := strings.Cut(string(buffer), "\r\n\r\n"); ok {
			return head, []byte(rest), nil
		}
		switch {
		case len(buffer) > maxHead:
			return "", nil, umpire.Errorf("the head of the gate's answer is larger than %d bytes", maxHead)
		case err != nil:
			return "", nil, umpire.Errorf("%w: %w", ErrLost, err)
		}
	}
}

// parseHead returns the status and the headers, by their names in lower case.
func parseHead(head string) (status string, headers map[string]string, err error) {
	first, lines, _ := strings.Cut(head, "\r\n")
	version, rest, _ := strings.Cut(first, " ")
	status, _, _ = strings.Cut(rest, " ")
	if version != "HTTP/1.1" || len(status) != 3 {
		return "", nil, umpire.Errorf("not a gate: it answered %q", files.Clip(first))
	}
	headers = map[string]string{}
	for line := range strings.SplitSeq(lines, "\r\n") {
		name, value, ok := strings.Cut(line, ":")
		name = strings.ToLower(name)
		if _, twice := headers[name]; twice || !ok || name == "transfer-encoding" {
			return "", nil, umpire.Errorf("the gate's answer has an invalid header: %q", files.Clip(line))
		}
		headers[name] = strings.Trim(value, " \t")
	}
	return status, headers, nil
}

// count reads a header with a number.
func count(headers map[string]string, name string, limit int) (int, error) {
	n, err := strconv.ParseUint(headers[name], 10, 31)
	if err != nil || int(n) > limit {
		return 0, umpire.Errorf("the gate's answer has the %s %q; want 0 to %d", name, files.Clip(headers[name]), limit)
	}
	return int(n), nil
}

func outputOf(headers map[string]string, body []byte) (Output, error) {
	const maxExit = 255
	exit, err := count(headers, strings.ToLower(HeaderExit), maxExit)
	if err != nil {
		return Output{}, err
	}
	shown, err := count(headers, strings.ToLower(HeaderStdout), len(body))
	if err != nil {
		return Output{}, err
	}
	return Output{Stdout: body[:shown], Stderr: body[shown:], Exit: exit}, nil
}

// refusalOf returns the error that a refused request carries.
func refusalOf(status string, body []byte) error {
	var reply struct {
		Message string `json:"message"`
		Word    string `json:"reason_code"`
	}
	if json.Unmarshal(body, &reply) != nil || reply.Message == "" {
		return umpire.Errorf("the gate answered %s", files.Clip(status))
	}
	if reply.Word == "draining" {
		return umpire.Errorf("%w: %s", ErrLost, reply.Message)
	}
	return errors.New(reply.Message)
}

// parseToken parses a credential from its file.
func parseToken(text []byte) (string, error) {
	token := strings.TrimSpace(string(text))
	if token == "" || len(token) > maxToken || strings.ContainsAny(token, " \t\r\n") {
		return "", errors.New("contains no token")
	}
	return token, nil
}
