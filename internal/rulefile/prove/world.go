package prove

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/rulefile/wildcard"
	"github.com/umpirehq/umpire/internal/secret/sensitive"
	"github.com/umpirehq/umpire/policy"
	"github.com/umpirehq/umpire/shell"
)

// A Setting is all that the answers depend on.
type Setting struct {
	// Rules are the rules in force. Each needs a place of its own: a file and line, or an id.
	Rules   []umpire.Rule
	Options policy.Options
	// Given are the conditions of the calls. Its functions that look at files are not used.
	Given policy.Conditions
	// Programs are a person's declarations of programs, or nil.
	Programs *shell.Knowledge
	// PlaceOf returns the place of an absolute path without links. If nil, the root of Options is inside.
	PlaceOf func(path string, kind umpire.AccessKind) umpire.Place
	// Landmarks are the folders and files that PlaceOf tells apart.
	Landmarks []string
	// Check decides a call like the gate, files of this machine included. If nil, nothing is confirmed.
	Check func(umpire.Call) umpire.Decision
	// Memo keeps results that rules do not change, for several worlds with the same options and conditions. If nil, a
	// world has its own.
	Memo *Memo
}

// A Memo is shared by worlds that differ only in their rules. It is not safe for concurrent use.
type Memo struct {
	judged map[string]bool // whether rules for a tool judge a kind of access
	vain   map[string]bool // whether groups of patterns end every hope, by their keys
	usual  map[umpire.AccessKind][]shape
	names  *namer
}

// NewMemo returns an empty memo.
func NewMemo() *Memo {
	return &Memo{
		judged: map[string]bool{}, vain: map[string]bool{}, usual: map[umpire.AccessKind][]shape{}, names: newNamer(),
	}
}

// A World is a setting prepared for questions. It is not safe for concurrent use.
type World struct {
	Setting

	policy    *policy.Policy
	work      int                           // the limit of a walk
	spent     int                           // the steps of all walks
	made      map[umpire.AccessKind][]shape // by the commands of rules too
	spelled   map[*umpire.Rule]string
	decisions int
	cut       bool // there are more rules that allow commands than maxCommands
}

// New returns a world. An error is that of a rule.
func New(s Setting) (*World, error) {
	p, err := policy.New(s.Rules, s.Options)
	if err != nil {
		return nil, err
	}
	w := &World{
		Setting: s, policy: p, spelled: map[*umpire.Rule]string{},
		made: map[umpire.AccessKind][]shape{}, work: maxWork,
	}
	if w.Memo == nil {
		w.Memo = NewMemo()
	}
	w.Rules = slices.Collect(p.Rules())
	if w.PlaceOf == nil {
		w.PlaceOf = w.placeByRoot
	}
	return w, nil
}

func (s *Setting) placeByRoot(name string, _ umpire.AccessKind) umpire.Place {
	root := path.Clean(s.Options.Root)
	if s.Options.Root != "" && (name == root || strings.HasPrefix(name, strings.TrimSuffix(root, "/")+"/")) {
		return umpire.PlaceInside
	}
	return umpire.PlaceOutside
}

// Gaps are the limits of the model, for people.
func Gaps() []umpire.Phrase {
	return []umpire.Phrase{
		"code that umpire cannot read (scripts, interpreters) is not part of the model: such a call asks or is tried",
		"calls on whole folders, such as a search of the project, and wildcards in commands are not part of the model",
	}
}

// A shape is one way to make an access: a file tool, or a command line. Its facts come from a call with a neutral path,
// in whose place any other is put.
type shape struct {
	kind umpire.AccessKind
	tool string
	// line is a command line with neutral for its path.
	line  string
	facts umpire.Facts
	// rule is set for a command that a rule names and that is not known to touch the path.
	rule *umpire.Rule
}

// neutral is a path that no rule and no table is about.
const neutral = "/Xneutral/name"

