package tui

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/umpirehq/umpire"
)

// A Chat is one conversation on a terminal. Run it once.
type Chat struct {
	conf Config
	work sync.WaitGroup // the turns, and watching
}

// New returns a chat that has not begun.
func New(conf Config) *Chat { return &Chat{conf: conf} }

// Run shows the chat on the whole screen until the person leaves or ctx ends, then restores
// the terminal. It first ends a running turn, whose events are stored.
func (c *Chat) Run(ctx context.Context) error {
	m := newModel(c.conf)
	return c.show(ctx, m, m)
}

// show shows a screen, which is the model or draws it, until the person leaves it.
func (c *Chat) show(ctx context.Context, screen tea.Model, m *model) error {
	ctx, cancel := context.WithCancel(ctx)
	env := c.conf.Env
	if c.conf.NoColour {
		env = append(slices.Clone(env), "NO_COLOR=1") // override the person's value
	}
	p := tea.NewProgram(screen, tea.WithContext(ctx), tea.WithInput(c.conf.In), tea.WithOutput(c.conf.Out),
		tea.WithEnvironment(env), tea.WithoutSignalHandler())
	c.connect(ctx, m, func(message any) { p.Send(message) })
	_, err := p.Run()
	cancel()
	c.work.Wait()
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil && !errors.Is(err, tea.ErrProgramPanic) {
		return context.Cause(ctx)
	}
	if err != nil {
		return umpire.Errorf("the terminal: %w", err)
	}
	return nil
}

// connect has a model work until ctx ends: what happens meanwhile is sent to it.
func (c *Chat) connect(ctx context.Context, m *model, send func(message any)) {
	m.handler = &TurnHandler{send: send}
	m.do = func(work func(context.Context) tea.Msg) tea.Cmd {
		return func() tea.Msg { return work(ctx) }
	}
	m.beginTurn = func(s umpire.Session, task string) (func(), tea.Cmd) { return c.startTurn(ctx, m.handler, s, task) }
	if c.conf.Resumed {
		m.before = m.readEarlier(ctx, c.conf.Session.ID)
	}
	// Events before the last one of the session are read as history. It is read before a turn can add to them.
	last, _ := c.conf.Gate.Events(ctx, umpire.Filter{Session: c.conf.Session.ID, Last: 1}) // without it all are
	c.work.Go(func() { c.watch(ctx, umpire.LastSeq(last), func(e umpire.Event) { send(watchMsg{e}) }) })
}

// startTurn starts a turn. Its report comes when it has ended.
func (c *Chat) startTurn(ctx context.Context, handler *TurnHandler, s umpire.Session, task string) (func(), tea.Cmd) {
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan turnMsg, 1)
	c.work.Go(func() {
		note, err := c.conf.Host.Turn(ctx, s, task, handler)
		stop()
		ended <- turnMsg{note, err}
	})
	return stop, func() tea.Msg { return <-ended }
}

// Pauses before watching again when it broke off.
const (
	firstPause   = 100 * time.Millisecond
	longestPause = 2 * time.Second
)

// watch forwards the project's events after one, until ctx ends.
func (c *Chat) watch(ctx context.Context, after int64, hand func(umpire.Event)) {
	for pause := firstPause; ctx.Err() == nil; pause = min(2*pause, longestPause) {
		for e, err := range c.conf.Gate.Watch(ctx, umpire.Filter{Project: c.conf.Session.Project, After: after}) {
			if err != nil {
				break
			}
			pause, after = firstPause, e.Seq
			hand(e)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}
