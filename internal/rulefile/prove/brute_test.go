package prove

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files/sample"
	"github.com/umpirehq/umpire/policy"
)

// Random policies over a few names, compared with all short texts over the same names. The texts are decided with the
// facts of real calls, so the comparison also covers the facts that the model puts together.

const smallRoot, smallHome = "/p", "/h"

// A dice draws small policies.
type dice struct {
	*rand.Rand

	names, words []string
}

func pick[T any](d *dice, from ...T) T { return from[d.IntN(len(from))] }

func newDice(seed uint64) *dice {
	d := &dice{Rand: rand.New(rand.NewPCG(seed, 7))}
	names := []string{"a", "b", "A", "ab", ".env", ".ssh", "a.pub", ".git", "config", "x.pem", "c", "Users", "tmp"}
	d.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	d.names = names[:3]
	words := []string{"touch", "cat", "git", "push", "-f", "a", "npm", "test", "xcmd", "rm", "ls", "--force", "umpire"}
	d.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	d.words = words[:4]
	return d
}

func (d *dice) segment() string {
	switch d.IntN(5) {
	case 0, 1:
		return pick(d, d.names...)
	case 2:
		return pick(d, "*", "?", "[ab]", "[!a]*", ".*", "*.*", "[A-Z]*")
	case 3:
		return "**"
	}
	name := pick(d, d.names...)
	return pick(d, name[:1]+"*", "*"+name[len(name)-1:], "{"+name+",b}", name+"*", "?"+name[1:])
}

func (d *dice) pattern(prefixes ...string) string {
	segments := make([]string, 1+d.IntN(3))
	for i := range segments {
		segments[i] = d.segment()
	}
	return pick(d, prefixes...) + strings.Join(segments, "/")
}

func (d *dice) line(n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = pick(d, d.words...)
	}
	return strings.Join(words, " ")
}

var smallHosts = []string{"a.com", "b.a.com", "c.b.a.com", "b.com", "a.com.b.com", "localhost"}

func (d *dice) rule(line int) umpire.Rule {
	r := umpire.Rule{
		ID: umpire.RuleID(fmt.Sprint("r", line)), Action: pick(d, umpire.Allow, umpire.Allow, umpire.Ask, umpire.Deny),
		Source: pick(d, umpire.SourceUser, umpire.SourceUser, umpire.SourceProject, umpire.SourceManaged),
		File:   "f", Line: line,
	}
	switch d.IntN(10) {
	case 0:
		r.Tool = pick(d, "Bash", "Read", "Write", "Edit", "Delete", "*", "WebFetch", "mcp__s__t", "mcp__*", "GitPush", "Nope")
	case 1:
		r.Tool, r.Match.Domain = "WebFetch", pick(d, append([]string{"*", "*.a.com", "*.com"}, smallHosts...)...)
	case 2, 3:
		r.Tool, r.Match.CommandPrefix = "Bash", d.line(1+d.IntN(2))
	case 4:
		r.Tool, r.Match.Command = "Bash", d.line(1+d.IntN(2))
	case 5:
		r.Tool, r.Match.CommandPrefix, r.Match.PathGlob = "Bash", d.line(1), d.pattern("", "/", "~/", "**/")
	default:
		r.Tool = pick(d, "Read", "Write", "Edit", "Delete", "LS", "*", "W*", "NotebookEdit")
		r.Match.PathGlob = d.pattern("", "", "/", "~/", "/p/", "/**/")
	}
	return r
}

// texts are all paths of up to two names below a few folders, and all lines of up to three words.
func (d *dice) texts() (paths, lines []string) {
	for _, base := range []string{"", smallRoot, smallHome} {
		paths = append(paths, base)
		for _, one := range d.names {
			paths = append(paths, base+"/"+one)
			for _, two := range d.names {
				paths = append(paths, base+"/"+one+"/"+two)
			}
		}
	}
	paths[0] = "/"
	for _, one := range d.words {
		lines = append(lines, one)
		for _, two := range d.words {
			lines = append(lines, one+" "+two)
			for _, three := range d.words {
				lines = append(lines, one+" "+two+" "+three)
			}
		}
	}
	return paths, lines
}