// makers are the usual ways to make an access.
var makers = []struct {
	kind  umpire.AccessKind
	tools []string
	lines []string
}{
	{umpire.KindRead, []string{"Read", "NotebookRead"}, []string{"cat " + neutral}},
	{
		umpire.KindWrite,
		[]string{"Write", "Edit", "MultiEdit", "NotebookEdit", "filesystem-edit", "filesystem-edit_search"},
		[]string{"touch " + neutral, "echo x > " + neutral, "tee " + neutral, "mkdir " + neutral},
	},
	{umpire.KindDelete, []string{"Delete"}, []string{"rm " + neutral, "rmdir " + neutral}},
}

// usualShapes returns the ways to make an access of a kind that need no rule.
func (w *World) usualShapes(kind umpire.AccessKind) []shape {
	if all, ok := w.Memo.usual[kind]; ok {
		return all
	}
	var all []shape
	for _, m := range makers {
		if m.kind != kind {
			continue
		}
		for _, line := range m.lines {
			all = w.addShape(all, shape{kind: kind, tool: "Bash", line: line})
		}
		for _, tool := range m.tools {
			all = w.addShape(all, shape{kind: kind, tool: tool})
		}
	}
	w.Memo.usual[kind] = all
	return all
}

// shapes returns the ways to make an access of a kind. Rules that allow commands add theirs.
func (w *World) shapes(kind umpire.AccessKind) []shape {
	if all, ok := w.made[kind]; ok {
		return all
	}
	all := slices.Clone(w.usualShapes(kind))
	seen := map[string]bool{}
	for i := range w.Rules {
		r := &w.Rules[i]
		text := r.Match.CommandPrefix + r.Match.Command
		if r.Action != umpire.Allow || text == "" || seen[text] {
			continue
		}
		if w.cut = len(seen) >= maxCommands; w.cut {
			break
		}
		seen[text] = true
		all = w.addUsing(all, kind, r)
	}
	w.made[kind] = all
	return all
}

// Limits on the ways that rules about commands add.
const (
	maxCommands = 200
	maxPerRule  = 3
)

// addUsing adds the uses of a rule's command that touch a path, or the command as if one did.
func (w *World) addUsing(all []shape, kind umpire.AccessKind, r *umpire.Rule) []shape {
	n := len(all)
	if r.Match.Command == "" {
		for _, words := range w.uses(wordsOf(r), neutral) {
			all = w.addShape(all, shape{kind: kind, tool: "Bash", line: joinWords(words)})
			if len(all) == n+maxPerRule {
				break
			}
		}
	}
	if len(all) == n {
		all = w.addShape(all, shape{kind: kind, tool: "Bash", line: r.Match.CommandPrefix + r.Match.Command, rule: r})
	}
	return all
}

// addShape adds a shape if its call makes such an access without doubt.
func (w *World) addShape(all []shape, s shape) []shape {
	facts, err := policy.FactsOf(s.call(neutral), w.env())
	if err != nil {
		return all
	}
	if s.rule != nil {
		// Some options may make the command do so: suppose that it does.
		a := umpire.Access{Kind: s.kind, Target: neutral, Risk: umpire.Low}
		for i := range facts.Accesses {
			if f := &facts.Accesses[i]; f.Kind == umpire.KindExec {
				f.Doubt, f.Risk, f.Code, a.Part = "", min(f.Risk, umpire.Low), false, f.Part
				s.facts = umpire.Facts{Type: facts.Type, Accesses: []umpire.Access{*f, a}}
				return append(all, s)
			}
		}
		return all
	}
	s.facts = facts
	for i := range facts.Accesses {
		if a := &facts.Accesses[i]; a.Kind == s.kind && a.Target == neutral && !a.Tree && !a.Glob {
			return append(all, s)
		}
	}
	return all
}

// call returns the call of the shape on a path.
func (s *shape) call(target string) umpire.Call {
	input := map[string]string{"file_path": target}
	if s.tool == "NotebookEdit" || s.tool == "NotebookRead" {
		input = map[string]string{"notebook_path": target}
	}
	if s.tool == "Bash" {
		input = map[string]string{"command": s.lineOn(target)}
	}
	return callOf(s.tool, input)
}

