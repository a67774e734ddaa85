package policy

import (
	"math/rand/v2"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/rulefile/wildcard"
)

func genAccess(t *rapid.T) umpire.Access {
	risk := rapid.SampledFrom([]umpire.Risk{umpire.Safe, umpire.Low, umpire.Medium, umpire.High}).Draw(t, "risk")
	a := umpire.Access{Risk: risk, Part: rapid.IntRange(0, 2).Draw(t, "part")}
	a.Kind = rapid.SampledFrom([]umpire.AccessKind{umpire.KindExec, umpire.KindRead, umpire.KindWrite, umpire.KindDelete, umpire.KindNetwork}).Draw(t, "kind")
	switch {
	case a.Kind == umpire.KindExec:
		a.Words = rapid.SliceOfN(rapid.SampledFrom([]string{"npm", "test", "git", "push", "a b", "x"}), 0, 4).Draw(t, "words")
		a.Program = strings.Join(a.Words[:min(1, len(a.Words))], "")
	case a.Kind == umpire.KindNetwork:
		a.Target = rapid.SampledFrom([]string{"x.org", "a.x.org", "b.a.x.org", "y.org", ""}).Draw(t, "host")
	default:
		a.Target, a.Glob = genPath(t)
		a.Resolved = a.Target
		if rapid.IntRange(0, 4).Draw(t, "linked") == 0 {
			a.Resolved, _ = genPath(t)
		}
		a.Place = rapid.SampledFrom([]umpire.Place{umpire.PlaceInside, umpire.PlaceOutside}).Draw(t, "place")
		a.Tree, a.Redirect = rapid.Bool().Draw(t, "tree"), rapid.Bool().Draw(t, "redirect")
	}
	if rapid.IntRange(0, 5).Draw(t, "doubtful") == 0 {
		a.Doubt = "unknown"
	}
	return a
}

func genPath(t *rapid.T) (target string, globbed bool) {
	base := rapid.SampledFrom([]string{testRoot, testRoot, testHome, "/"}).Draw(t, "base")
	names := rapid.SliceOfN(rapid.SampledFrom([]string{"src", "a", "b.ts", "B.TS", ".env", "c", "*", "*.ts", "?"}), 0, 4).Draw(t, "names")
	target = path.Join(base, path.Join(names...))
	return target, strings.ContainsAny(target, "*?")
}

func genQuery(t *rapid.T) Query {
	q := query(rapid.SampledFrom([]string{"Bash", "Edit", "Read", "GitPush", "mcp__a__b"}).Draw(t, "tool"), rapid.SliceOfN(rapid.Custom(genAccess), 1, 4).Draw(t, "accesses")...)
	q.Mode = rapid.SampledFrom([]umpire.Mode{umpire.ModeDefault, umpire.ModeAuto, umpire.ModeAsk, umpire.ModeReject, umpire.ModeBypass, umpire.ModePlan}).Draw(t, "mode")
	q.AllowAll, q.Headless = rapid.Bool().Draw(t, "allowAll"), rapid.Bool().Draw(t, "headless")
	if rapid.Bool().Draw(t, "granted") {
		q.Grants = []umpire.Grant{{Tool: q.Call.Tool, Scope: rapid.SampledFrom([]umpire.Scope{0, 1, 2, 3}).Draw(t, "scope"), Remembered: rapid.Bool().Draw(t, "remembered")}}
	}
	return q
}

func genOptions(t *rapid.T) Options {
	o := testOptions
	o.AllowMedium, o.DenyExternal, o.FoldCase = rapid.Bool().Draw(t, "medium"), rapid.Bool().Draw(t, "denyExternal"), rapid.Bool().Draw(t, "fold")
	o.Precedence = rapid.SampledFrom([]Precedence{DenyAskAllow, DenyAllowAsk}).Draw(t, "precedence")
	return o
}

