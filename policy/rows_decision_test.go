package policy

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
)

// TestRowsEnums: the closed sets have exactly these names, in files and on the wire, and refuse
// any other.
func TestRowsEnums(t *testing.T) {
	t.Parallel()
	type value interface {
		encoding.TextMarshaler
		String() string
	}
	for _, tt := range []struct {
		name   string
		values []value
		names  string
		read   func([]byte) (value, error)
	}{
		{"C-3 modes", []value{umpire.ModeDefault, umpire.ModeAuto, umpire.ModeAsk, umpire.ModeReject, umpire.ModeBypass, umpire.ModePlan}, "default auto ask reject bypass plan",
			func(b []byte) (value, error) { var v umpire.Mode; err := v.UnmarshalText(b); return v, err }},
		{"M-77 scopes", []value{umpire.ScopeOnce, umpire.ScopeSession, umpire.ScopeProject, umpire.ScopeGlobal}, "once session project global",
			func(b []byte) (value, error) { var v umpire.Scope; err := v.UnmarshalText(b); return v, err }},
		{"M-78 rule actions", []value{umpire.Allow, umpire.Deny, umpire.Ask}, "allow deny ask",
			func(b []byte) (value, error) { var v umpire.Verdict; err := v.UnmarshalText(b); return v, err }},
		{"M-79 rule sources", []value{umpire.SourceProject, umpire.SourceUser, umpire.SourceBuiltin, umpire.SourceManaged, umpire.SourceSession, umpire.SourceFlag}, "project global builtin managed session flag",
			func(b []byte) (value, error) { var v umpire.Source; err := v.UnmarshalText(b); return v, err }},
		{"N-36 risks", []value{umpire.Safe, umpire.Low, umpire.Medium, umpire.High, umpire.Critical}, "safe low medium high critical",
			func(b []byte) (value, error) { var v umpire.Risk; err := v.UnmarshalText(b); return v, err }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for i, name := range strings.Fields(tt.names) {
				text, err := tt.values[i].MarshalText()
				if err != nil || string(text) != name || tt.values[i].String() != name {
					t.Errorf("%v is written %q, want %q, %v", tt.values[i], text, name, err)
				}
				if back, err := tt.read([]byte(name)); err != nil || back != tt.values[i] {
					t.Errorf("%q is read as %v, want %v, %v", name, back, tt.values[i], err)
				}
			}
			for _, word := range []string{"", "Default", "ALLOW", "everything"} {
				if v, err := tt.read([]byte(word)); err == nil {
					t.Errorf("%q is read as %v, want an error", word, v)
				}
			}
		})
	}
}

func TestRowsThreeClasses(t *testing.T) {
	t.Parallel()
	for risk, want := range map[umpire.Risk]string{
		umpire.Safe: "safe", umpire.Low: "safe", umpire.Medium: "moderate", umpire.High: "dangerous", umpire.Critical: "dangerous", 77: "dangerous",
	} {
		t.Run("M-14 "+risk.String(), func(t *testing.T) {
			t.Parallel()
			if got := string(risk.Class()); got != want {
				t.Errorf("class %q, want %q", got, want)
			}
		})
	}
}

// TestRowsShapes: the field names of rules and decisions are part of the format.
func TestRowsShapes(t *testing.T) {
	t.Parallel()
	keys := func(v any) []string {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal(raw, &object); err != nil {
			t.Fatal(err)
		}
		names := []string{}
		for name := range object {
			names = append(names, name)
		}
		slices.Sort(names)
		return names
	}
	full := umpire.Rule{
		ID: "r1", Action: umpire.Allow, Tool: "Bash", Match: umpire.Match{CommandPrefix: "npm test"},
		Description: "unit tests", Source: umpire.SourceProject, File: "f", Line: 3,
	}
	denied := Decide(newPolicy(t, testOptions, "deny Write"), query("Write", write("a")))
	for _, tt := range []struct {
		name      string
		got, want []string
	}{
		{"M-80 match", keys(umpire.Match{CommandPrefix: "a", PathGlob: "b"}), []string{"commandPrefix", "pathGlob"}},
		{"M-80 both are optional", keys(umpire.Match{}), []string{}},
		{"M-81 rule", keys(full), []string{"action", "description", "id", "match", "tool"}},
		{"M-81 the least rule", keys(umpire.Rule{Tool: "Edit"}), []string{"action", "tool"}},
		{"M-81 reference", keys(full.Ref()), []string{"file", "id", "line", "source"}},
		{"M-83 decision", keys(denied), []string{"accesses", "class", "consequence", "obligations", "permission_type", "reason", "reason_code", "reasons", "risk", "rule", "suggestions", "verdict"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, tt.got); diff != "" {
				t.Errorf("keys (-want +got):\n%s", diff)
			}
		})
	}
	if denied.Rule == nil || denied.Rule.ID != "deny Write" ||
		denied.Reason != umpire.Say("Denied by rule: %s", "deny Write") {
		t.Errorf("M-83 %+v %q", denied.Rule, denied.Reason)
	}
}