// lineOn returns the command line of the shape on a path.
func (s *shape) lineOn(target string) string {
	return strings.ReplaceAll(s.line, neutral, shell.Quote(target))
}

func callOf(tool string, input map[string]string) umpire.Call {
	raw, err := json.Marshal(input)
	if err != nil {
		raw = nil // a map of texts can always be written; without an input the call is refused
	}
	return umpire.Call{Tool: tool, Input: raw}
}

// factsOn returns the facts of the shape with a path in place of the neutral one.
func (w *World) factsOn(s *shape, target string) umpire.Facts {
	facts := s.facts
	facts.Accesses = slices.Clone(facts.Accesses)
	for i := range facts.Accesses {
		a := &facts.Accesses[i]
		a.Target = strings.ReplaceAll(a.Target, neutral, target)
		for _, list := range []*[]string{&a.Words, &a.Line, &a.Args} {
			*list = slices.Clone(*list)
			for k, word := range *list {
				(*list)[k] = strings.ReplaceAll(word, neutral, target)
			}
		}
	}
	w.putInPlace(&facts)
	return facts
}

// putInPlace resolves the paths of facts as if no link existed.
func (w *World) putInPlace(facts *umpire.Facts) {
	for _, list := range [][]umpire.Access{facts.Accesses, facts.Guesses} {
		for i := range list {
			if a := &list[i]; a.Paths() && a.Target != "" {
				a.Resolved = path.Clean(a.Target)
				a.Place = w.PlaceOf(a.Resolved, a.Kind)
			}
		}
	}
}

func (s *Setting) env() shell.Env {
	return shell.Env{Dir: s.Options.Root, Home: s.Options.Home, Programs: s.Programs}
}

// A view says how the state of the machine counts.
type view bool

const (
	least view = false // nothing that the model cannot know permits anything
	most  view = true  // all of it does
)

// verdictOn asks the policy about facts.
func (w *World) verdictOn(p *policy.Policy, call umpire.Call, facts umpire.Facts, v view) umpire.Decision {
	w.decisions++
	q := policy.Query{Conditions: w.Given, Call: call, Facts: facts}
	q.Call.Dir, q.Brief = w.Options.Root, true
	q.Search, q.Below, q.Missing, q.Fresh, q.Seen, q.NoHooks = nil, nil, nil, nil, nil, false
	if v == most {
		yes := func(*umpire.Access) bool { return true }
		q.Fresh, q.Seen, q.NoHooks, q.GitKnown = yes, yes, true, true
		q.Trust = policy.CodeTrust{Trusted: true}
	}
	return policy.Decide(p, q)
}

// judges reports whether rules for a tool with an action judge accesses of a kind. It asks the policy.
func (w *World) judges(tool string, action umpire.Verdict, kind umpire.AccessKind) bool {
	key := fmt.Sprint(tool, " ", action, kind)
	known, ok := w.Memo.judged[key]
	if ok {
		return known
	}
	r := umpire.Rule{
		ID: "probe", Tool: tool, Action: action, Source: umpire.SourceUser, Match: umpire.Match{PathGlob: "/**"},
	}
	alone, err := policy.New([]umpire.Rule{r}, w.Options)
	for _, s := range w.usualShapes(kind) {
		if err != nil {
			break // cannot be, and then the rule counts
		}
		d := w.verdictOn(alone, s.call(neutral), w.factsOn(&s, neutral), most)
		known = known || mentions(&d, r.Ref())
	}
	w.Memo.judged[key] = known || err != nil
	return w.Memo.judged[key]
}

// mentions reports whether a rule matched.
func mentions(d *umpire.Decision, ref umpire.RuleRef) bool {
	return slices.ContainsFunc(d.Reasons, func(r umpire.Reason) bool { return r.Rule != nil && *r.Rule == ref })
}

// subject is the group of the rule that a question is about.
const subject = "subject"

// beside is the group of a second such rule.
const beside = "beside"

