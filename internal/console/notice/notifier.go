package notice

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// An Inbox is the part of a gate that a notifier uses.
type Inbox interface {
	umpire.Answerer
	umpire.Watcher
	Sessions() umpire.SessionKeeper
}

// A Config configures a notifier. Gate and Notify are required.
type Config struct {
	Gate   Inbox
	Notify config.Notify
	// Push holds the browsers that get notices by Web Push; it may be nil.
	Push *Push
	// Secrets is the folder of tokens and secrets.
	Secrets string
	// Report is the file that describes how sending goes; it may be "".
	Report string
	Home   string // of the person, by which paths are shortened
	Text   *catalogue.Language
	// Warn receives the errors of background work; nil drops them.
	Warn func(error)

	now   func() time.Time
	pause time.Duration // before a second try
	// pushClient reaches push services; nil means a client that dials only the public web.
	pushClient *http.Client
}

// On reports whether notices have a target, or may get one.
func (c *Config) On() bool { return c.Notify.On() || c.Push != nil }

// A Notifier sends notices until it is closed.
type Notifier struct {
	config Config
	client *http.Client
	queues []*queue
	report *reporter
	relay  *relay // nil accepts no answers
	end    context.CancelFunc
	parts  sync.WaitGroup

	// Only watchQuestions uses these fields.
	open     []*question              // waiting questions, ordered by due time
	browsers map[string]*browserQueue // by endpoint and secret
}

// Start reads the secrets and begins to send. Close ends it.
func Start(c Config) (*Notifier, error) {
	n, err := newNotifier(c)
	if err != nil {
		return nil, err
	}
	ctx, end := context.WithCancel(context.Background())
	n.end = end
	for _, q := range n.queues {
		n.parts.Go(func() { q.deliverAll(ctx) })
	}
	if n.relay != nil {
		n.parts.Go(func() { n.relay.listen(ctx) })
	}
	n.parts.Go(func() { n.report.writeChanges(ctx) })
	n.parts.Go(func() { n.watchQuestions(ctx) })
	return n, nil
}

// newNotifier makes a notifier without starting it.
func newNotifier(c Config) (*Notifier, error) {
	if c.now == nil {
		c.now = time.Now
	}
	if c.Warn == nil {
		c.Warn = func(error) {}
	}
	if c.Notify.After == 0 {
		c.Notify.After = config.DefaultAfter
	}
	if c.pause == 0 {
		c.pause = firstPause
	}
	if c.pushClient == nil {
		c.pushClient = newPushClient()
	}
	n := &Notifier{
		config: c, client: newClient(), report: newReporter(c.Report, c.now, c.Warn),
		browsers: map[string]*browserQueue{},
	}
	targets, err := n.listTargets()
	if err != nil {
		return nil, err
	}
	for _, t := range targets {
		n.queues = append(n.queues, newQueue(t, n.report, c.pause))
		n.report.change(t.name(), func(*TargetReport) {})
	}
	return n, nil
}

// Close stops sending and drops the queued notices.
func (n *Notifier) Close() error {
	n.end()
	n.parts.Wait()
	n.closeConnections()
	return nil
}

func (n *Notifier) closeConnections() {
	n.client.CloseIdleConnections()
	n.config.pushClient.CloseIdleConnections()
}

// maxOpen bounds the questions followed at once. Further ones get no notices.
const maxOpen = 256

// maxRetry is the longest pause before the timeline is read again after an error.
const maxRetry = 30 * time.Second

// watchQuestions follows the timeline until ctx ends.
func (n *Notifier) watchQuestions(ctx context.Context) {
	events := make(chan umpire.Event)
	n.parts.Go(func() { n.followTimeline(ctx, events) })
	for {
		var due <-chan time.Time
		if at := slices.IndexFunc(n.open, func(q *question) bool { return q.told == nil }); at >= 0 {
			due = time.After(n.open[at].due.Sub(n.config.now()))
		}
		select {
		case <-ctx.Done():
			return
		case e := <-events:
			n.takeEvent(ctx, &e)
		case <-due:
			n.tellDue(ctx)
		}
	}
}

// followTimeline passes on new events, preceded by those of the questions already waiting.
func (n *Notifier) followTimeline(ctx context.Context, events chan<- umpire.Event) {
	gate, pause, after, begun := n.config.Gate, n.config.pause, int64(0), false
	hand := func(e umpire.Event) bool {
		select {
		case events <- e:
			return true
		case <-ctx.Done():
			return false
		}
	}
	for ctx.Err() == nil {
		var err error
		if !begun {
			after, err = n.followWaiting(ctx, hand)
			begun = err == nil
		}
		if begun {
			for e, failed := range gate.Watch(ctx, umpire.Filter{After: after}) {
				if err = failed; err != nil || !hand(e) {
					break
				}
				after, pause = e.Seq, n.config.pause
			}
		}
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			n.config.Warn(umpire.Errorf("notify: %w", err))
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
			pause = min(2*pause, maxRetry)
		}
	}
}