func TestRowsLists(t *testing.T) {
	t.Parallel()
	t.Run("M-72 the old list", func(t *testing.T) {
		t.Parallel()
		if want := []string{"Bash", "Write", "Edit", "GitCommit", "GitPush", "GitCheckout"}; !slices.Equal(LegacyDangerous, want) {
			t.Errorf("got %q, want %q", LegacyDangerous, want)
		}
	})
	t.Run("M-71 the built-in rules can be listed and used", func(t *testing.T) {
		t.Parallel()
		p := newPolicy(t, testOptions, "allow *")
		seen := map[umpire.RuleID]bool{}
		for _, r := range Builtin() {
			seen[r.ID] = true
			back, err := ParseShort(FormatShort(r))
			if err != nil || back.Tool != r.Tool || back.Match != r.Match {
				t.Errorf("%s is not what its short form %q says: %+v, %v", r.ID, FormatShort(r), back, err)
			}
		}
		for _, id := range []umpire.RuleID{"critical-system", "critical-home", "critical-device", "forbidden-read", "forbidden-write", "control-umpire", "control-git", "self-approval"} {
			if !seen[id] {
				t.Errorf("%s is not among the built-in rules", id)
			}
		}
		check(t, p, query("Read", read("/etc/shadow")), forbidden)
	})
	t.Run("M-71 the list is the caller's own", func(t *testing.T) {
		t.Parallel()
		mine := Builtin()
		for i := range mine {
			mine[i] = umpire.Rule{Action: umpire.Allow, Tool: "*"}
		}
		if slices.ContainsFunc(Builtin(), func(r umpire.Rule) bool { return r.Action == umpire.Allow }) {
			t.Error("changing what Builtin returned changed the built-in rules")
		}
		check(t, newPolicy(t, testOptions), query("Read", read("/etc/shadow")), forbidden)
	})
}

// TestRowsGlobs: M-101, with the file patterns of an allow rule, which match exactly as
// written.
func TestRowsGlobs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, glob, path string
		matches          bool
	}{
		{"M-101 ** crosses folders", "src/**", "src/a/b/c.ts", true},
		{"M-101 ** in the middle", "src/**/c.ts", "src/a/b/c.ts", true},
		{"M-101 ** is no folder too", "src/**/c.ts", "src/c.ts", true},
		{"M-101 * stays in its folder", "src/*", "src/a/b.ts", false},
		{"M-101 * is any name", "src/*.ts", "src/abc.ts", true},
		{"M-101 ? is one character", "a?.ts", "ab.ts", true},
		{"M-101 ? is not two", "a?.ts", "abc.ts", false},
		{"M-101 ? is not none", "a?.ts", "a.ts", false},
		{"M-101 ? is no slash", "a?b", "a/b", false},
		{"M-101 a dot is a dot", "a.ts", "axts", false},
		{"M-101 anchored at the end", "src/a", "src/a.ts", false},
		{"M-101 anchored at the start", "a.ts", "src/a.ts", false},
		{"M-101 a plus is no pattern", "a+.ts", "aa.ts", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := modeAsk
			if tt.matches {
				w = ruleAllow
			}
			check(t, newPolicy(t, testOptions, "allow Edit("+tt.glob+")"), query("Edit", write(tt.path)), w)
		})
	}
	for _, glob := range []string{"[", "a[b", "{a", "a\x00"} {
		t.Run("M-101 not a pattern "+glob, func(t *testing.T) {
			t.Parallel()
			for _, action := range []umpire.Verdict{umpire.Allow, umpire.Deny} {
				r := umpire.Rule{Action: action, Tool: "Edit", Match: umpire.Match{PathGlob: glob}, Source: umpire.SourceUser}
				if p, err := New([]umpire.Rule{r}, testOptions); err == nil || p != nil {
					t.Errorf("%v %q made a policy, want an error", action, glob)
				}
			}
		})
	}
}