// A marking returns a text that keeps a rule apart from others of its kind, or "".
type marking func(at int) string

// model returns the automaton of all patterns that concern accesses of a kind.
func (w *World) model(kind umpire.AccessKind, mark marking) *pathModel {
	m := newPathModel(w.Options, w.Memo.names, w.work)
	w.addTo(m, kind, "", mark)
	return m
}

// addTo adds the patterns of the world to an automaton. side names the world, if there are two.
func (w *World) addTo(m *pathModel, kind umpire.AccessKind, side string, mark marking) {
	lifting, apart := w.lifting(kind)
	for i := range w.Rules {
		r := &w.Rules[i]
		addWords(m, r)
		if r.Match.PathGlob == "" || r.Match.Command+r.Match.CommandPrefix == "" && !w.judges(r.Tool, r.Action, kind) {
			continue
		}
		key := fmt.Sprint(r.Action, " ", r.Tool, r.Source, r.Cap, r.ExpiresAt.UnixNano(), r.Match.Command, "|",
			r.Match.CommandPrefix, "|", w.spelling(r, lifting))
		if apart && r.Action == umpire.Allow {
			key = fmt.Sprint(side, "rule ", i)
		}
		if mark != nil {
			if key += mark(i); mark(i) == subject || mark(i) == beside {
				key = mark(i)
			}
		}
		m.addPattern(key, r.Match.PathGlob, r.Action, false)
		if r.Action != umpire.Allow && r.Match.Command+r.Match.CommandPrefix == "" {
			m.isStrict(side, key, r)
		}
	}
	w.addBuiltin(m, kind, side, lifting)
	w.addLandmarks(m)
}

// addWords tells the paths apart that a rule about commands names as a word.
func addWords(m *pathModel, r *umpire.Rule) {
	for _, text := range []string{r.Match.Command, r.Match.CommandPrefix} {
		words, err := policy.SplitPrefix(text)
		for _, word := range words {
			if err == nil && strings.HasPrefix(word, "/") {
				m.addPattern("word "+word, wildcard.Escape(path.Clean(word)), umpire.Allow, false)
			}
		}
	}
}

// lifting returns the allow rules that may lift questions about secrets. apart says that there are so many allow rules
// that a decision may not look at all of them, so that each has to be told apart.
func (w *World) lifting(kind umpire.AccessKind) (rules []*umpire.Rule, apart bool) {
	if kind != umpire.KindRead {
		return nil, false
	}
	allowing := 0
	for i := range w.Rules {
		r := &w.Rules[i]
		if r.Action != umpire.Allow || r.Match.PathGlob == "" || !w.judges(r.Tool, r.Action, kind) {
			continue
		}
		allowing++
		if slices.Contains(policy.LiftingSources, r.Source) {
			rules = append(rules, r)
		}
	}
	const mentioned = 8 // rules of one row that a decision looks at
	rules = slices.DeleteFunc(rules, func(r *umpire.Rule) bool { return w.spelling(r, []*umpire.Rule{r}) == "" })
	return rules, allowing > mentioned && len(rules) > 0
}

// spelling returns which patterns of secrets a rule spells out, as a text.
func (w *World) spelling(r *umpire.Rule, lifting []*umpire.Rule) string {
	if !slices.Contains(lifting, r) {
		return ""
	}
	if text, ok := w.spelled[r]; ok {
		return text
	}
	var b strings.Builder
	for _, s := range secrets(&w.Options) {
		if policy.Spells(*r, s, w.Options) {
			b.WriteString(s.Match.PathGlob + " ")
		}
	}
	w.spelled[r] = b.String()
	return w.spelled[r]
}

// secrets are the built-in rules about secrets, those about umpire's own folder included.
func secrets(o *policy.Options) (all []umpire.Rule) {
	for _, s := range sensitive.Secrets {
		for _, pattern := range s.Patterns {
			all = append(all, builtin(s.ID, "Read", umpire.Ask, pattern))
		}
	}
	for _, pattern := range ownPatterns(o) {
		all = append(all, builtin("secret-umpire", "Read", umpire.Ask, pattern))
	}
	return all
}