func genRules(t *rapid.T, label string) []umpire.Rule {
	rules := rapid.SliceOfN(rapid.Custom(genRule), 0, 8).Draw(t, label)
	return slices.DeleteFunc(rules, func(r umpire.Rule) bool { return Validate(r) != nil })
}

func decideWith(t *rapid.T, rules []umpire.Rule, o Options, q Query) umpire.Decision {
	p, err := New(rules, o)
	if err != nil {
		t.Fatal(err)
	}
	return Decide(p, q)
}

func TestAddingDenyOrAskNeverWidens(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rules, q, o := genRules(t, "rules"), genQuery(t), genOptions(t)
		more := genRules(t, "more")
		before := decideWith(t, rules, o, q)
		for i := range more {
			more[i].Action = min(more[i].Action, umpire.Ask)
		}
		if after := decideWith(t, slices.Concat(rules, more), o, q); after.Verdict > before.Verdict {
			t.Fatalf("%s became %s", before.Verdict, after.Verdict)
		}
		q.Tighten = more
		if after := decideWith(t, rules, o, q); after.Verdict > before.Verdict {
			t.Fatalf("%s became %s by rules of the request", before.Verdict, after.Verdict)
		}
	})
}

func TestRemovingAllowNeverWidens(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rules, q, o := genRules(t, "rules"), genQuery(t), genOptions(t)
		fewer := slices.DeleteFunc(slices.Clone(rules), func(r umpire.Rule) bool {
			return r.Action == umpire.Allow && rapid.Bool().Draw(t, "drop")
		})
		if before, after := decideWith(t, rules, o, q), decideWith(t, fewer, o, q); after.Verdict > before.Verdict {
			t.Fatalf("%s became %s", before.Verdict, after.Verdict)
		}
	})
}

func TestRuleOrderDoesNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rules, q, o := genRules(t, "rules"), genQuery(t), genOptions(t)
		shuffled := slices.Clone(rules)
		rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)).Shuffle(len(shuffled), func(i, j int) {
			shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
		})
		if diff := cmp.Diff(decideWith(t, rules, o, q), decideWith(t, shuffled, o, q)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// The call's verdict is the strictest of its accesses, and each access has the verdict of its
// first reason.
func TestVerdictIsTheStrictestAccess(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q := genQuery(t)
		d := decideWith(t, genRules(t, "rules"), genOptions(t), q)
		strictest := umpire.Allow
		for i, a := range d.Accesses {
			strictest = min(strictest, a.Verdict)
			first := slices.IndexFunc(d.Reasons, func(r umpire.Reason) bool { return r.Access == i })
			if first < 0 || d.Reasons[first].Verdict != a.Verdict {
				t.Fatalf("access %d is %s, its reasons are %+v", i, a.Verdict, d.Reasons)
			}
		}
		if d.Verdict != strictest || q.Facts.Accesses[0].Verdict != 0 {
			t.Fatalf("verdict %s, accesses %s; or the query was changed", d.Verdict, strictest)
		}
	})
}

// The index must offer every rule that matches; trying all of them is the oracle. Built-in
// rules are indexed after their section has been used for a while.
func TestIndexFindsEveryRule(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := genOptions(t)
		p, err := New(genRules(t, "rules"), o)
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "asked before") {
			for at := range p.builtin.all {
				p.builtin.all[at].asked.Store(indexAfter)
			}
		}
		q := genQuery(t)
		for i := range rapid.IntRange(0, 3).Draw(t, "near") {
			a := genAccessNear(t, builtinGlobs)
			a.Part = i
			q.Facts.Accesses = append(q.Facts.Accesses, a)
		}
		if rapid.IntRange(0, 3).Draw(t, "met") == 0 {
			secret := genPathNear(t, builtinGlobs)
			q.Search = func(*umpire.Access) Search { return Search{Secret: secret} }
		}
		for _, found := range p.findHits(&q, q.Facts.Accesses) {
			all := hits{subject: found.subject, opts: found.opts, now: q.Now, narrow: found.narrow}
			for at := range sectionCount {
				all.offer(compileSection(at, &p.opts))
			}
			for i := range p.rules {
				c := compileRule(&p.rules[i], &p.opts)
				c.order = i
				all.offer([]*compiled{c})
			}
			for row := range all.rows {
				if want, got := orders(all.rows[row]), orders(found.rows[row]); !slices.Equal(want, got) {
					t.Fatalf("row %d of %+v: the index finds %v, there are %v", row, *found.subject.access, got, want)
				}
			}
		}
	})
}

