package prove

import (
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/rulefile/wildcard"
	"github.com/umpirehq/umpire/policy"
)

// A Result is the answer to a question. The zero value decides nothing.
type Result uint8

// The results.
const (
	Undecided Result = iota
	No               // no access of the model does it
	Yes              // the example does it
)

var resultNames = [...]string{Undecided: "undecided", No: "no", Yes: "yes"}

// String returns the result's name.
func (r Result) String() string { return resultNames[min(int(r), int(Yes))] }

// MarshalText writes the result's name.
func (r Result) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// An Answer is a result with its reasons.
type Answer struct {
	Result Result
	// Why explains an undecided answer.
	Why umpire.Phrase
	// Example is a shortest call that shows a yes. It may be nil.
	Example *Example
	// Rules are the rules that the answer is about: those that decide in place of another one.
	Rules []umpire.RuleRef
	// Dead says that a rule matches nothing at all.
	Dead bool
	// Gaps are the differences between the model and a shell that matter for this answer.
	Gaps []umpire.Phrase
}

// An Example is a call that shows an answer.
type Example struct {
	Call umpire.Call
	// Command is the command line, or "" for another tool.
	Command string
	// Target is the path, host or command that the question is about.
	Target string
	// Decision is the model's, and Checked that of Setting.Check, if it was asked.
	Decision, Checked umpire.Decision
	// Confirmed says that Checked agrees with the answer.
	Confirmed bool
}

// A Question is whether a call may make an access. The zero value asks nothing.
type Question struct {
	Kind umpire.AccessKind
	// Patterns are absolute patterns of paths, for reads, writes and deletions.
	Patterns []string
	// Line is a command line, for programs. Words asks about all commands that begin with its words.
	Line  string
	Words bool
	// Host is a host, or *.DOMAIN for the hosts below a domain.
	Host string
	// Asked includes calls that ask a person.
	Asked bool
}

// maxChecks and maxDecisions bound the work for one answer.
const (
	maxChecks    = 24
	maxDecisions = 20_000
)

// permits reports whether a decision is one that the question asks for.
func (q *Question) permits(d *umpire.Decision) bool {
	return d.Verdict == umpire.Allow || q.Asked && d.Verdict == umpire.Ask
}

// A search gathers the examples on the way to an answer.
type search struct {
	world *World
	asks  *Question
	// found is the first example that runs with any files on this machine; maybe is one for which they matter.
	found, maybe *Example
	supposed     *umpire.Rule // a rule for commands that might make the access
	checks       int
	begun        int
	confirmed    bool
}

func newSearch(w *World, q *Question) *search { return &search{world: w, asks: q, begun: w.decisions} }

// offer decides a call in both views. It returns true once the answer is certain.
func (s *search) offer(e Example, facts *umpire.Facts, supposed *umpire.Rule) bool {
	w := s.world
	if supposed != nil && s.supposed != nil {
		return false // one rule is enough to name
	}
	copied := func() umpire.Facts {
		return umpire.Facts{Type: facts.Type, Accesses: facts.Accesses, Guesses: facts.Guesses}
	}
	e.Decision = w.verdictOn(w.policy, e.Call, copied(), most)
	if !s.asks.permits(&e.Decision) {
		return false
	}
	if supposed != nil {
		s.supposed = supposed
		return false
	}
	sure := w.verdictOn(w.policy, e.Call, copied(), least)
	certain := s.asks.permits(&sure)
	if certain {
		e.Decision = sure
	}
	if w.Check != nil && s.checks < maxChecks {
		s.checks++
		e.Checked = w.Check(e.Call)
		e.Confirmed = s.asks.permits(&e.Checked)
	}
	switch {
	case e.Confirmed || certain && w.Check == nil:
		s.found, s.confirmed = &e, e.Confirmed
		return true
	case certain && s.found == nil:
		s.found = &e
	case s.maybe == nil:
		s.maybe = &e
	}
	return false
}

// overspent reports whether the search has used up its decisions.
func (s *search) overspent() bool { return s.world.decisions-s.begun > maxDecisions }