// TestRowsSources: rules of every source apply together, and a decision names the source of its
// rule.
func TestRowsSources(t *testing.T) {
	t.Parallel()
	sources := []umpire.Source{umpire.SourceManaged, umpire.SourceProject, umpire.SourceUser, umpire.SourceFlag, umpire.SourceSession}
	for _, source := range sources {
		for _, action := range []umpire.Verdict{allow, ask, deny} {
			t.Run("C-66 C-12 "+action.String()+" of "+source.String(), func(t *testing.T) {
				t.Parallel()
				r := umpire.Rule{ID: "r1", Action: action, Tool: "Write", Source: source}
				p, err := New([]umpire.Rule{r}, testOptions)
				if err != nil {
					t.Fatal(err)
				}
				d := Decide(p, query("Write", write("a")))
				if d.Verdict != action || d.Rule == nil || d.Rule.Source != source {
					t.Errorf("%v by %+v, want %v of %v", d.Verdict, d.Rule, action, source)
				}
			})
		}
	}
	for _, allows := range sources {
		for _, denies := range sources {
			t.Run("C-19 deny of "+denies.String()+" beats allow of "+allows.String(), func(t *testing.T) {
				t.Parallel()
				rules := []umpire.Rule{
					{ID: "a", Action: umpire.Allow, Tool: "Write", Match: umpire.Match{PathGlob: "src/a"}, Source: allows},
					{ID: "d", Action: umpire.Deny, Tool: "*", Source: denies},
				}
				for range 2 {
					p, err := New(rules, testOptions)
					if err != nil {
						t.Fatal(err)
					}
					check(t, p, query("Write", write("src/a")), want{deny, umpire.CodeBlocked, "Denied by rule: d"})
					slices.Reverse(rules)
				}
			})
		}
	}
	t.Run("C-19 allow before ask, as the other order has it", func(t *testing.T) {
		t.Parallel()
		o := testOptions
		o.Precedence = DenyAllowAsk
		check(t, newPolicy(t, o, "allow Write", "ask Write"), query("Write", write("a")), ruleAllow)
		check(t, newPolicy(t, o, "allow Write", "ask Write", "deny Write"), query("Write", write("a")), blocked)
	})
}

// TestRowsImmutable: a caller cannot change a policy through its arguments or results, and many
// goroutines may use it at once.
func TestRowsImmutable(t *testing.T) {
	t.Parallel()
	rules := []umpire.Rule{rule(t, "deny Write(secret/**)"), rule(t, "allow Write(src/**)"), rule(t, "ask Write(doc/**)")}
	p, err := New(rules, testOptions)
	if err != nil {
		t.Fatal(err)
	}
	queries := []Query{
		query("Write", write("secret/a")), query("Write", write("src/a")), query("Write", write("doc/a")), query("Write", write("b")),
	}
	var before []umpire.Decision
	for _, q := range queries {
		before = append(before, Decide(p, q))
	}
	t.Run("C-63 the rules that were given", func(t *testing.T) {
		for i := range rules {
			rules[i] = umpire.Rule{ID: "x", Action: umpire.Allow, Tool: "*", Source: umpire.SourceManaged}
		}
		sameDecisions(t, p, queries, before)
	})
	t.Run("C-63 the rules that are shown", func(t *testing.T) {
		shown := slices.Collect(p.Rules())
		for i := range shown {
			shown[i].Action, shown[i].Tool = umpire.Allow, "*"
		}
		sameDecisions(t, p, queries, before)
	})
	t.Run("C-63 the accesses of a query", func(t *testing.T) {
		was := slices.Clone(queries[0].Facts.Accesses)
		Decide(p, queries[0])
		if !reflect.DeepEqual(was, queries[0].Facts.Accesses) {
			t.Errorf("deciding changed the facts: %+v", queries[0].Facts.Accesses)
		}
	})
	t.Run("C-63 a query's rules and grants", func(t *testing.T) {
		q := queries[3]
		q.Tighten, q.Grants = []umpire.Rule{rule(t, "deny *")}, []umpire.Grant{{Tool: "Write"}}
		check(t, p, q, blocked)
		sameDecisions(t, p, queries, before)
	})
	t.Run("C-63 many at once", func(t *testing.T) {
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range 20 {
					sameDecisions(t, p, queries, before)
				}
			})
		}
		all.Wait()
	})
}

func sameDecisions(t *testing.T, p *Policy, queries []Query, before []umpire.Decision) {
	t.Helper()
	for i, q := range queries {
		if diff := cmp.Diff(before[i], Decide(p, q)); diff != "" {
			t.Errorf("decision %d changed (-before +now):\n%s", i, diff)
		}
	}
}