// A small is one random policy with its texts.
type small struct {
	t     *testing.T
	dice  *dice
	world *World
	paths []string
	lines []string
	seed  uint64
}

func (s *small) errorf(format string, args ...any) {
	s.t.Helper()
	var rules []string
	for _, r := range s.world.Rules {
		rules = append(rules, fmt.Sprintf("%s %s (%s)", r.Action, policy.FormatShort(r), r.Source))
	}
	s.t.Errorf("seed %d, rules %q: %s", s.seed, rules, fmt.Sprintf(format, args...))
}

// decide decides a call with its own facts.
func (s *small) decide(w *World, call umpire.Call, v view) umpire.Decision {
	facts, err := policy.FactsOf(call, w.env())
	if err != nil {
		return umpire.Decision{}
	}
	w.putInPlace(&facts)
	return w.verdictOn(w.policy, call, facts, v)
}

// calls are the calls of the shapes on every short path.
func (s *small) calls(kind umpire.AccessKind, within func(path string) bool) (calls []umpire.Call, targets []string) {
	for _, target := range s.paths {
		if !within(target) {
			continue
		}
		for _, shape := range s.world.shapes(kind) {
			if shape.rule == nil {
				calls, targets = append(calls, shape.call(target)), append(targets, target)
			}
		}
	}
	return calls, targets
}

// everything are calls of all kinds.
func (s *small) everything() (calls []umpire.Call) {
	for _, kind := range pathKinds {
		more, _ := s.calls(kind, func(string) bool { return true })
		calls = append(calls, more...)
	}
	for _, line := range s.lines {
		calls = append(calls, commandCall(line))
	}
	for _, host := range smallHosts {
		for _, e := range reaching(host) {
			calls = append(calls, e.Call)
		}
	}
	return append(calls, umpire.Call{Tool: "mcp__s__t", Input: []byte("{}")})
}

// within returns a function that reports whether a path matches a pattern, by a rule for it.
func (s *small) within(pattern string) func(path string) bool {
	r := umpire.Rule{ID: "within", Action: umpire.Allow, Tool: "Read", Source: umpire.SourceUser, Match: umpire.Match{PathGlob: pattern}}
	alone, err := policy.New([]umpire.Rule{r}, s.world.Options)
	if err != nil {
		s.t.Fatal(err)
	}
	return func(path string) bool {
		facts := umpire.Facts{Accesses: []umpire.Access{{Kind: umpire.KindRead, Target: path}}}
		s.world.putInPlace(&facts)
		d := s.world.verdictOn(alone, umpire.Call{Tool: "Read"}, facts, least)
		return mentions(&d, r.Ref())
	}
}

func (s *small) askTouch() Answer {
	q := Question{
		Kind: pick(s.dice, pathKinds...), Patterns: []string{s.dice.pattern("/", "/p/", "/p/", "/h/")}, Asked: s.dice.IntN(4) == 0,
	}
	a := s.world.Can(q)
	within := s.within(q.Patterns[0])
	s.compare(&q, a)
	calls, targets := s.calls(q.Kind, within)
	for i, call := range calls {
		d := s.decide(s.world, call, most)
		switch {
		case !q.permits(&d):
		case a.Result == No:
			s.errorf("%s %s: no, but %s %s does", q.Kind, q.Patterns, call.Tool, call.Input)
			return a
		case a.Result == Yes && len(targets[i]) < len(a.Example.Target):
			if d = s.decide(s.world, call, least); q.permits(&d) {
				s.errorf("%s %s: %q is shorter than %q", q.Kind, q.Patterns, targets[i], a.Example.Target)
				return a
			}
		}
	}
	if a.Result == Yes && !within(a.Example.Target) {
		s.errorf("%s %s: %s lies elsewhere", q.Kind, q.Patterns, a.Example.Target)
	}
	return a
}