// conclude sums a search up. stopped says why it did not see everything, or is "".
func (s *search) conclude(stopped umpire.Phrase) Answer {
	a := Answer{}
	switch {
	case s.found != nil:
		a.Result, a.Example = Yes, s.found
		if s.world.Check != nil && !s.confirmed {
			a.Gaps = append(a.Gaps, umpire.Say("the model says %s, umpire check says %s: %s",
				umpire.Phrase(s.found.Decision.Verdict.String()), umpire.Phrase(s.found.Checked.Verdict.String()),
				s.found.Checked.Reason))
		}
	case s.maybe != nil:
		a.Example = s.maybe
		a.Why = umpire.Say("it depends on the files on this machine: %s", s.maybe.Decision.Reason)
	case s.overspent():
		a.Why = umpire.Say("the question needs more than %s decisions", maxDecisions)
	case stopped != "":
		a.Why = stopped
	default:
		if a.Result = No; s.supposed != nil {
			a.Gaps = append(a.Gaps, umpire.Say("no known option of %s does it, but the rule would cover one",
				policy.FormatShort(*s.supposed)))
		}
	}
	return a
}

// Can answers whether any call of the model may make an access.
func (w *World) Can(q Question) Answer {
	switch q.Kind {
	case umpire.KindRead, umpire.KindWrite, umpire.KindDelete:
		return w.canTouch(&q)
	case umpire.KindExec:
		return w.canRun(&q)
	case umpire.KindNetwork:
		return w.canReach(&q)
	case umpire.KindUnknown, umpire.KindInvoke:
	}
	return Answer{Why: "the question is about no kind of access that the model has"}
}

// canTouch answers a question about paths.
func (w *World) canTouch(q *Question) Answer {
	m := w.model(q.Kind, nil)
	for _, pattern := range q.Patterns {
		if err := wildcard.Validate(pattern); err != nil || !strings.HasPrefix(pattern, "/") {
			return Answer{Why: umpire.Say("%q is not an absolute path or pattern", pattern)}
		}
		if isUnmodelled(pattern) {
			return Answer{Why: umpire.Say("the model has no paths with a colon or a backslash: %s", pattern)}
		}
		m.addPattern("question", pattern, umpire.Allow, false)
	}
	w.giveUp(m, q, "")
	s, shapes := newSearch(w, q), w.shapes(q.Kind)
	stopped := m.walk(m.group("question"), func(target string, _ groupSet) bool {
		for i := range shapes {
			facts := w.factsOn(&shapes[i], target)
			e := Example{Call: shapes[i].call(target), Command: shapes[i].lineOn(target), Target: target}
			if s.offer(e, &facts, shapes[i].rule) {
				return false
			}
		}
		return !s.overspent()
	})
	if stopped == "" && m.leftOut != "" {
		stopped = umpire.Say("the model has no paths with a colon or a backslash: %s", m.leftOut)
	}
	if profile := w.Given.Profile; stopped == "" && q.Kind != umpire.KindRead && profile != nil &&
		len(profile.EditableSuffixes) > 0 {
		stopped = "the profile limits files by their suffixes, which the model does not tell apart"
	}
	if stopped == "" && w.cut {
		stopped = umpire.Say("more than %s rules allow commands", maxCommands)
	}
	return s.conclude(stopped)
}

// canRun answers a question about commands.
func (w *World) canRun(q *Question) Answer {
	s := newSearch(w, q)
	if !q.Words {
		facts, err := w.factsOf(q.Line)
		if err != nil {
			return Answer{Why: umpire.Say("the command line cannot be read: %s", err)}
		}
		s.offer(Example{Call: commandCall(q.Line), Command: q.Line, Target: q.Line}, &facts, nil)
		return s.conclude("")
	}
	words, err := policy.SplitPrefix(q.Line)
	if err != nil || len(words) == 0 {
		return Answer{Why: umpire.Say("the command line cannot be read: %s", q.Line)}
	}
	for _, words := range append(w.lines(words), w.uses(words, freshWord)...) {
		line := joinWords(words)
		facts, err := w.factsOf(line)
		if err == nil && s.offer(Example{Call: commandCall(line), Command: line, Target: line}, &facts, nil) ||
			s.overspent() {
			return s.conclude("")
		}
	}
	a := s.conclude("")
	if a.Result == No && isOwn(words) && (len(words) == 1 || strings.HasPrefix(words[1], "-")) {
		return Answer{Why: ownCommands}
	}
	if facts := mildest(words); a.Result == No {
		if d := w.verdictOn(w.policy, commandCall(joinWords(words)), facts, most); q.permits(&d) {
			a.Gaps = append(a.Gaps, "each option in umpire's tables was tried by itself, and several together were not")
		}
	}
	return a
}

