package host_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/host"
)

var updateAnswers = flag.Bool("update-answers", false, "write testdata/answers.txt again")

// own are the folders of a host in which nothing was planted.
var own = host.Find("claude").FoldersIn("/home/u/.claude", "/tmp/claude-1000")

// A judgedPart is one access of a decision with its reasons.
type judgedPart struct {
	umpire.Access

	codes []umpire.ReasonCode
}

// safe, asks and refused are a judgedPart as a decision leaves it; more codes are of reasons
// that stand behind the one that settled it.
func safe(a umpire.Access) judgedPart {
	a.Verdict = umpire.Allow
	return judgedPart{a, []umpire.ReasonCode{umpire.CodeSafe}}
}

func asks(a umpire.Access, codes ...umpire.ReasonCode) judgedPart {
	a.Verdict = umpire.Ask
	if len(codes) == 0 {
		codes = []umpire.ReasonCode{umpire.CodeMode}
	}
	return judgedPart{a, codes}
}

func approved(a umpire.Access, code umpire.ReasonCode) judgedPart {
	a.Verdict = umpire.Allow
	return judgedPart{a, []umpire.ReasonCode{code, umpire.CodeMode}}
}

func refused(a umpire.Access, codes ...umpire.ReasonCode) judgedPart {
	a.Verdict = umpire.Deny
	return judgedPart{a, codes}
}

// decide makes a decision of its parts, as settling does: the strictest verdict counts.
func decide(parts ...judgedPart) umpire.Decision {
	d := umpire.Decision{Verdict: umpire.Allow, Consequence: umpire.Harmless}
	for i, p := range parts {
		d.Accesses = append(d.Accesses, p.Access)
		d.Consequence = umpire.WorseConsequence(d.Consequence, p.Consequence)
		for _, code := range p.codes {
			d.Reasons = append(d.Reasons, umpire.Reason{Verdict: reasonVerdict(code, p.Verdict), Code: code, Access: i})
		}
		if i == 0 || p.Verdict < d.Verdict {
			d.Verdict, d.ReasonCode = p.Verdict, p.codes[0]
		}
	}
	return d
}

// reasonVerdict is the verdict of a reason; those that always give the same one keep it.
func reasonVerdict(code umpire.ReasonCode, otherwise umpire.Verdict) umpire.Verdict {
	switch code {
	case umpire.CodeSafe:
		return umpire.Allow
	case umpire.CodeExternalDirectory:
		return umpire.Ask
	}
	return otherwise
}

func path(kind umpire.AccessKind, place umpire.Place, at string) umpire.Access {
	a := umpire.Access{Kind: kind, Place: place, Target: at, Resolved: at, Risk: umpire.Medium, Consequence: umpire.Reversible}
	switch {
	case kind == umpire.KindRead:
		a.Risk, a.Consequence = umpire.Safe, umpire.Harmless
	case place == umpire.PlaceOutside || kind == umpire.KindDelete:
		a.Consequence = umpire.Lost
	}
	return a
}

func runs(program string, c umpire.Consequence) umpire.Access {
	risk := umpire.Medium
	if c == umpire.Harmless {
		risk = umpire.Safe
	}
	return umpire.Access{Kind: umpire.KindExec, Program: program, Risk: risk, Consequence: c}
}

func doubtful(a umpire.Access) umpire.Access {
	a.Doubt, a.Consequence = "cannot be told", umpire.Lost
	return a
}

const (
	read, write, remove = umpire.KindRead, umpire.KindWrite, umpire.KindDelete
	inside, outside     = umpire.PlaceInside, umpire.PlaceOutside
)

