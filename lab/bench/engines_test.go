package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	cedar "github.com/cedar-policy/cedar-go"
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/policy"
)

// This file compares umpire's rules with those of other engines, on rules and questions that all of them understand.

// A rule is one rule in the form that all engines understand: half of them are about the
// beginning of a command, half about paths that begin and end somehow, and every fifth denies.
type rule struct {
	action umpire.Verdict // Allow or Deny
	tool   string         // Bash or Edit
	prefix string         // of the command or of the path
	suffix string         // of the path
}

// manyRules makes n rules.
func manyRules(n int) []rule {
	rules := make([]rule, n)
	for i := range rules {
		r := rule{action: umpire.Allow, tool: "Bash", prefix: fmt.Sprintf("cmd%d sub%d", i, i%7)}
		if i%2 == 1 {
			r.tool, r.prefix, r.suffix = "Edit", fmt.Sprintf("/home/u/proj/pkg%d/src%d/", i%97, i), ".go"
		}
		if i%5 == 4 {
			r.action = umpire.Deny
		}
		rules[i] = r
	}
	return rules
}

// A question is a call that the rules decide, with the expected answer.
type question struct {
	name, tool, target string
	want               string // allow, deny, or none if no rule matches
}

// questions match the last rule that allows, the last one that denies, or no rule.
func questions(rules []rule) []question {
	n := len(rules)
	return []question{
		{"allow", "Bash", rules[n-2].prefix + " --flag value internal/x/file.txt", "allow"},
		{"none", "Bash", "unknown sub --flag value internal/x/file.txt", "none"},
		{"deny", "Edit", rules[n-1].prefix + "internal/deep/file.go", "deny"},
	}
}

// An engine loads rules. It returns a function that takes a question and returns a function that answers it.
type engine func(tb testing.TB, rules []rule) (prepare func(question) (answer func() string))

var engines = map[string]engine{"umpire": umpireEngine, "cedar": cedarEngine, "opa": opaEngine}

func umpireEngine(tb testing.TB, rules []rule) func(question) func() string {
	tb.Helper()
	made, err := policy.New(umpireRules(rules), policy.Options{Root: "/home/u/proj", Home: "/home/u"})
	if err != nil {
		tb.Fatal(err)
	}
	return func(asked question) func() string {
		q := policy.Query{Call: umpire.Call{ID: "c", Tool: asked.tool}}
		q.Mode = umpire.ModeDefault
		q.Facts = umpire.Facts{Type: umpire.ShellExecute, Accesses: []umpire.Access{accessOf(asked)}}
		return func() string {
			d := policy.Decide(made, q)
			if d.Rule == nil || !strings.HasPrefix(string(d.Rule.ID), "r") {
				return "none"
			}
			return d.Verdict.String()
		}
	}
}

func accessOf(asked question) umpire.Access {
	if asked.tool == "Edit" {
		return umpire.Access{
			Kind: umpire.KindWrite, Target: asked.target, Resolved: asked.target, Place: umpire.PlaceInside,
			Risk: umpire.Medium, Part: 1,
		}
	}
	words := strings.Fields(asked.target)
	return umpire.Access{
		Kind: umpire.KindExec, Program: words[0], Args: words[1:], Words: words, Line: words, Base: 1,
		Risk: umpire.Medium, Part: 1,
	}
}

func umpireRules(rules []rule) []umpire.Rule {
	made := make([]umpire.Rule, len(rules))
	for i, r := range rules {
		id := umpire.RuleID(fmt.Sprint("r", i))
		made[i] = umpire.Rule{ID: id, Action: r.action, Tool: r.tool, Source: umpire.SourceUser}
		made[i].Match.CommandPrefix = r.prefix
		if r.suffix != "" {
			made[i].Match = umpire.Match{PathGlob: r.prefix + "**/*" + r.suffix}
		}
	}
	return made
}

func cedarEngine(tb testing.TB, rules []rule) func(question) func() string {
	tb.Helper()
	set, err := cedar.NewPolicySetFromBytes("rules.cedar", cedarText(rules))
	if err != nil {
		tb.Fatal(err)
	}
	return func(asked question) func() string {
		request := cedar.Request{
			Principal: cedar.NewEntityUID("Agent", "a"), Resource: cedar.NewEntityUID("Project", "p"),
			Action:  cedar.NewEntityUID("Action", cedar.String(asked.tool)),
			Context: cedar.NewRecord(cedar.RecordMap{"target": cedar.String(asked.target + " ")}),
		}
		return func() string {
			decision, why := cedar.Authorize(set, cedar.EntityMap{}, request)
			switch {
			case decision == cedar.Allow:
				return "allow"
			case len(why.Reasons) > 0:
				return "deny"
			}
			return "none"
		}
	}
}