func commandCall(line string) umpire.Call { return callOf("Bash", map[string]string{"command": line}) }

// factsOf returns the facts of a command line, with its paths placed.
func (w *World) factsOf(line string) (umpire.Facts, error) {
	env := w.env()
	facts, err := policy.FactsOf(commandCall(line), env)
	w.putInPlace(&facts)
	return facts, err
}

// mildest returns the facts of a command that is known to be harmless.
func mildest(words []string) umpire.Facts {
	a := umpire.Access{
		Kind: umpire.KindExec, Program: baseName(words[0]), Args: words[1:], Target: joinWords(words),
		Words: words, Line: words, Base: 1, Part: 1, Risk: umpire.Safe, Consequence: umpire.Harmless,
	}
	return umpire.Facts{Type: umpire.ShellExecute, Accesses: []umpire.Access{a}}
}

func baseName(program string) string { return program[strings.LastIndexByte(program, '/')+1:] }

func joinWords(words []string) string { return policy.JoinPrefix(words) }

// freshWord is a word of no rule and no table.
const freshWord = "xfresh"

// lines returns the commands that begin with words and differ for the rules: those of the rules, and those with one
// more word. Every other command matches the same rules that allow, and at least as many that deny or ask.
func (w *World) lines(words []string) [][]string {
	lines := [][]string{words, append(slices.Clone(words), freshWord)}
	for i := range w.Rules {
		of := wordsOf(&w.Rules[i])
		for n := len(words) + 1; n <= len(of); n++ {
			if slices.Equal(of[:len(words)], words) {
				lines = append(lines, of[:n], append(slices.Clone(of[:n]), freshWord))
			}
		}
	}
	slices.SortStableFunc(lines, func(a, b []string) int { return len(joinWords(a)) - len(joinWords(b)) })
	return slices.CompactFunc(lines, slices.Equal)
}

// wordsOf returns the words of a rule about commands, or nil.
func wordsOf(r *umpire.Rule) []string {
	words, err := policy.SplitPrefix(r.Match.CommandPrefix + r.Match.Command)
	if err != nil {
		return nil // no valid rule
	}
	return words
}

// freshLabel is a part of a host's name that no rule and no table has.
const freshLabel = "xfresh"

// canReach answers a question about hosts.
func (w *World) canReach(q *Question) Answer {
	s := newSearch(w, q)
	for _, host := range w.hosts(q.Host) {
		for _, e := range reaching(host) {
			facts, err := policy.FactsOf(e.Call, w.env())
			w.putInPlace(&facts)
			if err == nil && s.offer(e, &facts, nil) {
				return s.conclude("")
			}
		}
	}
	return s.conclude("")
}

// reaching returns the mildest calls that reach a host.
func reaching(host string) []Example {
	line := "curl https://" + host + "/"
	return []Example{
		{Call: commandCall(line), Command: line, Target: host},
		{Call: callOf("WebFetch", map[string]string{"url": "https://" + host + "/"}), Target: host},
	}
}

// unnamed returns a host that no domain names.
func unnamed(domains []string) string {
	for _, host := range []string{"example.org", "example.com", "example.net"} {
		if !slices.ContainsFunc(domains, func(domain string) bool {
			return domain != "*" && strings.HasSuffix("."+host, "."+strings.TrimPrefix(domain, "*."))
		}) {
			return host
		}
	}
	return freshLabel + "." + freshLabel
}

// hosts returns a host for every class within a host or *.DOMAIN that rules and destinations tell apart.
func (w *World) hosts(within string) []string {
	domains := slices.Clone(w.Options.Destinations)
	for i := range w.Rules {
		if domain := w.Rules[i].Match.Domain; domain != "" {
			domains = append(domains, domain)
		}
	}
	var hosts []string
	add := func(host string) {
		host = strings.ToLower(host)
		parent, below := strings.CutPrefix(within, "*")
		if (host == within || within == "*" || below && strings.HasSuffix(host, parent) && host != parent) &&
			!slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	for _, domain := range append([]string{strings.ToLower(within), "*"}, domains...) {
		parent, below := strings.CutPrefix(strings.ToLower(domain), "*.")
		switch {
		case domain == "*":
			add(unnamed(domains))
		case below:
			add(freshLabel + "." + parent)
		default:
			add(domain)
		}
	}
	slices.SortStableFunc(hosts, func(a, b string) int { return len(a) - len(b) })
	return hosts
}