// builtinGlobs are all patterns of the built-in rules.
var builtinGlobs = func() (globs []glob) {
	o := testOptions.prepare()
	for at := range sectionCount {
		for _, c := range compileSection(at, &o) {
			globs = append(globs, c.globs...)
			globs = append(globs, c.except...)
		}
	}
	return globs
}()

// genPathNear generates a path that one of the patterns matches, or one beside, above or below.
func genPathNear(t *rapid.T, globs []glob) string {
	name := rapid.SampledFrom([]string{"a", "src", "B", "x.pem", ".git", "config", "*", "?d", "x*"})
	var names []string
	for _, s := range rapid.SampledFrom(globs).Draw(t, "pattern").segs {
		switch {
		case s.sort == deep:
			names = append(names, rapid.SliceOfN(name, 0, 2).Draw(t, "deep")...)
		case s.sort == wild:
			star := rapid.SampledFrom([]string{"", "a", "*", "x.y"}).Draw(t, "star")
			names = append(names, strings.NewReplacer("*", star, "?", "q").Replace(s.text))
		default:
			names = append(names, s.text)
		}
	}
	names = names[:rapid.IntRange(len(names)-min(len(names), rapid.IntRange(0, 1).Draw(t, "above")), len(names)).Draw(t, "names")]
	names = append(names, rapid.SliceOfN(name, 0, 1).Draw(t, "below")...)
	base := rapid.SampledFrom([]string{"/", "/", "/", testRoot, testHome}).Draw(t, "base")
	target := path.Join(base, path.Join(names...))
	if rapid.IntRange(0, 4).Draw(t, "upper") == 0 {
		target = strings.ToUpper(target)
	}
	return target
}

// genAccessNear generates an access to such a path.
func genAccessNear(t *rapid.T, globs []glob) umpire.Access {
	a := umpire.Access{Place: rapid.SampledFrom([]umpire.Place{umpire.PlaceInside, umpire.PlaceOutside}).Draw(t, "place")}
	a.Kind = rapid.SampledFrom([]umpire.AccessKind{umpire.KindRead, umpire.KindWrite, umpire.KindDelete}).Draw(t, "kind")
	a.Target = genPathNear(t, globs)
	a.Glob = strings.ContainsAny(a.Target, "*?[")
	if a.Resolved = a.Target; rapid.IntRange(0, 4).Draw(t, "linked") == 0 {
		a.Resolved = genPathNear(t, globs)
		a.Glob = a.Glob || strings.ContainsAny(a.Resolved, "*?[")
	}
	a.Tree, a.Names = rapid.Bool().Draw(t, "tree"), rapid.IntRange(0, 3).Draw(t, "lists") == 0
	a.Picked = a.Tree && rapid.IntRange(0, 3).Draw(t, "picked") == 0
	if rapid.IntRange(0, 5).Draw(t, "formats") == 0 {
		a.Kinds = []string{rapid.SampledFrom([]string{".go", ".json", ".pem", ".ts"}).Draw(t, "kinds")}
	}
	if rapid.IntRange(0, 5).Draw(t, "hands") == 0 {
		a.Handed = []string{rapid.SampledFrom([]string{"*.go", "*.pem", ".env*"}).Draw(t, "handed")}
	}
	return a
}