var (
	edit       = path(write, inside, "/p/a.go")
	look       = path(read, inside, "/p/a.go")
	lookOut    = path(read, outside, "/src/other/a.go")
	editOut    = path(write, outside, "/src/other/a.go")
	echo       = runs("echo", umpire.Harmless)
	mkdir      = runs("mkdir", umpire.Reversible)
	commit     = runs("git", umpire.Reversible)
	push       = runs("git", umpire.Outward)
	build      = runs("gcc", umpire.Reversible)
	plan       = path(write, outside, "/home/u/.claude/plans/go.md")
	memory     = path(write, outside, "/home/u/.claude/projects/p/memory/a.md")
	output     = path(read, outside, "/tmp/claude-1000/p/s/tasks/b1.output")
	fetch      = umpire.Access{Kind: umpire.KindNetwork, Target: "go.dev", Risk: umpire.Safe, Consequence: umpire.Outward}
	mcp        = umpire.Access{Kind: umpire.KindInvoke, Target: "mcp__x__y", Risk: umpire.Medium, Consequence: umpire.Lost}
	tests      = umpire.Access{Kind: umpire.KindExec, Program: "npm", Code: true, Risk: umpire.Safe, Consequence: umpire.Reversible}
	asksByRule = umpire.CodeRule
)

// A class is a kind of decision. Serious ones are never passed over in silence.
type class struct {
	name    string
	d       umpire.Decision
	serious bool
}