// compare checks the example of an answer.
func (s *small) compare(q *Question, a Answer) {
	if a.Result == Yes {
		if d := s.decide(s.world, a.Example.Call, least); !q.permits(&d) {
			s.errorf("%v: the example %s is %s: %s", q, a.Example.Call.Input, d.Verdict, d.Reason)
		}
	}
}

func (s *small) askRun() Answer {
	q := Question{Kind: umpire.KindExec, Line: s.dice.line(1 + s.dice.IntN(2)), Words: s.dice.IntN(3) > 0, Asked: s.dice.IntN(4) == 0}
	a := s.world.Can(q)
	s.compare(&q, a)
	for _, line := range s.lines {
		if line != q.Line && !(q.Words && strings.HasPrefix(line, q.Line+" ")) {
			continue
		}
		if d := s.decide(s.world, commandCall(line), most); q.permits(&d) && a.Result == No {
			s.errorf("run %q: no, but %q does: %s", q.Line, line, d.Reason)
		}
	}
	return a
}

func (s *small) askReach() Answer {
	q := Question{Kind: umpire.KindNetwork, Host: pick(s.dice, append([]string{"*.a.com", "*.com", "*"}, smallHosts...)...)}
	a := s.world.Can(q)
	s.compare(&q, a)
	for _, host := range smallHosts {
		parent, below := strings.CutPrefix(q.Host, "*")
		if host != q.Host && !(below && strings.HasSuffix(host, parent)) {
			continue
		}
		for _, e := range reaching(host) {
			if d := s.decide(s.world, e.Call, most); q.permits(&d) && a.Result == No {
				s.errorf("reach %q: no, but %q does", q.Host, host)
			}
		}
	}
	return a
}

func (s *small) askApplies() Answer {
	at := s.dice.IntN(len(s.world.Rules))
	ref := s.world.Rules[at].Ref()
	a := s.world.Applies(at)
	if a.Result == Yes {
		d := s.decide(s.world, a.Example.Call, least)
		if does, _, _ := settles(&d, ref); !does {
			s.errorf("rule %s applies to %s: it does not", ref.ID, a.Example.Call.Input)
		}
		return a
	}
	for _, call := range s.everything() {
		d := s.decide(s.world, call, most)
		does, _, _ := settles(&d, ref)
		if a.Result == No && does {
			s.errorf("rule %s never applies, but to %s", ref.ID, call.Input)
			break
		}
		if a.Dead && mentions(&d, ref) {
			s.errorf("rule %s is dead, but matches %s", ref.ID, call.Input)
			break
		}
	}
	return a
}

func (s *small) askConflicts() Answer {
	at, with := s.dice.IntN(len(s.world.Rules)), s.dice.IntN(len(s.world.Rules))
	one, other := s.world.Rules[at], s.world.Rules[with]
	a := s.world.Conflicts(at, with)
	setting := s.world.Setting
	setting.Rules = []umpire.Rule{one, other}
	pair, err := New(setting)
	if err != nil {
		s.t.Fatal(err)
	}
	both := func(call umpire.Call) bool {
		d := s.decide(pair, call, most)
		for i := range d.Accesses {
			found := 0
			for _, r := range d.Reasons {
				if r.Access == i && r.Rule != nil && (*r.Rule == one.Ref() || *r.Rule == other.Ref()) && s.covers(pair, &d, i, r.Rule) {
					found++
				}
			}
			if found > 1 {
				return true
			}
		}
		return false
	}
	switch {
	case a.Result == Yes && !both(a.Example.Call):
		s.errorf("%s conflicts with %s for %s: it does not", one.ID, other.ID, a.Example.Call.Input)
	case a.Result == No && one.Action != other.Action:
		for _, call := range s.everything() {
			if both(call) {
				s.errorf("%s and %s do not conflict, but for %s", one.ID, other.ID, call.Input)
				break
			}
		}
	}
	return a
}

// covers reports whether a rule matches an access itself, and not by the program that makes it.
func (s *small) covers(w *World, d *umpire.Decision, access int, ref *umpire.RuleRef) bool {
	at := slices.IndexFunc(w.Rules, func(r umpire.Rule) bool { return r.Ref() == *ref })
	m := w.Rules[at].Match
	return m.Command+m.CommandPrefix == "" || d.Accesses[access].Kind == umpire.KindExec
}

