package tui

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/umpirehq/umpire"
)

// A base is the state that all parts of the screen share.
type base struct {
	conf Config
	// do makes a command of work that takes time; its context ends with the chat.
	do      func(work func(ctx context.Context) tea.Msg) tea.Cmd
	session umpire.Session
	log     transcript
	reach   int // number of earlier messages shown

	width, height int
	scroll        int  // lines that the conversation is scrolled up by
	anchored      bool // scrolled to show the card from its top

	still bool // the clock does not redraw
	hasty bool // cards settle without a message
}

// text returns a text in the person's language.
func (b *base) text(english string) string { return b.conf.Text.Of(english) }

// textf is text with values.
func (b *base) textf(format string, values ...any) string {
	return fmt.Sprintf(b.conf.Text.Of(format), values...)
}

// problem is an error in the person's language.
func (b *base) problem(err error) string { return b.conf.Text.Error(err) }

// redraw has the screen drawn again after a while.
func (b *base) redraw(after time.Duration) tea.Cmd {
	if b.hasty {
		return nil
	}
	return tea.Tick(after, func(time.Time) tea.Msg { return settledMsg{} })
}

// showTop scrolls to show the card from its top.
func (b *base) showTop() { b.scroll, b.anchored = 0, true }