// classes are the kinds of decision that the table has a line for.
var classes = []class{
	{name: "allowed: reads in the project", d: decide(safe(look))},
	{name: "allowed: a command that only looks", d: decide(safe(echo))},
	{name: "allowed: edit, by a rule", d: decide(approved(edit, umpire.CodeRule))},
	{name: "allowed: push, by a person once", d: decide(approved(push, umpire.CodeOnce))},
	{name: "allowed: edit and network, by a person once", d: decide(approved(edit, umpire.CodeOnce), safe(fetch))},
	{name: "allowed: edit by a rule, and network", d: decide(approved(edit, umpire.CodeRule), safe(fetch))},
	{name: "allowed: outside write, for the session", d: decide(approved(editOut, umpire.CodeSession))},
	{name: "allowed: network, by its risk", d: decide(safe(fetch))},
	{name: "allowed: project code, by its risk", d: decide(safe(tests))},
	{name: "allowed: project code that a person trusts", d: decide(approved(tests, umpire.CodeProjectCode))},
	{name: "allowed: the host's own files are read", d: decide(approved(output, umpire.CodeRule))},

	{name: "asked: edit in the project", d: decide(asks(edit))},
	{name: "asked: mkdir in the project", d: decide(asks(mkdir), asks(edit))},
	{name: "asked: echo into a file of the project", d: decide(safe(echo), asks(edit))},
	{name: "asked: git commit", d: decide(asks(commit))},
	{name: "asked: another command, reversible", d: decide(asks(build))},
	{name: "asked: trusted code that the agent changed", d: decide(asks(tests, umpire.CodeWritten))},
	{name: "asked: reads outside, no secret", d: decide(asks(lookOut, umpire.CodeExternalDirectory, umpire.CodeSafe))},
	{name: "asked: edit, and reads outside", d: decide(asks(edit), asks(lookOut, umpire.CodeExternalDirectory))},
	{name: "asked: the host's own files are read", d: decide(asks(output, umpire.CodeExternalDirectory, umpire.CodeSafe))},
	{name: "asked: the same, and the last row refuses", d: decide(asks(output, umpire.CodeExternalDirectory, umpire.CodeAutoDeny))},
	{name: "asked: the host's memory is written", d: decide(asks(memory, umpire.CodeExternalDirectory, umpire.CodeMode))},
	{name: "asked: the host's plan is written", d: decide(asks(plan, umpire.CodeExternalDirectory, umpire.CodeMode))},

	{serious: true, name: "asked: deletes what git does not have", d: decide(asks(runs("rm", umpire.Lost)), asks(path(remove, inside, "/p/a")))},
	{serious: true, name: "asked: git push", d: decide(asks(push))},
	{serious: true, name: "asked: edit, then git push", d: decide(asks(edit), asks(push))},
	{serious: true, name: "asked: writes outside", d: decide(asks(editOut, umpire.CodeExternalDirectory, umpire.CodeMode))},
	{serious: true, name: "asked: edit, and writes outside", d: decide(asks(edit), asks(editOut, umpire.CodeMode))},
	{serious: true, name: "asked: deletes outside", d: decide(asks(path(remove, outside, "/src/a"), umpire.CodeExternalDirectory))},
	{serious: true, name: "asked: a secret is read", d: decide(asks(path(read, inside, "/p/.env"), umpire.CodeSecret))},
	{serious: true, name: "asked: a secret outside is read", d: decide(asks(lookOut, umpire.CodeExternalDirectory, umpire.CodeSecret))},
	{serious: true, name: "asked: a secret in the host's folder", d: decide(asks(output, umpire.CodeSecret))},
	{serious: true, name: "asked: cannot be parsed", d: decide(asks(doubtful(umpire.Access{Kind: umpire.KindExec}), umpire.CodeUnparsed))},
	{serious: true, name: "asked: edit, and a doubt", d: decide(asks(edit), asks(doubtful(build)))},
	{serious: true, name: "asked: reads what cannot be resolved", d: decide(asks(doubtful(path(read, umpire.PlaceUnknown, "$X")), umpire.CodeUnparsed))},
	{serious: true, name: "asked: a guarded place", d: decide(asks(path(write, inside, "/p/.git/config"), umpire.CodeControlFile))},
	{serious: true, name: "asked: an ask rule", d: decide(asks(edit, asksByRule))},
	{serious: true, name: "asked: an ask rule behind another reason", d: decide(asks(lookOut, umpire.CodeExternalDirectory, asksByRule))},
	{serious: true, name: "asked: umpire's own command", d: decide(asks(runs("umpire", umpire.Reversible)))},
	{serious: true, name: "asked: rules are degraded", d: decide(asks(look, umpire.CodeDegraded))},
	{serious: true, name: "asked: no sandbox", d: decide(asks(build, umpire.CodeNoSandbox))},
	{serious: true, name: "asked: project code that nobody trusts", d: decide(asks(tests, umpire.CodeProjectCode))},
	{serious: true, name: "asked: edit, then untrusted project code", d: decide(asks(edit), asks(tests, umpire.CodeProjectCode))},
	{serious: true, name: "asked: the network", d: decide(asks(fetch, umpire.CodeNetwork))},
	{serious: true, name: "asked: a tool known by name only", d: decide(asks(mcp))},
	{serious: true, name: "asked: a reason that nobody here knows", d: decide(asks(edit, "later"))},
	{serious: true, name: "asked: no reason is given", d: umpire.Decision{Verdict: umpire.Ask, Accesses: []umpire.Access{edit}}},
	{serious: true, name: "asked: the call as a whole", d: umpire.Decision{Verdict: umpire.Ask, Reasons: []umpire.Reason{{Verdict: umpire.Ask, Access: -1}}}},

	{serious: true, name: "denied: critical", d: decide(refused(path(remove, outside, "/"), umpire.CodeCritical))},
	{serious: true, name: "denied: a deny rule", d: decide(refused(edit, umpire.CodeBlocked))},
	{serious: true, name: "denied: a forbidden path", d: decide(refused(lookOut, umpire.CodeForbiddenPath))},
	{serious: true, name: "denied: plan mode, an edit", d: decide(refused(edit, umpire.CodePlan, umpire.CodeAutoDeny))},
	{name: "denied: plan mode, the host's plan", d: decide(refused(plan, umpire.CodePlan, umpire.CodeExternalDirectory, umpire.CodeAutoDeny))},
	{serious: true, name: "denied: plan mode, the plan and an edit", d: decide(refused(plan, umpire.CodePlan), refused(edit, umpire.CodePlan))},
	{serious: true, name: "denied: the host's plan, by a deny rule", d: decide(refused(plan, umpire.CodeBlocked, umpire.CodePlan))},
	{serious: true, name: "denied: plan mode, the host's memory", d: decide(refused(memory, umpire.CodePlan, umpire.CodeExternalDirectory))},
	{serious: true, name: "denied: nothing is known", d: umpire.Decision{}},
}

