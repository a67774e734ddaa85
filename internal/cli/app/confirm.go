package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
)

// A person confirms an answer on the process's terminal, not on standard input, which may
// come from anywhere. Text typed before the question has been on the screen for settleTime
// is discarded, so a key meant for something else does not answer.

// settleTime is how long keys are ignored after a question has appeared.
const settleTime = 400 * time.Millisecond

// ErrUnconfirmed means that the person did not confirm.
var ErrUnconfirmed = errors.New("not confirmed")

// Confirm shows a text on the terminal and requires the person to type the word.
func (a *App) Confirm(ctx context.Context, tty *os.File, text, word string) error {
	if _, err := io.WriteString(tty, text); err != nil {
		return Failed(umpire.Errorf("write to the terminal: %w", err))
	}
	if err := DropEarlyKeys(ctx, tty); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(tty, a.Text.Of("Type %s and Enter to confirm, anything else to cancel: "),
		word); err != nil {
		return Failed(umpire.Errorf("write to the terminal: %w", err))
	}
	said, err := ReadTyped(ctx, tty)
	if err != nil {
		return err
	}
	if said = strings.TrimSpace(said); said != word && (word != "y" || said != "yes") {
		return ErrUnconfirmed
	}
	return nil
}

// DropEarlyKeys waits for settleTime, and discards the keys typed until then.
func DropEarlyKeys(ctx context.Context, tty *os.File) error {
	select {
	case <-time.After(settleTime):
	case <-ctx.Done():
		return ErrUnconfirmed
	}
	return Failed(forgetTyped(tty))
}

// ReadTyped reads one line from the terminal. The reader may outlive the call: the process ends then.
func ReadTyped(ctx context.Context, tty io.Reader) (string, error) { return NewLines(tty).Next(ctx) }

// Lines are the lines that a person types for several questions. A line that comes too late for one is for the next.
type Lines struct {
	in   *bufio.Reader
	read chan typed // nil unless a reader waits for a line
}

type typed struct {
	line string
	err  error
}

// NewLines returns the lines of a terminal.
func NewLines(tty io.Reader) *Lines { return &Lines{in: bufio.NewReader(tty)} }

// Next returns the next line. The reader may outlive the call. Only one call may run at a time.
func (l *Lines) Next(ctx context.Context) (string, error) {
	if l.read == nil {
		read := make(chan typed, 1)
		l.read = read
		go func() {
			line, err := l.in.ReadString('\n')
			read <- typed{line, err}
		}()
	}
	select {
	case got := <-l.read:
		l.read = nil
		if got.err != nil {
			return "", ErrUnconfirmed
		}
		return got.line, nil
	case <-ctx.Done():
		return "", ErrUnconfirmed
	}
}

// OpenTerminal opens the terminal that the process belongs to.
func (a *App) OpenTerminal() (*os.File, error) {
	if a.device == "" {
		return nil, errors.New("no terminal")
	}
	tty, err := os.OpenFile(a.device, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	if !IsTerminal(tty) {
		return nil, errors.Join(umpire.Errorf("%s is not a terminal", a.device), tty.Close())
	}
	return tty, nil
}

// IsPoorTerminal reports whether the person or the terminal wants lines only.
func (a *App) IsPoorTerminal() bool {
	term := a.Getenv("TERM")
	accessible := a.Getenv("ACCESSIBLE")
	return term == "" || term == "dumb" || accessible != "" && accessible != "0"
}

// TerminalOut returns the file behind an output, which knows the size of its terminal.
func TerminalOut(out io.Writer) io.Writer {
	if o, is := out.(*Output); is {
		return o.W
	}
	return out
}

// AskSecret asks for a line on the terminal, and does not show it.
func AskSecret(ctx context.Context, a *App, question string) (string, error) {
	tty, err := a.OpenTerminal()
	if err != nil {
		return "", err
	}
	defer tty.Close()
	restore, err := hideTyped(tty)
	if err != nil {
		return "", err
	}
	defer restore()
	if _, err := io.WriteString(tty, question); err != nil {
		return "", umpire.Errorf("write to the terminal: %w", err)
	}
	said, err := ReadTyped(ctx, tty)
	fmt.Fprintln(tty)
	return strings.TrimRight(said, "\r\n"), err
}
