package run

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/view"
)

// If no gate runs and a person is at the terminal, the run itself asks, with the same card as
// `umpire approve`. Only input after the card has been shown for a moment counts, and silence
// never means yes.

// A runAsker asks on the terminal that the process belongs to.
type runAsker struct {
	*agentRun

	tty   *os.File
	lines chan typedLine // closed at the end of input
}

// A typedLine is a line with the time at which it was read.
type typedLine struct {
	text string
	at   time.Time
}

// newAsker opens the terminal. One goroutine reads it until the process ends, because a
// terminal read cannot be cancelled.
func (s *agentRun) newAsker() (*runAsker, error) {
	tty, err := s.OpenTerminal()
	if err != nil {
		return nil, app.Failed(umpire.Errorf("ask on the terminal: %w", err))
	}
	return &runAsker{agentRun: s, tty: tty}, nil
}

func (k *runAsker) closeTerminal() { k.tty.Close() } //nolint:errcheck // a terminal holds nothing that could be lost

// startReading starts reading lines when the first question comes.
func (k *runAsker) startReading() {
	if k.lines != nil {
		return
	}
	lines := make(chan typedLine, 1)
	k.lines = lines
	go func() {
		defer close(lines)
		in := bufio.NewReader(k.tty)
		for {
			text, err := in.ReadString('\n')
			if err != nil {
				return
			}
			lines <- typedLine{text: text, at: time.Now()}
		}
	}()
}

// askPerson shows a question's card and submits the person's answer.
func (k *runAsker) askPerson(ctx context.Context, p umpire.Pending) error {
	session, err := k.gate.Sessions().Get(ctx, p.Session)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	c := view.New(p, session, k.UserHome(), k.Text, k.Now(), k.Getenv("NO_COLOR") == "")
	text.WriteString(c.Whole())
	changes := ChangesOf(ctx, k.agentRun.App, k.gate, &p, &session)
	text.WriteString(changes.Text(k.agentRun.Text))
	menu := c.Options()
	for _, o := range menu {
		fmt.Fprintf(&text, "  %s%s\n", view.Padded(o.Key, 3), o.Text)
	}
	if _, err := k.tty.Write(text.Bytes()); err != nil {
		return umpire.Errorf("write to the terminal: %w", err)
	}
	for {
		answer, err := k.choose(ctx, menu)
		if err != nil {
			return err
		}
		if view.Approves(&answer, &p) {
			confirmed, err := k.confirmLeftOut(ctx, changes.LeftOut(k.agentRun.Text, c))
			if err != nil {
				return err
			}
			if !confirmed {
				fmt.Fprintln(k.tty, k.Text.Of("wrong code: nothing was approved"))
				continue
			}
		}
		answer.Request, answer.ArgsHash, answer.Version, answer.ShownDigest = p.Request, p.ArgsHash, p.Version,
			p.ShownDigest
		_, err = k.gate.Resolve(ctx, answer)
		if err == nil && answer.Choice == umpire.Try {
			<-ctx.Done() // until the card is withdrawn
		}
		if err == nil || ctx.Err() != nil || !errors.Is(err, umpire.ErrInvalid) && !errors.Is(err, umpire.ErrState) &&
			!errors.Is(err, umpire.ErrChanged) {
			return err
		}
		fmt.Fprintf(k.tty, "%s\n",
			view.Visible(k.Text.Error(err))) // this answer failed; another one may not
	}
}

// confirmLeftOut has the person type a code if the card leaves something out, and reports whether they did.
func (k *runAsker) confirmLeftOut(ctx context.Context, left string) (bool, error) {
	if left == "" {
		return true, nil
	}
	code, shown := app.NewCode(), time.Now()
	fmt.Fprintln(k.tty, left)
	fmt.Fprintf(k.tty, k.Text.Of("Type %s and Enter: "), code)
	line, err := k.nextLine(ctx, shown)
	return err == nil && strings.TrimSpace(line) == code, err
}

// choose reads until an item of the menu is typed.
func (k *runAsker) choose(ctx context.Context, menu []view.Option) (umpire.Answer, error) {
	if err := app.DropEarlyKeys(ctx, k.tty); err != nil {
		return umpire.Answer{}, err
	}
	k.startReading()
	shown := time.Now()
	for {
		var keys []string
		for _, o := range menu {
			keys = append(keys, o.Key)
		}
		fmt.Fprintf(k.tty, k.Text.Of("Type %s and Enter: "), strings.Join(keys, "/"))
		line, err := k.nextLine(ctx, shown)
		if err != nil {
			return umpire.Answer{}, err
		}
		key, reason, _ := strings.Cut(strings.TrimSpace(line), " ")
		for _, o := range menu {
			if o.Key == key && (reason == "" || o.Answer.Choice == umpire.Refuse) {
				o.Answer.Reason = strings.TrimSpace(reason)
				return o.Answer, nil
			}
		}
	}
}

// nextLine returns the next line that was typed after a moment.
func (k *runAsker) nextLine(ctx context.Context, after time.Time) (string, error) {
	for {
		select {
		case <-ctx.Done():
			fmt.Fprintln(k.tty)
			return "", context.Cause(ctx)
		case line, open := <-k.lines:
			if !open {
				return "", app.ErrUnconfirmed
			}
			if line.at.After(after) {
				return line.text, nil
			}
		}
	}
}