func (s *small) askWider() Answer {
	setting := s.world.Setting
	setting.Rules = slices.Clone(s.world.Rules)
	if at := s.dice.IntN(len(setting.Rules)); s.dice.IntN(2) == 0 {
		setting.Rules = slices.Delete(setting.Rules, at, at+1)
	}
	setting.Rules = append(setting.Rules, s.dice.rule(90))
	other, err := New(setting)
	if err != nil {
		return Answer{Result: No}
	}
	a := s.world.Wider(other)
	if a.Result == Yes {
		was, is := s.decide(s.world, a.Example.Call, least), s.decide(other, a.Example.Call, least)
		if was.Verdict == umpire.Allow || is.Verdict != umpire.Allow {
			s.errorf("wider by %s: it is %s, then %s", a.Example.Call.Input, was.Verdict, is.Verdict)
		}
	}
	if a.Result == No {
		for _, call := range s.everything() {
			was, is := s.decide(s.world, call, least), s.decide(other, call, least)
			if was.Verdict != umpire.Allow && is.Verdict == umpire.Allow {
				s.errorf("not wider by %s %s, but %s", setting.Rules[len(setting.Rules)-1].Action, policy.FormatShort(setting.Rules[len(setting.Rules)-1]), call.Input)
				break
			}
		}
	}
	return a
}

// TestBruteForce: 10,000 small random policies, and no wrong answer.
func TestBruteForce(t *testing.T) {
	t.Parallel()
	chunks, each := sample.Times(3, 20), sample.Times(10, 500)
	modes := []umpire.Mode{umpire.ModeDefault, umpire.ModeDefault, umpire.ModeAuto, umpire.ModeAsk, umpire.ModeBypass}
	for chunk := range chunks {
		t.Run(fmt.Sprint(chunk), func(t *testing.T) {
			t.Parallel()
			setting := Setting{
				Options: policy.Options{
					Root: smallRoot, Home: smallHome, FoldCase: chunk%3 == 2,
					Settings: policy.Settings{
						Mode: umpire.ModeDefault, Autonomy: policy.Levels[chunk%2].Autonomy(), AllowMedium: chunk%7 == 3,
						Precedence: policy.Precedence(chunk % 2), DenyExternal: chunk%5 == 4, Destinations: []string{"b.com"},
					},
				},
				Given: policy.Conditions{Mode: modes[chunk%len(modes)], Now: time.Unix(1_700_000_000, 0)},
			}
			if chunk%4 == 1 {
				setting.Options.StateDir, setting.Options.ControlFiles = "/h/c", []string{"/p/ab"}
			}
			decided := map[Result]int{}
			for i := range each {
				if i%250 == 0 {
					setting.Memo = NewMemo()
				}
				seed := uint64(chunk*10_000 + i)
				decided[oneSmall(t, setting, seed)]++
			}
			t.Log("answers:", decided)
		})
	}
}

func oneSmall(t *testing.T, setting Setting, seed uint64) Result {
	d := newDice(seed)
	for n := range 1 + d.IntN(5) {
		if r := d.rule(n + 1); policy.Validate(r) == nil {
			setting.Rules = append(setting.Rules, r)
		}
	}
	w, err := New(setting)
	if err != nil {
		t.Fatal(err)
	}
	w.work = maxWork / 8 // more answers are undecided, and none is wrong
	s := &small{t: t, dice: d, world: w, seed: seed}
	s.paths, s.lines = d.texts()
	kinds := []func() Answer{s.askTouch, s.askTouch, s.askTouch, s.askRun, s.askReach}
	if len(w.Rules) > 0 {
		kinds = append(kinds, s.askApplies, s.askConflicts)
		if d.IntN(8) == 0 { // the longest one
			kinds = []func() Answer{s.askWider}
		}
	}
	return pick(d, kinds...)().Result
}