// TestAnswersGolden writes down the whole table: one line for each kind of decision, one column for
// each mode. If the destination of the question matters, it has both: the host's own dialog, and
// umpire's inbox.
func TestAnswersGolden(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	line := func(name string, cell func(host.Permission) string) {
		fmt.Fprintf(&b, "%-46s", name)
		for _, p := range slices.Backward(permissions()) {
			fmt.Fprintf(&b, " %-18s", cell(p))
		}
		b.WriteString("\n")
	}
	line("", host.Permission.String)
	for _, c := range classes {
		line(c.name, func(p host.Permission) string {
			native := host.Answer(c.d, host.Mode{Permission: p, Silence: host.SilenceChecks, Own: own})
			held := host.Answer(c.d, host.Mode{Permission: p, Silence: host.SilenceChecks, Own: own, Hold: true})
			if native == held {
				return native.String()
			}
			return native.String() + " or " + held.String()
		})
	}
	got := strings.ReplaceAll(b.String(), "  \n", "\n")
	for strings.Contains(got, " \n") {
		got = strings.ReplaceAll(got, " \n", "\n")
	}
	file := filepath.Join("testdata", "answers.txt")
	if *updateAnswers {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the table has changed; look at each line, then run go test -update (-want +got):\n%s", diff)
	}
}

// permissions returns all modes of hosts.
func permissions() (all []host.Permission) {
	for p := host.Unknown; p <= host.DontAsk; p++ {
		all = append(all, p)
	}
	return all
}

// modes are all modes, with and without an inbox to hold in.
func modes() (all []host.Mode) {
	for _, p := range permissions() {
		all = append(all, host.Mode{Permission: p, Silence: host.SilenceChecks, Own: own}, host.Mode{Permission: p, Own: own, Hold: true})
	}
	return all
}

// TestOneQuestionForOneCall: if the host asks by itself and would ask again after an approval,
// umpire's inbox holds the serious questions, and none that only the host asks.
func TestOneQuestionForOneCall(t *testing.T) {
	t.Parallel()
	for _, c := range classes {
		m := host.Mode{Permission: host.Default, Silence: host.SilenceChecks, Own: own}
		native := host.Answer(c.d, m)
		m.Hold, m.AsksAgain = true, true
		held := host.Answer(c.d, m)
		if native == host.Silent && held != host.Silent || native == host.Ask && held != host.Hold {
			t.Errorf("%s: %s, and %s with an inbox", c.name, native, held)
		}
	}
}

func TestSeriousQuestionsAreNeverSilent(t *testing.T) {
	t.Parallel()
	for _, c := range classes {
		for _, m := range modes() {
			got := host.Answer(c.d, m)
			if c.serious && (got == host.Silent || got == host.Allow) {
				t.Errorf("%s in %s: %s", c.name, m.Permission, got)
			}
			if c.d.Verdict == umpire.Deny && c.serious && got != host.Deny {
				t.Errorf("%s in %s: %s", c.name, m.Permission, got)
			}
			if m.Permission == host.DontAsk && (got == host.Ask || got == host.Hold) {
				t.Errorf("%s in dontAsk: %s", c.name, got)
			}
		}
	}
}

// A serious judgedPart keeps a call from being passed over, no matter what else the call does.
func TestOneSeriousPartDecides(t *testing.T) {
	t.Parallel()
	for _, c := range classes {
		if !c.serious || c.d.Verdict != umpire.Ask || len(c.d.Reasons) == 0 {
			continue
		}
		for _, other := range []judgedPart{safe(look), asks(edit), asks(memory, umpire.CodeExternalDirectory), approved(push, umpire.CodeRule)} {
			d := c.d
			d.Accesses = append(slices.Clone(d.Accesses), other.Access)
			d.Reasons = append(slices.Clone(d.Reasons), umpire.Reason{Verdict: other.Verdict, Code: other.codes[0], Access: len(d.Accesses) - 1})
			for _, m := range modes() {
				if got := host.Answer(d, m); got == host.Silent || got == host.Allow {
					t.Errorf("%s, with another judgedPart, in %s: %s", c.name, m.Permission, got)
				}
			}
		}
	}
}