func builtin(id umpire.RuleID, tool string, action umpire.Verdict, pattern string) umpire.Rule {
	return umpire.Rule{
		ID: id, Tool: tool, Action: action, Source: umpire.SourceBuiltin, Match: umpire.Match{PathGlob: pattern},
	}
}

// ownPatterns are the guarded paths in umpire's own folder, where that is not the usual one.
func ownPatterns(o *policy.Options) []string {
	if o.StateDir == "" {
		return nil
	}
	own := wildcard.Escape(o.StateDir)
	return []string{own, own + "/{state,keys}/**"}
}

// builtinKey begins the keys of built-in patterns.
const builtinKey = "builtin "

// addBuiltin adds the built-in patterns. Those of one rule are alike, and so are all guarded places.
func (w *World) addBuiltin(m *pathModel, kind umpire.AccessKind, side string, lifting []*umpire.Rule) {
	all := policy.Builtin()
	for _, pattern := range ownPatterns(&w.Options) {
		all = append(all, builtin("forbidden-state", "Read", umpire.Deny, pattern),
			builtin("secret-umpire", "Read", umpire.Ask, pattern))
	}
	if w.Options.StateDir != "" {
		all = append(all, builtin("control-umpire", "Write", umpire.Ask, wildcard.Escape(w.Options.StateDir)+"/**"))
	}
	for _, file := range w.Options.ControlFiles {
		all = append(all, builtin("control-hooks", "Write", umpire.Ask, wildcard.Escape(file)))
	}
	for i := range all {
		r := &all[i]
		if r.Match.PathGlob == "" || !w.judges(r.Tool, r.Action, kind) {
			continue
		}
		key := builtinKey + string(r.ID)
		if strings.HasPrefix(string(r.ID), "control-") {
			key = builtinKey + "control"
		}
		var lifted strings.Builder
		for _, allow := range lifting {
			if policy.Spells(*allow, *r, w.Options) {
				lifted.WriteString(" " + policy.FormatShort(*allow))
			}
		}
		m.addPattern(key+lifted.String(), r.Match.PathGlob, r.Action, true)
		if lifted.Len() == 0 && !hasExceptions(r.ID) {
			m.isStrict(side, key, nil)
		}
	}
	for _, s := range sensitive.Secrets {
		for _, pattern := range s.Except {
			m.addPattern("except "+string(s.ID), pattern, umpire.Deny, true)
		}
	}
}

// hasExceptions reports whether a built-in rule leaves out some of the files that its patterns match.
func hasExceptions(id umpire.RuleID) bool {
	return slices.ContainsFunc(sensitive.Secrets, func(s sensitive.Secret) bool {
		return s.ID == id && len(s.Except) > 0
	})
}

// homesElsewhere are the spellings of homes of other systems that the order of decision knows.
var homesElsewhere = []string{"", "/?", "/??", "/[ -~]", "/[ -~][ -~]", "/mnt", "/mnt?", "/mnt??", "/mnt???", "/mnt/?",
	"/mnt/??", "/mnt?/?"}

// addLandmarks adds the folders by which paths are told apart without a rule.
func (w *World) addLandmarks(m *pathModel) {
	folders := slices.Concat(policy.Landmarks(), w.Landmarks, w.Options.AddDirs)
	for _, folder := range append(folders, w.Options.Root, w.Options.Home) {
		if folder == "" || !strings.HasPrefix(folder, "/") {
			continue
		}
		at := wildcard.Escape(path.Clean(folder))
		m.addPattern("at "+at, at, umpire.Allow, false)
		m.addPattern("below "+at, at+"/**", umpire.Allow, false)
		m.addPattern("folded "+at, at+"/**", umpire.Allow, true)
	}
	for _, before := range homesElsewhere {
		m.addPattern("homes "+before, before+"/Users/**", umpire.Allow, true)
	}
}
