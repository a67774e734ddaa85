package policy

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

const (
	testRoot = "/home/u/p"
	testHome = "/home/u"
)

var testNow = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

var testOptions = Options{Root: testRoot, Home: testHome}

// rule parses "ACTION SHORT" as a rule of the user.
func rule(t testing.TB, text string) umpire.Rule {
	t.Helper()
	action, short, _ := strings.Cut(text, " ")
	r, err := ParseShort(short)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Action.UnmarshalText([]byte(action)); err != nil {
		t.Fatal(err)
	}
	r.ID, r.Source = umpire.RuleID(text), umpire.SourceUser
	return r
}

func newPolicy(t testing.TB, o Options, rules ...string) *Policy {
	t.Helper()
	var all []umpire.Rule
	for _, text := range rules {
		all = append(all, rule(t, text))
	}
	p, err := New(all, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// exec returns the access of a command line that is one simple command.
func exec(line string, risk umpire.Risk) umpire.Access {
	words := strings.Fields(line)
	return umpire.Access{
		Kind: umpire.KindExec, Program: words[0][strings.LastIndexByte(words[0], '/')+1:], Args: words[1:], Words: words, Line: words, Base: 1,
		Risk: risk, Reason: "test", Part: 1,
	}
}

// on returns an access to a path; a relative one lies in the project.
func on(kind umpire.AccessKind, target string, risk umpire.Risk) umpire.Access {
	a := umpire.Access{Kind: kind, Target: absolutePath(homePath(target, testHome), testRoot), Risk: risk, Part: 1}
	a.Resolved, a.Place = a.Target, umpire.PlaceOutside
	if strings.HasPrefix(a.Target, testRoot+"/") || a.Target == testRoot {
		a.Place = umpire.PlaceInside
	}
	a.Glob = strings.ContainsAny(target, "*?")
	return a
}

func tree(kind umpire.AccessKind, target string) umpire.Access {
	a := on(kind, target, umpire.High)
	a.Tree = true
	return a
}

func read(target string) umpire.Access   { return on(umpire.KindRead, target, umpire.Safe) }
func write(target string) umpire.Access  { return on(umpire.KindWrite, target, umpire.Medium) }
func remove(target string) umpire.Access { return on(umpire.KindDelete, target, umpire.High) }

func network(host string) umpire.Access {
	return umpire.Access{Kind: umpire.KindNetwork, Target: host, Risk: umpire.Medium, Part: 1}
}

func invoke(tool string, risk umpire.Risk) umpire.Access {
	return umpire.Access{Kind: umpire.KindInvoke, Target: tool, Risk: risk}
}

func doubtful(a umpire.Access) umpire.Access {
	a.Doubt = "a variable is not known"
	return a
}

func redirect(a umpire.Access) umpire.Access {
	a.Redirect = true
	return a
}

func secondPart(a umpire.Access) umpire.Access {
	a.Part = 2
	return a
}

// query returns a call of the tool with these accesses in default mode.
func query(tool string, accesses ...umpire.Access) Query {
	return Query{
		Call: umpire.Call{ID: "c1", Tool: tool, Input: json.RawMessage(`{"command":"x"}`)}, Facts: umpire.Facts{Type: umpire.ShellExecute, Accesses: accesses},
		Conditions: Conditions{
			Mode: umpire.ModeDefault, Now: testNow,
			Below: func(string) ([]string, bool) { return nil, true }, // the disk is empty
		},
	}
}

func unlooked(q Query) Query {
	q.Below = nil
	return q
}

func inMode(m umpire.Mode, q Query) Query {
	q.Mode = m
	return q
}

type want struct {
	verdict umpire.Verdict
	code    umpire.ReasonCode
	text    string // "" matches any text; a trailing … matches a prefix
}

func check(t *testing.T, p *Policy, q Query, w want) umpire.Decision {
	t.Helper()
	d := Decide(p, q)
	if d.Verdict != w.verdict || d.ReasonCode != w.code {
		t.Fatalf("got %s %s %q, want %s %s; reasons %+v", d.Verdict, d.ReasonCode, d.Reason, w.verdict, w.code, d.Reasons)
	}
	prefix, open := strings.CutSuffix(w.text, "…")
	if w.text != "" && (open && !strings.HasPrefix(catalogue.English.Text(d.Reason), prefix) || !open && catalogue.English.Text(d.Reason) != w.text) {
		t.Fatalf("reason %q, want %q", d.Reason, w.text)
	}
	return d
}

const (
	allow = umpire.Allow
	ask   = umpire.Ask
	deny  = umpire.Deny
)

var (
	safeAllow   = want{allow, umpire.CodeSafe, "Tool classified as safe"}
	ruleAllow   = want{allow, umpire.CodeRule, ""}
	modeAsk     = want{ask, umpire.CodeMode, ""}
	blocked     = want{deny, umpire.CodeBlocked, ""}
	autoDeny    = want{deny, umpire.CodeAutoDeny, ""}
	critical    = want{deny, umpire.CodeCritical, ""}
	forbidden   = want{deny, umpire.CodeForbiddenPath, ""}
	control     = want{ask, umpire.CodeControlFile, ""}
	external    = want{ask, umpire.CodeExternalDirectory, ""}
	askedRule   = want{ask, umpire.CodeRule, ""}
	askedSecret = want{ask, umpire.CodeSecret, "may hold secrets: …"}
	unparsed    = want{ask, umpire.CodeUnparsed, ""}
	planDeny    = want{deny, umpire.CodePlan, ""}
	bypassed    = want{allow, umpire.CodeBypass, ""}
	invalidity  = want{deny, umpire.CodeInvalid, ""}
)

func TestDecide(t *testing.T) {
	t.Parallel()
	once := func(tool string) umpire.Grant { return umpire.Grant{Tool: tool} }
	pattern := func(tool, glob string) umpire.Grant {
		return umpire.Grant{Tool: tool, Scope: umpire.ScopeSession, Match: umpire.Match{PathGlob: glob}}
	}
	del := func(path string) umpire.Access { return on(umpire.KindDelete, path, umpire.Medium) }
	session := func(tool string) umpire.Grant { return umpire.Grant{Tool: tool, Scope: umpire.ScopeSession} }
	grants := func(q Query, g ...umpire.Grant) Query { q.Grants = g; return q }
	allowAll := func(q Query) Query { q.AllowAll = true; return q }
	headless := func(q Query) Query { q.Headless = true; return q }
	auto, askMode := umpire.ModeAuto, umpire.ModeAsk
	npmTest, script := exec("npm test -- --coverage", umpire.Medium), exec("python3 script.py", umpire.Medium)
	rm := exec("rm -rf node_modules/", umpire.High)

	for _, tt := range []struct {
		name  string
		rules []string
		q     Query
		want  want
	}{
		{"M-186 Read without a path", nil, query("Read", invoke("Read", umpire.Safe)), safeAllow},
		{"M-187 Write asks", nil, query("Write", write("test.ts")), want{ask, umpire.CodeMode, `Tool "Write" requires approval (moderate)`}},
		{"M-92 GitPush is dangerous", nil, query("GitPush", exec("git push", umpire.High)), want{ask, umpire.CodeMode, `Tool "GitPush" requires approval (dangerous)`}},
		{"M-188 once", nil, grants(query("Write", write("test.ts")), once("Write")), want{allow, umpire.CodeOnce, "Allowed once by user"}},
		{"M-189 session", nil, grants(query("Edit", write("a.ts")), session("Edit")), want{allow, umpire.CodeSession, "Allowed for this session"}},
		{"M-190 allowAll", nil, allowAll(query("GitPush", exec("git push", umpire.High))), want{allow, umpire.CodeAllowAll, "All tools allowed (allowAll)"}},
		{"M-197 prefix", []string{"allow Bash(npm test:*)"}, query("Bash", npmTest), ruleAllow},
		{"M-197 whole words", []string{"allow Bash(npm test:*)"}, query("Bash", exec("npm testify", umpire.Medium)), modeAsk},
		{"M-198 glob", []string{"allow Edit(src/**/*.ts)"}, query("Edit", write("src/utils/helper.ts")), ruleAllow},
		{"M-102 ** matches no folder", []string{"allow Edit(src/**/*.ts)"}, query("Edit", write("src/d.ts")), ruleAllow},
		{"MP-19 glob leaves others", []string{"allow Edit(src/**)"}, query("Edit", write("package.json")), modeAsk},
		{"M-199 deny beats allow", []string{"allow Edit", "deny Edit(*.config.*)"}, query("Edit", write("vite.config.ts")), blocked},
		{"M-200 other command", []string{"allow Bash(npm test:*)"}, query("Bash", script), modeAsk},
		{"MP-23 deny prefix", []string{"deny Bash(rm -rf:*)"}, query("Bash", exec("rm -rf /tmp", umpire.High), tree(umpire.KindDelete, "/tmp")), blocked},
		{"MP-24 any depth", []string{"allow Edit", "deny Edit(*.lock)"}, query("Edit", write("a/b/yarn.lock")), blocked},
		{"M-97 deny beats grants", []string{"deny Write"}, allowAll(grants(query("Write", write("a")), once("Write"), session("Write"))), want{deny, umpire.CodeBlocked, "Denied by rule: deny Write"}},
		{"M-93 star", []string{"deny *"}, query("Read", read("a")), blocked},
		{"M-87 safe first, rule unneeded", []string{"allow Read"}, query("Read", read("a")), safeAllow},
		{"X-03 ask beats allow", []string{"allow Bash(npm:*)", "ask Bash(npm test:*)"}, query("Bash", npmTest), want{ask, umpire.CodeRule, "Asked by rule: ask Bash(npm test:*)"}},
		{"X-16 every part needs cover", []string{"allow Bash(npm test:*)"}, query("Bash", npmTest, secondPart(script)), modeAsk},
		{"X-16 deny needs one part", []string{"allow Bash", "deny Bash(python3:*)"}, query("Bash", npmTest, secondPart(script)), blocked},
		{"rule covers what its program does", []string{"allow Bash(gen:*)"}, query("Bash", exec("gen x", umpire.Medium), write("out"), network("x.org")), ruleAllow},
		{"but not a redirection", []string{"allow Bash(gen:*)"}, query("Bash", exec("gen x", umpire.Medium), redirect(write("out"))), modeAsk},
		{"nor another part", []string{"allow Bash(gen:*)"}, query("Bash", exec("gen x", umpire.Medium), secondPart(write("out"))), modeAsk},
		{"nor doubt", []string{"allow Bash(gen:*)"}, query("Bash", doubtful(exec("gen x", umpire.Medium))), unparsed},
		{"nor a path outside", []string{"allow Bash(gen:*)"}, query("Bash", exec("gen x", umpire.Medium), write("/q/out")), external},
		{"tool-wide Bash covers redirections", []string{"allow Bash"}, query("Bash", exec("gen x", umpire.Medium), redirect(write("out"))), ruleAllow},
		{"Edit does not allow programs", []string{"allow Edit"}, query("Bash", exec("gen x", umpire.Medium), write("out")), modeAsk},
		{"Edit allows a redirection", []string{"allow Edit(out)"}, query("Bash", exec("echo x", umpire.Safe), redirect(write("out"))), ruleAllow},
		{"cat .env is Read(.env)", []string{"deny Read(.env)"}, query("Bash", exec("cat .env", umpire.Safe), read("sub/.env")), blocked},
		{"whichever tool reads", []string{"deny Grep(.env)"}, query("Read", read(".env")), blocked},
		{"deny ignores case", []string{"deny Read(.env)"}, query("Read", read(".ENV")), blocked},
		{"deny Write stops deleting", []string{"deny Write(keep/**)"}, query("Bash", exec("rm keep/a", umpire.Medium), remove("keep/a")), blocked},
		{"allow Edit does not delete", []string{"allow Edit(keep/**)"}, query("Delete", remove("keep/a")), modeAsk},
		{"tree above a denied file", []string{"deny Edit(src/secret/**)"}, query("Bash", exec("rm -r src", umpire.Low), tree(umpire.KindDelete, "src")), blocked},
		{"tree beside it", []string{"deny Edit(src/secret/**)", "deny Edit(.env)"}, query("Bash", exec("rm -r lib", umpire.Low), tree(umpire.KindDelete, "lib")), modeAsk},
		{"wildcards that may meet", []string{"deny Edit(*.lock)"}, query("Bash", exec("rm *.l*", umpire.Low), remove("*.l*")), blocked},
		{"wildcards that cannot", []string{"deny Edit(*.lock)"}, query("Bash", exec("rm *.go", umpire.Low), remove("*.go")), modeAsk},
		{"wildcards skip hidden files", []string{"deny Read(.env)"}, query("Bash", exec("cat *", umpire.Safe), read("*")), safeAllow},
		{"allow wildcards in a folder", []string{"allow Delete(build/**)"}, query("Delete", remove("build/*.o")), ruleAllow},
		{"deny by domain", []string{"deny WebFetch(domain:*.evil.com)"}, query("Bash", exec("curl x", umpire.Low), network("https://u@A.Evil.com.:8080/x")), blocked},
		{"allow by domain", []string{"allow WebFetch(domain:pkg.go.dev)"}, query("WebFetch", network("pkg.go.dev")), ruleAllow},
		{"another domain", []string{"allow WebFetch(domain:pkg.go.dev)"}, query("WebFetch", network("xpkg.go.dev")), modeAsk},
		{"mcp server", []string{"allow mcp__github"}, query("mcp__github__list", invoke("mcp__github__list", umpire.Medium)), ruleAllow},
		{"mcp glob", []string{"deny mcp__git*__push"}, query("mcp__github__push", invoke("mcp__github__push", umpire.Medium)), blocked},
		{"mcp other server", []string{"allow mcp__git"}, query("mcp__github__list", invoke("mcp__github__list", umpire.Medium)), modeAsk},
		{"deny GitPush in a shell", []string{"deny GitPush"}, query("Bash", exec("git push x", umpire.High)), blocked},
		{"Bash rule on a Git tool", []string{"allow Bash(git commit:*)"}, query("GitCommit", exec("git commit", umpire.High)), ruleAllow},
		{"program by its path: denied", []string{"deny Bash(npm:*)"}, query("Bash", exec("/x/npm i", umpire.Medium)), blocked},
		{"program by its path: not allowed", []string{"allow Bash(npm:*)"}, query("Bash", exec("/x/npm i", umpire.Medium)), modeAsk},

		{"N-41 external asks", nil, query("Read", read("/q/x")), external},
		{"N-42 path rule lifts", []string{"allow Read(/q/**)"}, query("Read", read("/q/x")), safeAllow},
		{"bare rule does not lift", []string{"allow Read"}, query("Read", read("/q/x")), external},
		{"X-09 allowAll does not lift", nil, allowAll(query("Read", read("/q/x"))), external},
		{"session for the tool does not lift", nil, grants(query("Read", read("/q/x")), session("Read")), external},
		{"session for the pattern lifts", nil, grants(query("Read", read("/q/x")), umpire.Grant{Tool: "Read", Scope: umpire.ScopeSession, Match: umpire.Match{PathGlob: "/q/**"}, ExpiresAt: testNow.Add(1)}), want{allow, umpire.CodeSession, ""}},
		{"N-42 expired", nil, grants(query("Read", read("/q/x")), umpire.Grant{Tool: "Read", Scope: umpire.ScopeSession, Match: umpire.Match{PathGlob: "/q/**"}, ExpiresAt: testNow}), external},
		{"DS-8 writing includes reading", nil, grants(query("Read", read("/q/x")), pattern("Edit", "/q/**")), want{allow, umpire.CodeSession, ""}},
		{"DS-8 by whatever tool", nil, grants(query("Bash", read("/q/x")), pattern("Write", "/q/**")), want{allow, umpire.CodeSession, ""}},
		{"DS-8 reading does not include writing", nil, grants(query("Write", write("/q/x")), pattern("Read", "/q/**")), external},
		{"DS-8 writing does not include deleting", nil, grants(query("Bash", del("/q/x")), pattern("Write", "/q/**")), external},
		{"DS-8 not beside the pattern", nil, grants(query("Read", read("/r/x")), pattern("Edit", "/q/**")), external},
		{"DS-8 not past an ask rule", []string{"ask Read(/q/**)"}, grants(query("Read", read("/q/x")), pattern("Edit", "/q/**")), askedRule},
		{"DS-8 a rule is no grant", []string{"allow Edit(/q/**)"}, query("Read", read("/q/x")), external},
		{"DS-8 a command is a command", nil, grants(query("Read", read("/q/x")), umpire.Grant{Tool: "Bash", Scope: umpire.ScopeSession, Match: umpire.Match{CommandPrefix: "cat"}}), external},
		{"exact once lifts all", []string{"ask Bash"}, grants(query("Bash", doubtful(exec("x", umpire.High)), write("/q/x")), umpire.Grant{Tool: "Bash", Exact: "x"}), want{allow, umpire.CodeOnce, ""}},
		{"exact session lifts all", []string{"ask Bash"}, grants(query("Bash", doubtful(exec("x", umpire.High)), write("/q/x")), umpire.Grant{Tool: "Bash", Exact: "x", Scope: umpire.ScopeSession}), want{allow, umpire.CodeSession, ""}},
		{"another command is not exact", nil, grants(query("Bash", exec("y", umpire.High)), umpire.Grant{Tool: "Bash", Exact: "y"}), modeAsk},
		{"tool-wide grant and doubt", nil, grants(query("Bash", doubtful(exec("x", umpire.High))), session("Bash")), unparsed},
		{"X-07 critical beats all", []string{"allow *"}, allowAll(grants(inMode(umpire.ModeBypass, query("Bash", exec("x", umpire.Critical))), umpire.Grant{Tool: "Bash", Exact: "x"})), critical},
		{"grants do not cross tools", nil, grants(query("Write", write("a")), once("Edit")), modeAsk},
		{"the zero grant covers nothing", nil, grants(query("Write", write("a")), umpire.Grant{}), modeAsk},

		{"row 6 control file", []string{"allow Edit"}, allowAll(query("Write", write(".git/hooks/pre-commit"))), control},
		{"row 6 in bypass", nil, inMode(umpire.ModeBypass, query("Write", write(".umpire/permissions.json"))), control},
		{"row 6 session does not lift", nil, grants(query("Write", write(".envrc")), session("Write")), control},
		{"row 6 once lifts", nil, grants(query("Write", write(".envrc")), once("Write")), want{allow, umpire.CodeOnce, ""}},
		{"row 6 read is free", nil, query("Read", read(".git/config")), safeAllow},
		{"row 6 rm -rf .git", []string{"allow Bash(rm:*)"}, query("Bash", rm, tree(umpire.KindDelete, ".git")), control},
		{"row 6 rm -rf .", []string{"allow Bash(rm:*)"}, query("Bash", rm, tree(umpire.KindDelete, ".")), control},
		{"row 6 nested .git", []string{"allow Bash(rm:*)"}, query("Bash", rm, tree(umpire.KindDelete, "vendor/x/.git")), control},
		{"row 6 not node_modules", []string{"allow Bash(rm:*)"}, query("Bash", rm, tree(umpire.KindDelete, "node_modules")), ruleAllow},
		{"row 6 not build/*", []string{"allow Bash(rm:*)"}, query("Bash", rm, tree(umpire.KindDelete, "build/*")), ruleAllow},

		{"C-49 mode ask asks for reads", nil, inMode(askMode, query("Read", read("src/a"))), modeAsk},
		{"C-15 and a rule allows", []string{"allow Read(src/**)"}, inMode(askMode, query("Read", read("src/a"))), ruleAllow},
		{"C-48 auto denies danger", nil, inMode(auto, query("Bash", rm, tree(umpire.KindDelete, "node_modules"))), autoDeny},
		{"C-48 auto asks in doubt", nil, inMode(auto, query("Bash", doubtful(rm))), unparsed},
		{"X-44 auto asks", nil, inMode(auto, query("Bash", exec("make build", umpire.Medium))), modeAsk},
		{"C-23 auto remembers", nil, grants(inMode(auto, query("Bash", exec("x", umpire.Medium))), umpire.Grant{Tool: "Bash", Exact: "x", Remembered: true}), want{allow, umpire.CodeRemembered, ""}},
		{"C-23 only in auto", nil, grants(query("Bash", exec("x", umpire.Medium)), umpire.Grant{Tool: "Bash", Exact: "x", Remembered: true}), modeAsk},
		{"C-23 not past an ask rule", []string{"ask Bash"}, grants(inMode(auto, query("Bash", exec("x", umpire.Medium))), umpire.Grant{Tool: "Bash", Exact: "x", Remembered: true}), askedRule},
		{"C-57 auto adds", nil, inMode(auto, query("Bash", exec("git add .", umpire.Medium))), want{allow, umpire.CodeMode, ""}},
		{"C-58 auto commits", nil, inMode(auto, query("GitCommit", exec("git commit -m x", umpire.High))), want{allow, umpire.CodeMode, ""}},
		{"C-59 auto asks for a push", nil, inMode(auto, query("GitPush", exec("git push origin main", umpire.High))), modeAsk},
		{"C-60 auto refuses --force", nil, inMode(auto, query("Bash", exec("git push --force", umpire.High))), autoDeny},
		{"C-61 auto refuses -f", nil, inMode(auto, query("Bash", exec("git push origin -f", umpire.High))), autoDeny},
		{"C-62 auto refuses rebase -i", nil, inMode(auto, query("Bash", exec("git rebase -i", umpire.High))), autoDeny},
		{"C-59 bypass pushes", nil, inMode(umpire.ModeBypass, query("GitPush", exec("git push", umpire.High))), bypassed},
		{"C-69 auto strips Bash", []string{"allow Bash"}, inMode(auto, query("Bash", exec("make", umpire.Medium))), modeAsk},
		{"C-69 auto strips interpreters", []string{"allow Bash(python3:*)"}, inMode(auto, query("Bash", script)), modeAsk},
		{"C-69 auto keeps the rest", []string{"allow Bash(python3 script.py:*)"}, inMode(auto, query("Bash", script)), ruleAllow},
		{"A-2 reject", nil, inMode(umpire.ModeReject, query("Write", write("a"))), autoDeny},
		{"A-2 reject allows safe", nil, inMode(umpire.ModeReject, query("Read", read("a"))), safeAllow},
		{"reject refuses what a rule asks", []string{"ask Read"}, inMode(umpire.ModeReject, query("Read", read("a"))), autoDeny},
		{"C-70 headless", nil, headless(query("Write", write("a"))), want{deny, umpire.CodeAutoDeny, "non_interactive confirmation required…"}},
		{"a tree that nobody looked through", []string{"deny Edit(.env)"}, unlooked(query("Bash", tree(umpire.KindDelete, "src"))), blocked},
		{"plan denies writes", []string{"allow Edit"}, inMode(umpire.ModePlan, query("Edit", write("a"))), planDeny},
		{"plan reads", nil, inMode(umpire.ModePlan, query("Bash", exec("ls", umpire.Safe), read("."))), safeAllow},
		{"plan and doubt", nil, inMode(umpire.ModePlan, query("Bash", doubtful(exec("ls", umpire.Safe)))), planDeny},
		{"row 7 stands before bypass", []string{"ask Write"}, inMode(umpire.ModeBypass, query("Write", write("/q/a"))), askedRule},
		{"bypass allows doubt", nil, inMode(umpire.ModeBypass, query("Bash", doubtful(exec("x", umpire.High)))), bypassed},
		{"X-08 bypass keeps deny", []string{"deny Write"}, inMode(umpire.ModeBypass, query("Write", write("a"))), blocked},
		{"an ask rule does not soften auto", []string{"ask Bash"}, inMode(auto, query("Bash", rm)), autoDeny},
		{"a control file does not either", nil, inMode(auto, query("Bash", rm, tree(umpire.KindDelete, ".git"))), autoDeny},
		{"the zero mode refuses", nil, inMode(0, query("Write", write("a"))), autoDeny},
		{"row 1 unknown kind", nil, inMode(umpire.ModeBypass, query("X", umpire.Access{Risk: umpire.Safe})), invalidity},
		{"row 1 nothing known", nil, inMode(umpire.ModeBypass, query("X")), invalidity},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			check(t, newPolicy(t, testOptions, tt.rules...), tt.q, tt.want)
		})
	}
}