// TestAnswerOverAllFacts goes through every mixture of what an access can be. An allow is
// said only for a decision that allows, or where the host's own files are read; silence
// about a question needs one that is not serious.
func TestAnswerOverAllFacts(t *testing.T) {
	t.Parallel()
	codes := []umpire.ReasonCode{
		umpire.CodeMode, umpire.CodeExternalDirectory, umpire.CodeRule, umpire.CodeControlFile, umpire.CodeSecret, umpire.CodeUnparsed,
		umpire.CodeProjectCode, umpire.CodeWritten, umpire.CodeNetwork, umpire.CodeDegraded, umpire.CodeNoSandbox, umpire.CodeChanged, umpire.CodeSafe, "",
	}
	plain := []umpire.ReasonCode{umpire.CodeMode, umpire.CodeExternalDirectory, umpire.CodeWritten}
	kinds := []umpire.AccessKind{umpire.KindUnknown, umpire.KindExec, read, write, remove, umpire.KindNetwork, umpire.KindInvoke}
	places := []umpire.Place{umpire.PlaceUnknown, outside, inside, umpire.PlaceHarmless}
	for _, code := range codes {
		for _, kind := range kinds {
			for _, place := range places {
				for c := umpire.Lost; c <= umpire.Harmless; c++ {
					for _, doubt := range []string{"", "a doubt"} {
						a := umpire.Access{Kind: kind, Place: place, Target: "/x", Resolved: "/x", Risk: umpire.Medium, Consequence: c, Doubt: umpire.Verbatim(doubt)}
						d := decide(asks(a, code, umpire.CodeMode))
						if code == umpire.CodeSafe {
							continue // it never asks
						}
						bad := doubt != "" || c.AtLeast(umpire.Outward) || !slices.Contains(plain, code)
						bad = bad || (kind == write || kind == remove) && place != inside && place != umpire.PlaceHarmless
						for _, m := range modes() {
							switch got := host.Answer(d, m); {
							case got == host.Allow, bad && got == host.Silent:
								t.Errorf("%+v, %q in %s: %s", a, code, m.Permission, got)
							}
						}
					}
				}
			}
		}
	}
}

// An allow never exceeds the host's own mode: calls held back by plan and bypass stay held back,
// and so do those held back by an unknown mode.
func TestAllowIsNotLooserThanTheHost(t *testing.T) {
	t.Parallel()
	for _, c := range classes {
		for _, m := range modes() {
			if host.Answer(c.d, m) != host.Allow {
				continue
			}
			changes := slices.ContainsFunc(c.d.Accesses, func(a umpire.Access) bool { return a.Changes() })
			if m.Permission == host.Plan && changes || m.Permission == host.Bypass || m.Permission == host.Unknown {
				t.Errorf("%s in %s: allow", c.name, m.Permission)
			}
		}
	}
}

func TestModesOfClaude(t *testing.T) {
	t.Parallel()
	for _, p := range permissions() {
		if got := host.Find("claude").Mode(p.String()).Is; got != p {
			t.Errorf("%s: got %s", p, got)
		}
	}
	for word, want := range map[string]host.Permission{"": host.Default, "Auto": host.Unknown, "yolo": host.Unknown} {
		if got := host.Find("claude").Mode(word).Is; got != want {
			t.Errorf("%q: got %s, want %s", word, got, want)
		}
	}
}

// TestFoldersCountWhereTheyLie: the target of a link counts, and a name alone does not.
func TestFoldersCountWhereTheyLie(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		at   string
		want host.Reply
	}{
		{"/home/u/.claude/projects/p/memory/a.md", host.Allow},
		{"/home/u/.claude/projects/p/memory", host.Allow},
		{"/home/u/.claude/plans/a.md", host.Allow},
		{"/home/u/.claude/plans/a.sh", host.Ask},
		{"/home/u/.claude/plans/sub/a.md", host.Ask},
		{"/home/u/.claude/settings.json", host.Ask},
		{"/home/u/.claude/projects/p/s.jsonl", host.Ask},
		{"/home/u/.claude-evil/plans/a.md", host.Ask},
		{"/p/.claude/plans/a.md", host.Ask},
		{"/tmp/claude-1000/p/s/tasks/b1.output", host.Allow},
		{"/tmp/claude-1001/p/s/tasks/b1.output", host.Ask},
	} {
		d := decide(asks(path(read, outside, tt.at), umpire.CodeExternalDirectory))
		if got := host.Answer(d, host.Mode{Permission: host.Default, Silence: host.SilenceChecks, Own: own}); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.at, got, tt.want)
		}
	}
	d := decide(asks(path(read, outside, "/plans/a.md"), umpire.CodeExternalDirectory))
	if got := host.Answer(d, host.Mode{Permission: host.Default, Silence: host.SilenceChecks, Own: host.Find("claude").FoldersIn("", "")}); got != host.Ask {
		t.Errorf("without folders: %s", got)
	}
}