// followWaiting passes on the questions already waiting, and returns the last event before them.
func (n *Notifier) followWaiting(ctx context.Context, hand func(umpire.Event) bool) (after int64, err error) {
	last, err := n.config.Gate.Events(ctx, umpire.Filter{Last: 1})
	if err != nil {
		return 0, err
	}
	waiting, err := n.config.Gate.Pending(ctx, umpire.PendingQuery{})
	for i := range waiting {
		hand(umpire.Event{
			Kind: umpire.EventPermissionAsked, Request: waiting[i].Request, Session: waiting[i].Session,
		})
	}
	return umpire.LastSeq(last), err
}

// takeEvent processes an event.
func (n *Notifier) takeEvent(ctx context.Context, e *umpire.Event) {
	known := slices.ContainsFunc(n.open, func(q *question) bool { return q.request == e.Request })
	switch {
	case !view.ChangesPending(e.Kind):
	case e.Kind == umpire.EventPermissionAsked && !known && len(n.open) < maxOpen:
		due := n.config.now().Add(n.config.Notify.After)
		n.open = append(n.open, &question{request: e.Request, session: e.Session, due: due})
	case e.Kind == umpire.EventPermissionAsked && !known:
		for _, q := range n.queues {
			q.report.countDrop(q.name())
		}
		for _, q := range n.browsers {
			q.report.countDrop(q.name())
		}
	case e.Kind == umpire.EventPermissionApproved || e.Kind == umpire.EventPermissionRejected:
		standing := view.StandingOf(e)
		n.closeQuestions(ctx, &standing, func(q *question) bool { return q.request == e.Request })
	default: // a batch or a session may have ended
		n.closeGone(ctx, e.Session)
	}
}

// closeQuestions drops questions that are no longer waiting, and updates the notices sent for them.
func (n *Notifier) closeQuestions(ctx context.Context, s *umpire.Standing, is func(q *question) bool) {
	n.open = slices.DeleteFunc(n.open, func(q *question) bool {
		if !is(q) {
			return false
		}
		if n.relay != nil {
			n.relay.tokens.expire(q.request)
		}
		if q.told != nil {
			q.told.settled.Store(true)
			n.announceAll(ctx, describeAnswer(q.told, s, n.config.now(), n.config.Text))
		}
		return true
	})
}

// closeGone closes a session's questions that are no longer waiting.
func (n *Notifier) closeGone(ctx context.Context, session umpire.SessionID) {
	if !slices.ContainsFunc(n.open, func(q *question) bool { return q.session == session }) {
		return
	}
	waiting, err := n.config.Gate.Pending(ctx, umpire.PendingQuery{Session: session})
	if err != nil {
		n.config.Warn(umpire.Errorf("notify: %w", err))
		return
	}
	n.closeQuestions(ctx, nil, func(q *question) bool {
		return q.session == session && findQuestion(waiting, q.request) == nil
	})
}

func findQuestion(list []umpire.Pending, request umpire.RequestID) *umpire.Pending {
	for i := range list {
		if list[i].Request == request {
			return &list[i]
		}
	}
	return nil
}

// tellDue sends notices of the questions that have waited long enough.
func (n *Notifier) tellDue(ctx context.Context) {
	now := n.config.now()
	gone := map[umpire.RequestID]bool{}
	for _, q := range n.open {
		if q.told != nil || q.due.After(now) {
			continue
		}
		told, err := n.describe(ctx, q)
		switch {
		case err != nil:
			n.config.Warn(umpire.Errorf("notify: %w", err))
			q.due = now.Add(n.config.pause)
		case told == nil:
			gone[q.request] = true
		default:
			q.told = told
			n.announceAll(ctx, told)
		}
	}
	n.closeQuestions(ctx, nil, func(q *question) bool { return gone[q.request] })
}

// describe makes the notice of a question, or nil if it is no longer waiting.
func (n *Notifier) describe(ctx context.Context, q *question) (*notice, error) {
	waiting, err := n.config.Gate.Pending(ctx, umpire.PendingQuery{Session: q.session})
	if err != nil {
		return nil, err
	}
	p := findQuestion(waiting, q.request)
	if p == nil {
		return nil, nil //nolint:nilnil // a missing question is not an error
	}
	session, err := n.config.Gate.Sessions().Get(ctx, q.session)
	if err != nil {
		return nil, err
	}
	card := view.New(*p, session, n.config.Home, n.config.Text, n.config.now(), false)
	told := describe(card, n.config.Text, n.config.Notify.Commands)
	n.addButtons(told, card)
	return told, nil
}

// announceAll queues a notice for every target.
func (n *Notifier) announceAll(ctx context.Context, what *notice) {
	n.followBrowsers(ctx)
	for _, q := range n.queues {
		q.enqueue(what)
	}
	for _, q := range n.browsers {
		q.enqueue(what)
	}
}