func orders(rules []*compiled) []int {
	var all []int
	for _, c := range rules {
		all = append(all, c.order)
	}
	return all
}

// regexpGlob is a slow and obvious implementation of a pattern without braces.
func regexpGlob(pattern string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString("^")
	for segment := range strings.SplitSeq(strings.TrimPrefix(pattern, "/"), "/") {
		if segment == "**" {
			b.WriteString("(/[^/]+)*")
			continue
		}
		b.WriteString("/")
		for _, r := range segment {
			switch r {
			case '*':
				b.WriteString("[^/]*")
			case '?':
				b.WriteString("[^/]")
			default:
				b.WriteString(regexp.QuoteMeta(string(r)))
			}
		}
	}
	return regexp.MustCompile(b.String() + "$")
}

func FuzzGlob(f *testing.F) {
	f.Add("/a/**/b*c/?", "/a/x/y/bc/d")
	f.Add("/**/**", "/x")
	f.Add("/a*b*c", "/abbc")
	f.Add("/**/a/**/a", "/a/a/b/a")
	f.Add("/0****", "/0")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		name = path.Clean("/" + name)
		if !strings.HasPrefix(pattern, "/") || strings.ContainsAny(pattern, `[]{}\`) || path.Clean(pattern) != pattern || pattern == "/" || Validate(umpire.Rule{Tool: "Read", Match: umpire.Match{PathGlob: pattern}}) != nil {
			return
		}
		if name == "/" || !regexp.MustCompile(`^[\x20-\x7e]*$`).MatchString(pattern+name) {
			return
		}
		g := newGlobs(pattern, umpire.Allow, &Options{})[0]
		f := newForm(name)
		got := g.match(&f, nil)
		if want := regexpGlob(pattern).MatchString(name); got != want {
			t.Fatalf("%q on %q: %v, the regexp says %v", pattern, name, got, want)
		}
		if got && !mayMeet(g.segs, splitSegments(wildcard.Escape(name), false)) {
			t.Fatalf("%q matches %q but may not meet it", pattern, name)
		}
	})
}

func TestExpandedBracesMatchAlike(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringMatching(`/\*?([ab?]|\{[ab],[ab?]{1,2}\}|\{a,\{b,a\}\}){1,4}(/\{a,b\})?`).Draw(t, "pattern")
		name := rapid.StringMatching(`/[ab]{1,4}(/[ab]){0,2}`).Draw(t, "name")
		all, err := wildcard.ExpandBraces(pattern)
		if err != nil {
			t.Skip("too many")
		}
		got := slices.ContainsFunc(all, func(p string) bool { return matchSegments(splitSegments(p, false), cutPath(name)) })
		if want := doublestar.MatchUnvalidated(pattern, name); got != want {
			t.Fatalf("%q on %q: %v, want %v", pattern, name, got, want)
		}
	})
}

// A pattern that is cheap to write must not be expensive to match.
func TestHostileGlobs(t *testing.T) {
	t.Parallel()
	start := time.Now()
	for _, pattern := range []string{
		"/" + strings.Repeat("**/a/", 15) + "b", strings.Repeat("*a", 30) + "b", "{" + strings.Repeat("a,", 500) + "a}",
		strings.Repeat("{a,b}", 6), strings.Repeat("{*,**}/", 6) + "x",
	} {
		r := umpire.Rule{Action: umpire.Deny, Tool: "Read", Match: umpire.Match{PathGlob: pattern}, Source: umpire.SourceUser}
		if Validate(r) != nil {
			continue
		}
		p, err := New([]umpire.Rule{r}, testOptions)
		if err != nil {
			t.Fatal(err)
		}
		for _, target := range []string{strings.Repeat("a/", 500) + "c", strings.Repeat("a", 250), strings.Repeat("*/", 300) + "*"} {
			Decide(p, query("Read", read(target)))
		}
	}
	if took := time.Since(start); took > 5*time.Minute {
		t.Errorf("took %v", took)
	}
}
