package notice

import (
	"context"
	"maps"
)

// listTargets returns the configured targets.
func (n *Notifier) listTargets() (all []target, err error) {
	c, post := &n.config, poster{n.client}
	if server := c.Notify.Ntfy; server != nil {
		t := &ntfyTarget{poster: post, server: *server, text: c.Text}
		if server.TokenFile != "" {
			if t.token, err = readSecret(c.Secrets, server.TokenFile); err != nil {
				return nil, err
			}
		}
		all = append(all, t)
		if server.Replies != "" {
			n.relay = &relay{
				server: *server, token: t.token, client: n.client, gate: c.Gate, report: n.report, warn: c.Warn,
				pause: c.pause, tokens: tokens{now: c.now}, asksTrust: c.Notify.RelayTrusted,
			}
		}
	}
	for _, hook := range c.Notify.Webhooks {
		secret, err := readSecret(c.Secrets, hook.SecretFile)
		if err != nil {
			return nil, err
		}
		all = append(all, &webhookTarget{poster: post, url: hook.URL, secret: secret, now: c.now})
	}
	return all, nil
}

// A browserQueue sends notices to a browser until it is gone.
type browserQueue struct {
	*queue

	end context.CancelFunc
}

// listBrowsers returns the targets of the subscribed browsers.
func (n *Notifier) listBrowsers() (all []*pushTarget, err error) {
	push := n.config.Push
	if push == nil {
		return nil, nil
	}
	list, err := push.Browsers()
	if err != nil || len(list) == 0 {
		return nil, err
	}
	key, err := push.readKey()
	if err != nil {
		return nil, err
	}
	for _, b := range list {
		all = append(all, &pushTarget{
			poster: poster{n.config.pushClient}, push: push, to: b, key: key, now: n.config.now,
		})
	}
	return all, nil
}

// followBrowsers starts queues for new browsers, and ends those of browsers that are gone.
func (n *Notifier) followBrowsers(ctx context.Context) {
	list, err := n.listBrowsers()
	if err != nil {
		n.config.Warn(err)
		return
	}
	gone := maps.Clone(n.browsers)
	for _, t := range list {
		id := t.to.ID()
		delete(gone, id)
		if n.browsers[id] != nil {
			continue
		}
		sends, end := context.WithCancel(ctx)
		added := &browserQueue{newQueue(t, n.report, n.config.pause), end}
		n.browsers[id] = added
		n.parts.Go(func() { added.deliverAll(sends) })
	}
	for id, q := range gone {
		q.end()
		n.report.forget(q.name())
		delete(n.browsers, id)
	}
}

// Targets returns the names of all targets. It fails if notices could not be sent, as far as that
// can be checked without sending one.
func Targets(c Config) (names []string, err error) {
	n, err := newNotifier(c)
	if err != nil {
		return nil, err
	}
	all, err := n.listAll()
	for _, t := range all {
		names = append(names, t.name())
	}
	return names, err
}

// listAll lists the configured targets, and the browsers.
func (n *Notifier) listAll() (all []target, err error) {
	for _, q := range n.queues {
		all = append(all, q.target)
	}
	browsers, err := n.listBrowsers()
	for _, t := range browsers {
		all = append(all, t)
	}
	return all, err
}

// A TestResult is the result of a test notice at one target.
type TestResult struct {
	Name string
	Err  error
}

// Test sends a notice to every target, once, and returns the results.
func Test(ctx context.Context, c Config) ([]TestResult, error) {
	n, err := newNotifier(c)
	if err != nil {
		return nil, err
	}
	defer n.closeConnections()
	targets, err := n.listAll()
	var all []TestResult
	for _, t := range targets {
		all = append(all, TestResult{t.name(), t.deliver(ctx, testNotice(n.config.now(), c.Text))})
	}
	return all, err
}
