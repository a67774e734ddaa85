package policy

import (
	"fmt"
	"testing"

	"github.com/umpirehq/umpire"
)

// manyRules makes n rules of the kinds that people write.
func manyRules(n int) []umpire.Rule {
	rules := make([]umpire.Rule, n)
	for i := range rules {
		r := umpire.Rule{ID: umpire.RuleID(fmt.Sprint("r", i)), Action: umpire.Verdict(i % 3), Source: umpire.SourceUser}
		switch i % 4 {
		case 0:
			r.Tool, r.Match.CommandPrefix = "Bash", fmt.Sprintf("npm run task%d", i)
		case 1:
			r.Tool, r.Match.PathGlob = "Edit", fmt.Sprintf("src/m%d/**/*.ts", i)
		case 2:
			r.Tool, r.Match.PathGlob = "Read", fmt.Sprintf("*.secret%d", i)
		case 3:
			r.Tool, r.Match.Domain = "WebFetch", fmt.Sprintf("*.h%d.example.com", i)
		}
		rules[i] = r
	}
	return rules
}

func BenchmarkDecide(b *testing.B) {
	q := query("Bash", exec("npm run task4 -- x", umpire.Medium), write("src/m5/a/b.ts"), read("src/m5/c.ts"), network("a.h3.example.com"))
	for _, n := range []int{0, 10, 1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p, err := New(manyRules(n), testOptions)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				Decide(p, q)
			}
		})
	}
}

// BenchmarkFirst measures a process that makes a single decision.
func BenchmarkFirst(b *testing.B) {
	q := query("Bash", exec("git status", umpire.Safe), read("src/m5/c.ts"))
	for _, n := range []int{0, 100} {
		rules := manyRules(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p, err := New(rules, testOptions)
				if err != nil {
					b.Fatal(err)
				}
				Decide(p, q)
			}
		})
	}
}

// TestFirstDecisionCompilesLittle: a hook without a gate makes one decision, and must not
// compile built-in rules that have nothing to do with its call.
func TestFirstDecisionCompilesLittle(t *testing.T) {
	for name, most := range map[string]struct {
		query  Query
		allocs float64
	}{
		"program": {query("Bash", exec("git status", umpire.Safe)), 40},
		"read":    {query("Bash", exec("git status", umpire.Safe), read("src/m5/c.ts")), 280},
		"write":   {query("Edit", write("src/m5/c.ts")), 560},
	} {
		allocs := testing.AllocsPerRun(10, func() {
			p, err := New(nil, testOptions)
			if err != nil {
				t.Fatal(err)
			}
			Decide(p, most.query)
		})
		if t.Logf("%s: %g allocations", name, allocs); allocs > most.allocs {
			t.Errorf("%s: %g allocations, want at most %g", name, allocs, most.allocs)
		}
	}
}

// TestLookingUpAllocatesNothing: a decision allocates only its result.
func TestLookingUpAllocatesNothing(t *testing.T) {
	rules := append(manyRules(1000), umpire.Rule{Tool: "Bash", Match: umpire.Match{Command: "make all"}, Source: umpire.SourceUser})
	p, err := New(rules, testOptions)
	if err != nil {
		t.Fatal(err)
	}
	q := query("Bash", exec("npm -s run -v other", umpire.Medium), write("src/m6/a/b.ts"), read("src/m5/c.ts"), network("a.b.example.com"))
	for at := range p.builtin.all {
		p.builtin.all[at].asked.Store(indexAfter)
	}
	for _, found := range p.findHits(&q, q.Facts.Accesses) {
		h := &hits{subject: found.subject, opts: found.opts, now: found.now}
		if n := testing.AllocsPerRun(100, func() { p.builtin.find(h); p.index.find(h) }); n > 0 {
			t.Errorf("%s %s: %g allocations", found.subject.access.Kind, found.subject.access.Target, n)
		}
	}
}

func BenchmarkNew(b *testing.B) {
	for _, n := range []int{0, 10_000} {
		rules := manyRules(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := New(rules, testOptions); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