// cedarText ends each target with a blank to mark the end of the command's last word.
func cedarText(rules []rule) []byte {
	var text []byte
	for _, r := range rules {
		effect, pattern := "permit", r.prefix+" *"
		if r.action == umpire.Deny {
			effect = "forbid"
		}
		if r.suffix != "" {
			pattern = r.prefix + "*" + r.suffix + " "
		}
		text = fmt.Appendf(text, "%s(principal, action == Action::%q, resource) when { context.target like %q };\n",
			effect, r.tool, pattern)
	}
	return text
}

// opaEngine writes a body for each rule so OPA can use its own rule index, which is its
// fastest form.
func opaEngine(tb testing.TB, rules []rule) func(question) func() string {
	tb.Helper()
	text := []byte(`package rules
default decision := "none"
decision := "deny" if deny
else := "allow" if allow
`)
	for _, r := range rules {
		if r.suffix == "" {
			text = fmt.Appendf(text, "%s if { input.tool == %q; startswith(input.target, %q) }\n",
				r.action, r.tool, r.prefix+" ")
			continue
		}
		const body = "%s if { input.tool == %q; startswith(input.target, %q); endswith(input.target, %q) }\n"
		text = fmt.Appendf(text, body, r.action, r.tool, r.prefix, r.suffix)
	}
	query := rego.New(rego.Query("data.rules.decision"), rego.Module("rules.rego", string(text)))
	prepared, err := query.PrepareForEval(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	return func(asked question) func() string {
		input := ast.NewObject(
			ast.Item(ast.StringTerm("tool"), ast.StringTerm(asked.tool)),
			ast.Item(ast.StringTerm("target"), ast.StringTerm(asked.target)))
		return func() string {
			results, err := prepared.Eval(tb.Context(), rego.EvalParsedInput(input))
			if err != nil {
				tb.Fatal(err)
			}
			return results[0].Expressions[0].Value.(string)
		}
	}
}

// TestEnginesAgree checks that all engines give the same answers, which makes their times comparable.
func TestEnginesAgree(t *testing.T) {
	rules := manyRules(100)
	for name, load := range engines {
		prepare := load(t, rules)
		for _, asked := range questions(rules) {
			if got := prepare(asked)(); got != asked.want {
				t.Errorf("%s answers %q with %q instead of %q", name, asked.target, got, asked.want)
			}
		}
	}
}

// BenchmarkLookup decides by 10,000 rules.
func BenchmarkLookup(b *testing.B) {
	rules := manyRules(10_000)
	for name, load := range engines {
		prepare := load(b, rules)
		for _, asked := range questions(rules) {
			answer := prepare(asked)
			b.Run(asked.name+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if answer() != asked.want {
						b.Fatal(asked)
					}
				}
			})
		}
	}
}

// BenchmarkReload reads 10,000 rules from their text and makes them ready: umpire its rule
// file, with the checks that it does, and cedar-go as many policies.
func BenchmarkReload(b *testing.B) {
	rules := manyRules(10_000)
	home := b.TempDir()
	path := filepath.Join(home, ".umpire", "permissions.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, rulesFile(b, rules), 0o600); err != nil {
		b.Fatal(err)
	}
	options := policy.Options{Root: "/home/u/proj", Home: "/home/u"}
	layers := rulefile.Layers(filepath.Dir(path), "/home/u/proj", nil)
	check := func(r umpire.Rule) error { return policy.CheckExamples(r, options) }
	reading := rulefile.Options{Short: policy.ParseShort, Check: check}
	b.Run("umpire", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			set := rulefile.Load(layers, nil, reading)
			if made, err := policy.New(set.Rules, options); err != nil || made == nil || len(set.Rules) != len(rules) {
				b.Fatal(len(set.Rules), err)
			}
		}
	})
	text := cedarText(rules)
	b.Run("cedar", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := cedar.NewPolicySetFromBytes("rules.cedar", text); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// rulesFile is a rule file with the rules.
func rulesFile(tb testing.TB, rules []rule) []byte {
	tb.Helper()
	var lines []string
	for i, r := range rules {
		match := map[string]string{"commandPrefix": r.prefix}
		if r.suffix != "" {
			match = map[string]string{"pathGlob": r.prefix + "**/*" + r.suffix}
		}
		line, err := json.Marshal(map[string]any{
			"id": fmt.Sprint("r", i), "action": r.action, "tool": r.tool, "match": match,
		})
		if err != nil {
			tb.Fatal(err)
		}
		lines = append(lines, "    "+string(line))
	}
	return []byte("{\n  \"version\": 1,\n  \"rules\": [\n" + strings.Join(lines, ",\n") + "\n  ]\n}\n")
}
