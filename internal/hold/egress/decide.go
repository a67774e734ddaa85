package egress

import (
	"cmp"
	"context"
	"net/netip"
	"sync"

	"github.com/umpirehq/umpire"
)

// A permit says how a destination was allowed.
type permit struct {
	how   How
	entry Entry
	quota *quota
}

// allow decides about a destination before anything leaves for it. It asks the person if the list does not settle it.
func (p *Proxy) allow(ctx context.Context, d Destination) (permit, Reason) {
	if addr, is := d.address(); is {
		if reason := p.checkReach(netip.AddrPortFrom(addr, d.Port)); reason != 0 {
			return permit{}, reason // a question for it could only be answered wrongly
		}
	}
	entry, why := p.covering(d)
	switch verdict := p.judge(ctx, d, entry, why); {
	case verdict == umpire.Allow:
		why = 0
	case verdict == umpire.Ask:
		why = cmp.Or(why, NotPermitted)
	default:
		return permit{entry: entry}, cmp.Or(why, NotPermitted)
	}
	leave := permit{how: ByEntry, entry: entry}
	if why != 0 {
		if yes, reason := p.ask(ctx, question{d, why, 0}); !yes {
			return permit{entry: entry}, reason
		}
		leave.how = ByPerson
	}
	key, size := "entry "+entry.Text, entry.Quota
	switch {
	case entry.Text == "": // allowed by the person, now or by a rule
		leave.how, key, size = ByPerson, d.String(), DefaultQuota
	case why == 0 && entry.Group != "":
		leave.how = ByGroup
	}
	leave.quota = p.quotaOf(key, size)
	if round, spent := leave.quota.spent(); spent {
		yes, reason := p.ask(ctx, question{d, OverQuota, round})
		if !yes {
			return permit{entry: entry}, reason
		}
		leave.quota.extend(round)
	}
	return leave, 0
}

// judged are the arguments of Judge, with the text of the entry.
type judged struct {
	d     Destination
	entry string
	why   Reason
}

// judge returns the verdict about a destination, which Judge gives once.
func (p *Proxy) judge(ctx context.Context, d Destination, e Entry, why Reason) umpire.Verdict {
	if p.Judge == nil {
		if why != 0 {
			return umpire.Ask
		}
		return umpire.Allow
	}
	key := judged{d, e.Text, why}
	p.mu.Lock()
	verdict, known := p.verdicts[key]
	p.mu.Unlock()
	if known {
		return verdict
	}
	verdict = p.Judge(ctx, d, e, why)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.verdicts) >= maxVerdicts {
		clear(p.verdicts)
	}
	if ctx.Err() == nil {
		p.verdicts = put(p.verdicts, key, verdict)
	}
	return verdict
}

// covering returns the entry that covers a destination, and why it does not suffice.
func (p *Proxy) covering(d Destination) (Entry, Reason) {
	entry, found := p.entryOf(d)
	wild := entry.wild(d)
	switch {
	case !found && p.List.findsHost(d):
		return Entry{}, PortNotListed
	case !found:
		return Entry{}, NotListed
	case wild == "":
		return entry, 0
	case looksRandom(wild):
		return entry, RandomName
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	used := p.names[entry.Text]
	if !used[d.Host] && len(used) >= maxNames {
		return entry, ManyNames
	}
	if used == nil {
		used = map[string]bool{}
		p.names = put(p.names, entry.Text, used)
	}
	used[d.Host] = true
	return entry, 0
}

// checkReach returns why an address may not be reached, or 0.
func (p *Proxy) checkReach(to netip.AddrPort) Reason {
	local := p.local
	if local == nil {
		local = localPrefixes
	}
	prefixes, err := local()
	reason := checkAddress(to.Addr(), prefixes)
	if err != nil && reason == 0 {
		reason = PrivateAddress // nothing tells the machine's own addresses apart
	}
	if reason != 0 && p.List.findsAddress(to, reason == MetadataAddress) {
		return 0
	}
	return reason
}

// put assigns to a map, and makes a nil one first.
func put[K comparable, V any](m map[K]V, key K, value V) map[K]V {
	if m == nil {
		m = map[K]V{}
	}
	m[key] = value
	return m
}

// A question is put to the person once. The round counts the questions about one quota.
type question struct {
	d     Destination
	why   Reason
	round int
}

// An answer may still be waited for.
type answer struct {
	done      chan struct{} // closed when the rest is set
	yes       bool
	withdrawn bool // its connection ended before the person answered
}

// ask returns the person's answer, and the reason of a refusal. Connections with the same question wait for one answer.
func (p *Proxy) ask(ctx context.Context, q question) (bool, Reason) {
	if p.Ask == nil {
		return false, q.why
	}
	for {
		p.mu.Lock()
		a, asked := p.answers[q]
		if !asked {
			if len(p.answers) >= maxQuestions {
				p.mu.Unlock()
				return false, ManyQuestions
			}
			a = &answer{done: make(chan struct{})}
			p.answers = put(p.answers, q, a)
			p.mu.Unlock()
			return p.pose(ctx, q, a), q.why
		}
		p.mu.Unlock()
		select {
		case <-a.done:
			if !a.withdrawn {
				return a.yes, q.why
			}
		case <-ctx.Done():
			return false, q.why
		}
	}
}

// pose puts a question to the person, one at a time.
func (p *Proxy) pose(ctx context.Context, q question, a *answer) bool {
	a.withdrawn = true
	defer func() {
		p.mu.Lock()
		if a.withdrawn {
			delete(p.answers, q)
		}
		p.mu.Unlock()
		close(a.done)
	}()
	p.turn.Lock()
	defer p.turn.Unlock()
	if ctx.Err() != nil {
		return false
	}
	yes := p.Ask(ctx, q.d, q.why)
	if ctx.Err() == nil {
		a.yes, a.withdrawn = yes, false
	}
	return a.yes
}

// A quota counts the bytes sent to the destinations of an entry.
type quota struct {
	mu    sync.Mutex
	left  int64
	size  int64
	round int  // how often the person extended it
	over  bool // more was to be sent
}

func (p *Proxy) quotaOf(key string, size int64) *quota {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := p.quotas[key]
	if q == nil {
		q = &quota{left: size, size: size}
		p.quotas = put(p.quotas, key, q)
	}
	return q
}

// spend reports whether n bytes more may be sent, and counts them. After a no the quota is spent.
func (q *quota) spend(n int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.over = q.over || int64(n) > q.left; q.over {
		return false
	}
	q.left -= int64(n)
	return true
}

func (q *quota) spent() (round int, spent bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.round, q.over || q.left <= 0
}

// extend grants the quota once more. Several connections may have waited for one answer, which grants it once.
func (q *quota) extend(round int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.round == round {
		q.round, q.over, q.left = round+1, false, q.left+q.size
	}
}
