package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/policy"
)

const (
	safe      = umpire.ClassSafe
	moderate  = umpire.ClassModerate
	dangerous = umpire.ClassDangerous
)

// Short names for the modes, which a table names in every line.
const (
	byDefault = umpire.ModeDefault
	auto      = umpire.ModeAuto
	askAll    = umpire.ModeAsk
	reject    = umpire.ModeReject
	bypass    = umpire.ModeBypass
	plan      = umpire.ModePlan
)

const safeText = "Tool classified as safe"

// A row is one call with its required outcome. Empty fields of the answer are not checked, and
// neither is a class of "".
type row struct {
	name    string
	call    umpire.Call
	mode    umpire.Mode
	rules   []string // "ACTION SHORT", of the user
	with    func(*policy.Query)
	verdict umpire.Verdict
	class   umpire.Class
	code    umpire.ReasonCode
	text    string
}

// bash is a call of a command line.
func bash(line string) umpire.Call {
	return tool("Bash", map[string]any{"command": line})
}

// file is a call of a tool that works on one path.
func file(name, path string) umpire.Call { return tool(name, map[string]any{"path": path}) }

func tool(name string, input map[string]any) umpire.Call {
	raw, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	return umpire.Call{ID: "c1", Tool: name, Input: raw}
}

// repository makes the temporary folder look like a git repository with a few
// files in it.
func repository(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n\tbare = false\n",
		"package.json": `{"scripts": {"test": "node --test"}}`, "a.txt": "one\n", "src/a.ts": "export {}\n",
	} {
		writeFile(t, filepath.Join(root, name), text)
	}
	for _, folder := range []string{".git/objects", ".git/refs/heads", "build"} {
		if err := os.MkdirAll(filepath.Join(root, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// userRule reads "ACTION SHORT" as a rule of the user; the text is its id.
func userRule(t *testing.T, text string) umpire.Rule {
	t.Helper()
	action, short, _ := strings.Cut(text, " ")
	r, err := policy.ParseShort(short)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Action.UnmarshalText([]byte(action)); err != nil {
		t.Fatal(err)
	}
	r.ID, r.Source = umpire.RuleID(text), umpire.SourceUser
	return r
}

// gateWith returns a gate with a fresh home and these rules.
func gateWith(t *testing.T, c Config, rules ...string) *Gate {
	t.Helper()
	if c.UserHome == "" {
		c.UserHome = t.TempDir()
	}
	c.Home = filepath.Join(c.UserHome, ".umpire")
	for _, text := range rules {
		c.Rules = append(c.Rules, userRule(t, text))
	}
	g := New(c)
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

// checkRows checks every row in one repository, with a gate for each.
func checkRows(t *testing.T, rows []row) {
	t.Helper()
	root := repository(t)
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			r.check(t, gateWith(t, Config{}, r.rules...), root)
		})
	}
}

func (r *row) check(t *testing.T, g *Gate, root string) umpire.Decision {
	t.Helper()
	request := policy.Query{Call: r.call, Conditions: policy.Conditions{Mode: r.mode}}
	request.Call.Dir = root
	if r.with != nil {
		r.with(&request)
	}
	if request.Sandbox == (policy.Sandbox{}) {
		request.Sandbox.Held = true // as the built-in agent
	}
	d := g.projects.Decide("", request)
	switch {
	case d.Verdict != r.verdict,
		r.class != "" && d.Risk.Class() != r.class,
		r.code != "" && d.ReasonCode != r.code,
		r.text != "" && catalogue.English.Text(d.Reason) != r.text:
		t.Errorf("%s %s: %v %s %s %q, want %v %s %s %q; reasons %+v", r.call.Tool, r.call.Input,
			d.Verdict, d.Risk.Class(), d.ReasonCode, d.Reason, r.verdict, r.class, r.code, r.text, d.Reasons)
	}
	return d
}

// is names a class that runs or asks by itself in default mode.
func is(name string, call umpire.Call, class umpire.Class) row {
	verdict := umpire.Ask
	if class == safe {
		verdict = umpire.Allow
	}
	return row{name: name, call: call, mode: byDefault, verdict: verdict, class: class}
}

func TestRowsClasses(t *testing.T) {
	t.Parallel()
	rows := []row{
		is("M-14 safe", bash("ls"), safe),
		is("M-14 moderate", bash("python3 script.py"), moderate),
		is("M-14 dangerous", bash("sudo ls"), dangerous),
		is("M-30 Bash that looks", bash("cat a.txt"), safe),
		is("M-30 Bash that deletes", bash("rm a.txt"), dangerous),
		is("M-31 unknown tool", tool("UnknownMCPTool", nil), moderate),
		is("M-31 tool of an MCP server", tool("mcp__github__list", nil), moderate),
		is("M-32 no command", tool("Bash", map[string]any{}), moderate),
		is("M-32 no input", umpire.Call{Tool: "Bash"}, moderate),
		is("M-32 empty", bash(""), moderate),
		is("M-32 blank", bash(" \t\n "), moderate),
		is("M-42 rm", bash("rm a.txt"), dangerous),
		is("M-42 rm -rf", bash("rm -rf build"), dangerous),
		is("M-42 rm of two", bash("rm a.txt src/a.ts"), dangerous),
		is("M-43 rmdir", bash("rmdir build"), dangerous),
		is("M-44 chmod", bash("chmod 755 a.txt"), dangerous),
		is("M-45 chown", bash("chown root a.txt"), dangerous),
		is("M-46 sudo", bash("sudo ls"), dangerous),
		is("M-46 sudo with options", bash("sudo -n -u root whoami"), dangerous),
		is("M-47 su", bash("su - root"), dangerous),
		is("M-47 su -c", bash("su -c ls"), dangerous),
		is("M-50 kill", bash("kill -9 1234"), dangerous),
		is("M-51 killall", bash("killall node"), dangerous),
		is("M-66 redirect to an absolute path", bash("echo x > /srv/b"), dangerous),
		is("M-66 appending too", bash("echo x >> /srv/b"), dangerous),
		is("M-66 nowhere is harmless", bash("ls 2>/dev/null >/dev/null"), safe),
		is("M-67 pipe into tee", bash("ls | tee out.txt"), dangerous),
		is("M-67 tee -a", bash("ls | tee -a out.txt"), dangerous),
		is("M-68 blanks around", bash("  ls  "), safe),
		is("M-68 danger behind a safe start", bash("git log && rm a.txt"), dangerous),
		is("M-68 danger before a safe end", bash("rm a.txt; ls"), dangerous),
		is("M-68 sed -n", bash("sed -n 1,5p a.txt"), safe),
		is("M-68 sed -n that writes", bash("sed -n 'w out' a.txt"), moderate),
		is("M-68 nothing known", bash("frobnicate"), moderate),
		is("N-36 safe runs", bash("ls"), safe),
		is("N-36 low runs", bash("docker ps"), safe),
	}
	for _, line := range []string{"ls", "pwd", "whoami", "date", "uname", "git status", "git branch", "git log"} {
		r := is("M-41 "+line, bash(line), safe)
		r.text = safeText
		rows = append(rows, r)
	}
	checkRows(t, rows)
}

// TestRowsOrder: what decides is the row of the order of decision that stands
// first, and its text is exact.
func TestRowsOrder(t *testing.T) {
	t.Parallel()
	once := umpire.Grant{Tool: "Write"}
	session := umpire.Grant{Tool: "Write", Scope: umpire.ScopeSession}
	everything := func(r *policy.Query) { r.Grants, r.AllowAll = []umpire.Grant{once, session}, true }
	grants := func(g ...umpire.Grant) func(*policy.Query) { return func(r *policy.Query) { r.Grants = g } }
	allowAll := func(r *policy.Query) { r.AllowAll = true }
	write := file("Write", "b.txt")
	denied := []string{"deny Write"}
	allowed := []string{"allow Write"}
	checkRows(t, []row{
		{"M-86 all of them at once", write, byDefault, denied, everything, umpire.Deny, moderate, umpire.CodeBlocked, "Denied by rule: deny Write"},
		{"M-88 a deny rule before grants", write, byDefault, denied, grants(once), umpire.Deny, "", umpire.CodeBlocked, "Denied by rule: deny Write"},
		{"M-88 an allow rule before grants", write, byDefault, allowed, everything, umpire.Allow, "", umpire.CodeRule, "Allowed by rule: allow Write"},
		{"M-89 once", write, byDefault, nil, everything, umpire.Allow, "", umpire.CodeOnce, "Allowed once by user"},
		{"M-90 session", write, byDefault, nil, func(r *policy.Query) { r.Grants, r.AllowAll = []umpire.Grant{session}, true }, umpire.Allow, "", umpire.CodeSession, "Allowed for this session"},
		{"M-91 allowAll", write, byDefault, nil, allowAll, umpire.Allow, "", umpire.CodeAllowAll, "All tools allowed (allowAll)"},
		{"M-98 by id", write, byDefault, denied, nil, umpire.Deny, "", umpire.CodeBlocked, "Denied by rule: deny Write"},
		{"M-99 by id", write, byDefault, allowed, nil, umpire.Allow, "", umpire.CodeRule, "Allowed by rule: allow Write"},
		{"M-100 a rule for another tool", write, byDefault, []string{"allow NotebookRead", "deny WebFetch"}, grants(session), umpire.Allow, "", umpire.CodeSession, "Allowed for this session"},
		{"M-100 no match and no grant", write, byDefault, []string{"deny Write(c.txt)"}, nil, umpire.Ask, moderate, umpire.CodeMode, `Tool "Write" requires approval (moderate)`},
		{"M-160 the stored switch", tool("GitPush", nil), byDefault, nil, allowAll, umpire.Allow, dangerous, umpire.CodeAllowAll, "All tools allowed (allowAll)"},
		{"C-18 allow", file("Read", "a.txt"), byDefault, nil, nil, umpire.Allow, safe, umpire.CodeSafe, safeText},
		{"C-18 ask", write, byDefault, nil, nil, umpire.Ask, moderate, umpire.CodeMode, ""},
		{"C-18 deny", write, byDefault, denied, nil, umpire.Deny, moderate, umpire.CodeBlocked, ""},
		{"C-19 deny before allow", write, byDefault, []string{"allow Write", "ask Write", "deny Write"}, nil, umpire.Deny, "", umpire.CodeBlocked, "Denied by rule: deny Write"},
		{"C-19 ask before allow", write, byDefault, []string{"allow Write", "ask Write"}, nil, umpire.Ask, "", umpire.CodeRule, "Asked by rule: ask Write"},
		{"C-19 allow before the mode", write, askAll, allowed, nil, umpire.Allow, "", umpire.CodeRule, ""},
		{"C-19 the mode last", write, reject, nil, nil, umpire.Deny, "", umpire.CodeAutoDeny, ""},
		{"C-21 bypass before the mode", write, bypass, nil, nil, umpire.Allow, "", umpire.CodeBypass, "Allowed by bypass mode"},
		{"C-21 deny before bypass", write, bypass, denied, nil, umpire.Deny, "", umpire.CodeBlocked, ""},
		{"C-21 deny before allow", write, byDefault, []string{"allow Write", "deny Edit(b.txt)"}, nil, umpire.Deny, "", umpire.CodeBlocked, ""},
		{"C-22 blocked", write, auto, denied, nil, umpire.Deny, "", umpire.CodeBlocked, ""},
		{"C-24 a question", write, askAll, nil, nil, umpire.Ask, "", umpire.CodeMode, `Tool "Write" requires approval (moderate)`},
		{"C-25 nobody answers", write, byDefault, nil, func(r *policy.Query) { r.Headless = true }, umpire.Deny, "", umpire.CodeAutoDeny, `non_interactive confirmation required: Tool "Write" requires approval (moderate)`},
		{"C-25 a mode that is none", write, umpire.Mode(99), nil, nil, umpire.Deny, "", umpire.CodeAutoDeny, ""},
		{"MP-9 a plain tool", write, byDefault, nil, allowAll, umpire.Allow, "", umpire.CodeAllowAll, ""},
		{"MP-9 a command", bash("python3 script.py"), byDefault, nil, allowAll, umpire.Allow, "", umpire.CodeAllowAll, ""},
		{"MP-9 a dangerous command", bash("rm -rf build"), byDefault, nil, allowAll, umpire.Allow, "", umpire.CodeAllowAll, ""},
		{"MP-9 an unknown tool", tool("UnknownMCPTool", nil), byDefault, nil, allowAll, umpire.Allow, "", umpire.CodeAllowAll, ""},
		{"MP-9 but nothing outside", file("Write", "/srv/x"), byDefault, nil, allowAll, umpire.Ask, "", umpire.CodeExternalDirectory, ""},
		{"MP-9 and nothing critical", bash("rm -rf /"), byDefault, nil, allowAll, umpire.Deny, dangerous, umpire.CodeCritical, ""},
	})
}

// TestRowsRuleTexts: M-98 and M-99 name the rule, and its description if it has
// one.
func TestRowsRuleTexts(t *testing.T) {
	t.Parallel()
	root := repository(t)
	for _, tt := range []struct {
		name, description, text string
		action                  umpire.Verdict
	}{
		{"M-98 description", "never by hand", "never by hand", umpire.Deny},
		{"M-98 id", "", "Denied by rule: r1", umpire.Deny},
		{"M-99 description", "generated anyway", "generated anyway", umpire.Allow},
		{"M-99 id", "", "Allowed by rule: r1", umpire.Allow},
		{"C-13 ask list", "look first", "look first", umpire.Ask},
		{"C-13 ask list by id", "", "Asked by rule: r1", umpire.Ask},
		{"C-13 deny list", "", "Denied by rule: r1", umpire.Deny},
		{"C-13 allow list", "", "Allowed by rule: r1", umpire.Allow},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rule := umpire.Rule{ID: "r1", Action: tt.action, Tool: "Write", Description: tt.description, Source: umpire.SourceUser, File: "f.json", Line: 3}
			r := row{call: file("Write", "b.txt"), mode: byDefault, verdict: tt.action, text: tt.text}
			d := r.check(t, gateWith(t, Config{Rules: []umpire.Rule{rule}}), root)
			if d.Rule == nil || *d.Rule != rule.Ref() {
				t.Errorf("rule %+v, want %+v", d.Rule, rule.Ref())
			}
		})
	}
}

func TestRowsRules(t *testing.T) {
	t.Parallel()
	npm := []string{"allow Bash(npm test:*)"}
	sources := []string{"allow Edit(src/**/*.ts)"}
	configs := []string{"allow Edit", "deny Edit(*.config.*)"}
	rm := []string{"deny Bash(rm -rf:*)"}
	cmd := func(line string) umpire.Call { return tool("Bash", map[string]any{"cmd": line}) }
	checkRows(t, []row{
		{"M-94 command", bash("npm test"), askAll, npm, nil, umpire.Allow, "", umpire.CodeRule, ""},
		{"M-94 cmd", cmd("npm test"), askAll, npm, nil, umpire.Allow, "", umpire.CodeRule, ""},
		{"M-94 cmd that is another", cmd("npm publish"), askAll, npm, nil, umpire.Ask, "", umpire.CodeMode, ""},
		{"M-94 command comes first", tool("Bash", map[string]any{"command": "npm publish", "cmd": "npm test"}), askAll, npm, nil, umpire.Ask, "", "", ""},
		{"M-94 and what stands beside it is judged, too", tool("Bash", map[string]any{"command": "npm test", "cmd": "npm publish"}), askAll, npm, nil, umpire.Ask, "", "", ""},
		{"M-94 nor is it a way around", tool("Bash", map[string]any{"command": "ls", "cmd": "rm -rf /"}), askAll, npm, nil, umpire.Deny, "", umpire.CodeCritical, ""},
		{"M-95 path", file("Edit", "src/a.ts"), byDefault, sources, nil, umpire.Allow, "", umpire.CodeRule, ""},
		{"M-95 file_path", tool("Edit", map[string]any{"file_path": "src/a.ts"}), byDefault, sources, nil, umpire.Allow, "", umpire.CodeRule, ""},
		{"M-95 filePath", tool("Edit", map[string]any{"filePath": "src/a.ts"}), byDefault, sources, nil, umpire.Allow, "", umpire.CodeRule, ""},
		{"M-95 notebook_path", tool("NotebookEdit", map[string]any{"notebook_path": "src/a.ts"}), byDefault, sources, nil, umpire.Allow, "", umpire.CodeRule, ""},
		{"M-95 both are judged", tool("Edit", map[string]any{"path": "src/a.ts", "file_path": "b.txt"}), byDefault, sources, nil, umpire.Ask, "", umpire.CodeMode, ""},
		{"MP-17 prefix", bash("npm test -- --coverage"), askAll, npm, nil, umpire.Allow, "", umpire.CodeRule, ""},
		{"MP-18 glob", file("Edit", "src/utils/helper.ts"), byDefault, sources, nil, umpire.Allow, "", umpire.CodeRule, ""},
		{"MP-19 glob leaves others", file("Edit", "package.json"), byDefault, sources, nil, umpire.Ask, moderate, umpire.CodeMode, ""},
		{"MP-20 deny beats allow", file("Edit", "vite.config.ts"), byDefault, configs, nil, umpire.Deny, "", umpire.CodeBlocked, "Denied by rule: deny Edit(*.config.*)"},
		{"MP-20 other files", file("Edit", "vite.ts"), byDefault, configs, nil, umpire.Allow, "", umpire.CodeRule, "Allowed by rule: allow Edit"},
		{"MP-21 no rule", bash("python3 script.py"), byDefault, npm, nil, umpire.Ask, moderate, umpire.CodeMode, ""},
		{"MP-23 deny prefix", bash("rm -rf /tmp/x"), byDefault, rm, nil, umpire.Deny, dangerous, umpire.CodeBlocked, ""},
		{"MP-23 in a wrapper", bash("timeout 5 sh -c 'rm -rf build'"), byDefault, rm, nil, umpire.Deny, dangerous, umpire.CodeBlocked, ""},
		{"MP-24 yarn.lock", file("Edit", "web/yarn.lock"), byDefault, []string{"allow Edit", "deny Edit(*.lock)"}, nil, umpire.Deny, "", umpire.CodeBlocked, ""},
		{"MP-24 *.lock is not package-lock.json", file("Edit", "package-lock.json"), byDefault, []string{"allow Edit", "deny Edit(*.lock)"}, nil, umpire.Allow, "", umpire.CodeRule, ""},
		{"MP-24 *-lock.json is", file("Edit", "package-lock.json"), byDefault, []string{"allow Edit", "deny Edit(*-lock.json)"}, nil, umpire.Deny, "", umpire.CodeBlocked, ""},
	})
}

// TestRowsDialog: the calls that run without a question and those that ask, in default mode and
// without any rule.
func TestRowsDialog(t *testing.T) {
	t.Parallel()
	rows := []row{
		is("MP-1 Read", file("Read", "a.txt"), safe),
		is("MP-3 ls -la", bash("ls -la"), safe),
		is("MP-4 git status", bash("git status"), safe),
		is("MP-5 npm test", bash("npm test"), safe),
		is("MP-6 rm -rf", bash("rm -rf /tmp/test"), dangerous),
		is("MP-7 python3", bash("python3 script.py"), moderate),
		is("MP-8 Write", file("Write", "b.txt"), moderate),
		is("MP-25 Write without any file of rules", file("Write", "b.txt"), moderate),
		is("C-54 git status", bash("git status"), safe),
		is("C-55 git log", bash("git log"), safe),
		is("C-56 git diff --staged", bash("git diff --staged"), safe),
	}
	for _, name := range []string{"Read", "LS", "Glob", "Grep", "GitStatus", "GitDiff", "GitLog", "WebFetch", "WebSearch", "TodoWrite"} {
		r := is("MP-2 "+name, tool(name, nil), safe)
		r.text = safeText
		rows = append(rows, r)
	}
	for _, line := range []string{"git status", "git log", "git diff --staged"} {
		id := map[string]string{"git status": "C-54", "git log": "C-55", "git diff --staged": "C-56"}[line]
		rows = append(rows, row{name: id + " in auto mode", call: bash(line), mode: auto, verdict: umpire.Allow, class: safe, code: umpire.CodeSafe})
	}
	checkRows(t, rows)
}

// TestRowsModes is the table of modes: what each makes of a call that nothing
// else settles, and of one that a rule or a control file does.
func TestRowsModes(t *testing.T) {
	t.Parallel()
	const a, q, d = umpire.Allow, umpire.Ask, umpire.Deny
	modes := []umpire.Mode{byDefault, auto, askAll, reject, bypass, plan}
	ids := map[umpire.Mode]string{byDefault: "C-4", auto: "C-5", askAll: "C-6", reject: "C-7", bypass: "C-8", plan: "C-3"}
	var rows []row
	for _, tt := range []struct {
		name  string
		call  umpire.Call
		rules []string
		want  [6]umpire.Verdict // in the order of modes
	}{
		{"safe", file("Read", "a.txt"), nil, [6]umpire.Verdict{a, a, q, a, a, a}},
		{"medium", file("Write", "b.txt"), nil, [6]umpire.Verdict{q, q, q, d, a, d}},
		{"high", bash("rm -rf build"), nil, [6]umpire.Verdict{q, d, q, d, a, d}},
		{"critical", bash("rm -rf /"), nil, [6]umpire.Verdict{d, d, d, d, d, d}},
		{"critical with an allow rule", bash("rm -rf /"), []string{"allow *"}, [6]umpire.Verdict{d, d, d, d, d, d}},
		{"deny rule", file("Read", "a.txt"), []string{"deny Read(a.txt)"}, [6]umpire.Verdict{d, d, d, d, d, d}},
		{"ask rule", file("Read", "a.txt"), []string{"ask Read(a.txt)"}, [6]umpire.Verdict{q, q, q, d, q, q}},
		{"allow rule", file("Write", "b.txt"), []string{"allow Write(b.txt)"}, [6]umpire.Verdict{a, a, a, a, a, d}},
		{"allow rule for a read", file("Read", "a.txt"), []string{"allow Read(a.txt)"}, [6]umpire.Verdict{a, a, a, a, a, a}},
		{"control file", file("Write", ".envrc"), []string{"allow Write"}, [6]umpire.Verdict{q, q, q, d, q, d}},
		{"outside", file("Read", "/srv/x"), nil, [6]umpire.Verdict{q, q, q, d, a, q}},
	} {
		for i, mode := range modes {
			rows = append(rows, row{name: ids[mode] + " " + mode.String() + ": " + tt.name, call: tt.call, mode: mode, rules: tt.rules, verdict: tt.want[i]})
		}
	}
	checkRows(t, rows)
}

// TestRowsOutcomes: a remembered answer speaks in auto mode, a request's mode
// is the mode, and nothing that reject mode refuses was a question.
func TestRowsOutcomes(t *testing.T) {
	t.Parallel()
	remembered := func(line string) func(*policy.Query) {
		return func(r *policy.Query) { r.Grants = []umpire.Grant{{Tool: "Bash", Exact: line, Remembered: true}} }
	}
	frob := bash("frobnicate x")
	checkRows(t, []row{
		{"C-2 always allowed runs", frob, auto, []string{"allow Bash(frobnicate:*)"}, nil, umpire.Allow, "", umpire.CodeRule, ""},
		{"C-2 always denied is refused", frob, auto, []string{"deny Bash(frobnicate:*)"}, nil, umpire.Deny, "", umpire.CodeBlocked, ""},
		{"C-2 auto knows the history", frob, auto, nil, remembered("frobnicate x"), umpire.Allow, "", umpire.CodeRemembered, ""},
		{"C-2 auto without a history", frob, auto, nil, remembered("frobnicate y"), umpire.Ask, "", umpire.CodeMode, ""},
		{"C-2 ask prompts", frob, askAll, nil, remembered("frobnicate x"), umpire.Ask, "", umpire.CodeMode, ""},
		{"C-5 known to be safe", bash("git status"), auto, nil, nil, umpire.Allow, "", umpire.CodeSafe, safeText},
		{"C-6 Read asks", file("Read", "a.txt"), askAll, nil, nil, umpire.Ask, safe, umpire.CodeMode, `Tool "Read" requires approval (safe)`},
		{"C-6 a rule allows", file("Read", "src/a.ts"), askAll, []string{"allow Read(src/**)"}, nil, umpire.Allow, safe, umpire.CodeRule, ""},
		{"C-7 no prompt", bash("rm -rf build"), reject, nil, nil, umpire.Deny, dangerous, umpire.CodeAutoDeny, ""},
		{"C-7 the zero request's mode", file("Write", "b.txt"), 0, nil, nil, umpire.Deny, "", umpire.CodeAutoDeny, ""},
		{"C-8 skips the prompt", bash("python3 script.py"), bypass, nil, nil, umpire.Allow, "", umpire.CodeBypass, ""},
		{"C-64 the request's mode holds", file("Write", "b.txt"), bypass, nil, nil, umpire.Allow, "", umpire.CodeBypass, ""},
		{"C-64 and no other", file("Write", "b.txt"), byDefault, nil, nil, umpire.Ask, "", umpire.CodeMode, ""},
	})
}

// TestRowsDanger: auto mode refuses known danger, ask mode shows it with a warning; both refuse a
// critical call.
func TestRowsDanger(t *testing.T) {
	t.Parallel()
	root := repository(t)
	for _, tt := range []struct {
		name, line string
		critical   bool
	}{
		{"C-43 rm -rf", "rm -rf build", false},
		{"C-43 rm -rf of the root", "rm -rf /", true},
		{"C-44 dd", "dd if=a.txt of=b.img", false},
		{"C-44 dd to a disk", "dd if=a.txt of=/dev/sda", true},
		{"C-45 mkfs", "mkfs.ext4 disk.img", false},
		{"C-45 mkfs of a disk", "mkfs.ext4 /dev/sda1", true},
		{"C-46 shutdown", "shutdown -h now", true},
		{"C-47 reboot", "reboot", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := gateWith(t, Config{})
			r := row{call: bash(tt.line), mode: auto, verdict: umpire.Deny, class: dangerous}
			r.check(t, g, root)
			r.mode = askAll
			if !tt.critical {
				r.verdict = umpire.Ask
			}
			if d := r.check(t, g, root); d.Warning != (d.Verdict == umpire.Ask) {
				t.Errorf("ask mode: warning %v beside %v", d.Warning, d.Verdict)
			}
		})
	}
}

// TestRowsPaths: every tool that touches a path is judged by that path.
func TestRowsPaths(t *testing.T) {
	t.Parallel()
	external := func(name string, call umpire.Call) row {
		return row{name: name, call: call, mode: byDefault, verdict: umpire.Ask, code: umpire.CodeExternalDirectory}
	}
	forbidden := func(name string, call umpire.Call) row {
		return row{name: name, call: call, mode: byDefault, rules: []string{"allow *"}, verdict: umpire.Deny, class: dangerous, code: umpire.CodeForbiddenPath}
	}
	rows := []row{
		{"C-50 read-only: inside", file("Read", "a.txt"), plan, nil, nil, umpire.Allow, safe, umpire.CodeSafe, ""},
		{"C-50 read-only: a write", file("Write", "a.txt"), plan, []string{"allow Write"}, nil, umpire.Deny, "", umpire.CodePlan, ""},
		{"C-50 read-only: a write in a command", bash("cat a.txt > b.txt"), plan, nil, nil, umpire.Deny, "", umpire.CodePlan, ""},
		{"C-50 read-only: outside", file("Read", "/srv/x"), plan, nil, nil, umpire.Ask, "", umpire.CodeExternalDirectory, ""},
		{"C-50 read-only: forbidden", file("Read", "/etc/shadow"), plan, nil, nil, umpire.Deny, "", umpire.CodeForbiddenPath, ""},
		forbidden("C-52 Read", file("Read", "/etc/shadow")),
		forbidden("C-52 Grep", file("Grep", "/etc/shadow")),
		forbidden("C-52 cat", bash("cat /etc/shadow")),
		forbidden("C-52 with dots", bash("cat /usr/../etc//shadow")),
		forbidden("C-52 redirected", bash("wc -l < /etc/shadow")),
		forbidden("C-53 Read", file("Read", `C:\Windows\System32\drivers\etc\hosts`)),
		forbidden("C-53 other case", file("Read", `c:\windows\SYSTEM32\config`)),
		forbidden("C-53 Edit", file("Edit", `C:\Windows\System32\x.dll`)),
		external("N-39 cat ../x", bash("cat ../x")),
		external("N-39 cp outside", bash("cp a.txt /srv/b")),
		external("N-39 not normalised", bash("cat src/../../x")),
		external("N-39 behind a safe part", bash("ls && cat ../x")),
		external("N-39 redirected", bash("sort < ../x")),
		is("N-39 dots that stay inside", bash("cat src/../a.txt"), safe),
	}
	for _, name := range []string{"Read", "LS", "Glob", "Grep", "Write", "Edit", "MultiEdit"} {
		rows = append(rows, external("N-40 "+name, file(name, "/srv/x")), external("N-40 "+name+" with dots", file(name, "../x")))
	}
	rows = append(rows, external("N-40 a command", bash("cat /srv/x")))
	checkRows(t, rows)
}

// TestRowsSuffix: a refused file is never asked about, in any mode, and its bytes stay; an allowed
// one is judged like any other.
func TestRowsSuffix(t *testing.T) {
	t.Parallel()
	root := repository(t)
	profile := func(r *policy.Query) { r.Profile = &policy.Profile{EditableSuffixes: []string{".md", ".txt"}} }
	refused := strings.Replace("你没有权限编辑 xxx 类型文件的权限,请注意你的任务权限范围", "xxx", ".ts", 1)
	edit := func(name, path string) umpire.Call {
		return tool(name, map[string]any{"filePath": path, "startLine": 1, "endLine": 1, "newContent": "two"})
	}
	for _, name := range []string{"filesystem-edit", "filesystem-edit_search"} {
		for _, r := range []row{
			{"S-33 allowed by a rule", edit(name, "a.txt"), byDefault, []string{"allow Edit"}, profile, umpire.Allow, "", umpire.CodeRule, ""},
			{"S-33 asks as without a limit", edit(name, "a.txt"), byDefault, nil, profile, umpire.Ask, moderate, umpire.CodeMode, ""},
			{"S-34 not run", edit(name, "src/a.ts"), bypass, []string{"allow Edit"}, profile, umpire.Deny, "", umpire.CodeSuffix, ""},
			{"S-35 text", edit(name, "src/a.ts"), byDefault, nil, profile, umpire.Deny, "", umpire.CodeSuffix, refused},
		} {
			t.Run(r.name+", "+name, func(t *testing.T) {
				t.Parallel()
				r.check(t, gateWith(t, Config{}, r.rules...), root)
				got, err := os.ReadFile(filepath.Join(root, "src/a.ts"))
				if err != nil || string(got) != "export {}\n" {
					t.Errorf("src/a.ts holds %q, %v", got, err)
				}
			})
		}
	}
}

// TestRowsFiles: rules of files hold where their file says.
func TestRowsFiles(t *testing.T) {
	t.Parallel()
	const user, managed = `{"version": 1, "rules": [{"id": "u", "action": "allow", "tool": "Edit"}, {"id": "rm", "action": "deny", "tool": "Bash", "match": {"commandPrefix": "rm -rf"}}]}`,
		`{"version": 1, "rules": [{"id": "locks", "action": "deny", "tool": "Edit", "match": {"pathGlob": "*.lock"}}]}`
	home, here, there := t.TempDir(), repository(t), repository(t)
	writeFile(t, filepath.Join(home, ".umpire", "permissions.json"), user)
	writeFile(t, filepath.Join(here, ".umpire", "permissions.json"), managed)
	g := gateWith(t, Config{UserHome: home})
	for _, tt := range []struct {
		row
		root string
		rule umpire.RuleID
		from umpire.Source
	}{
		{row{name: "MP-23 the user's deny here", call: bash("rm -rf /tmp/x"), mode: byDefault, verdict: umpire.Deny}, here, "rm", umpire.SourceUser},
		{row{name: "MP-23 and in another project", call: bash("rm -rf /tmp/x"), mode: byDefault, verdict: umpire.Deny}, there, "rm", umpire.SourceUser},
		{row{name: "MP-24 the project's deny", call: file("Edit", "yarn.lock"), mode: byDefault, verdict: umpire.Deny}, here, "locks", umpire.SourceProject},
		{row{name: "MP-24 holds in its project only", call: file("Edit", "yarn.lock"), mode: byDefault, verdict: umpire.Allow}, there, "u", umpire.SourceUser},
		{row{name: "M-79 the user's rule", call: file("Edit", "b.txt"), mode: byDefault, verdict: umpire.Allow}, here, "u", umpire.SourceUser},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := tt.check(t, g, tt.root)
			if d.Rule == nil || d.Rule.ID != tt.rule || d.Rule.Source != tt.from {
				t.Errorf("rule %+v, want %s of %v", d.Rule, tt.rule, tt.from)
			}
		})
	}
}

// TestRowsProjectFile: a project's allow rule holds in its own workspace, once
// the person trusts the file as it stands.
func TestRowsProjectFile(t *testing.T) {
	t.Parallel()
	const text = `{"version": 1, "rules": [{"id": "p", "action": "allow", "tool": "Edit"}]}`
	home, here, there := t.TempDir(), repository(t), repository(t)
	path := filepath.Join(here, ".umpire", "permissions.json")
	writeFile(t, path, text)
	for _, tt := range []struct {
		name, root string
		trusted    bool
		want       umpire.Verdict
	}{
		{"MP-22 not yet trusted", here, false, umpire.Ask},
		{"MP-22 trusted", here, true, umpire.Allow},
		{"MP-22 another workspace", there, true, umpire.Ask},
	} {
		t.Run(tt.name, func(t *testing.T) { // in order: the ledger is one file
			if tt.trusted {
				sum := sha256.Sum256([]byte(text))
				ledger := rulefile.Trust{Path: filepath.Join(home, ".umpire", "trust.json")}
				if err := ledger.Grant(here, path, hex.EncodeToString(sum[:])); err != nil {
					t.Fatal(err)
				}
			}
			r := row{call: file("Edit", "b.txt"), mode: byDefault, verdict: tt.want}
			r.check(t, gateWith(t, Config{UserHome: home}), tt.root)
		})
	}
}

// TestRowsTwoConditions: a rule with two conditions speaks only where both hold.
func TestRowsTwoConditions(t *testing.T) {
	t.Parallel()
	root, home := repository(t), t.TempDir()
	writeFile(t, filepath.Join(home, ".umpire", "permissions.json"),
		`{"version": 1, "rules": [{"id": "both", "action": "allow", "tool": "*", "match": {"commandPrefix": "cp", "pathGlob": "src/**"}},
			{"id": "keep", "action": "deny", "tool": "Bash", "match": {"commandPrefix": "rm", "pathGlob": "keep/**"}}]}`)
	g := gateWith(t, Config{UserHome: home})
	for _, r := range []row{
		{name: "M-96 both", call: bash("cp src/a.ts src/b.ts"), mode: byDefault, verdict: umpire.Allow},
		{name: "M-96 one of its files is elsewhere", call: bash("cp src/a.ts b.ts"), mode: byDefault, verdict: umpire.Ask},
		{name: "M-96 the command alone", call: bash("cp a.txt b.txt"), mode: byDefault, verdict: umpire.Ask},
		{name: "M-96 a deny rule of both", call: bash("rm x keep/a"), mode: byDefault, verdict: umpire.Deny},
		{name: "M-96 a deny rule of another file", call: bash("rm x"), mode: byDefault, verdict: umpire.Ask},
		{name: "M-96 the path alone", call: file("Edit", "src/a.ts"), mode: byDefault, verdict: umpire.Ask},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			r.check(t, g, root)
		})
	}
}

// TestRowsMuse: the marker protocol from one end to the other.
func TestRowsMuse(t *testing.T) {
	t.Parallel()
	root := repository(t)
	for _, tt := range []struct{ name, payload, want string }{
		{"M-74 allowAll", `{"toolName":"Write","input":{"path":"b.txt"},"options":{"toolPermissions":{"allowAll":true}}}`, "\n"},
		{"M-74 allowAll is off", `{"toolName":"Write","input":{"path":"b.txt"},"options":{"toolPermissions":{"allowAll":false}}}`, `__tool_permission__:{"kind":"permission_request","toolName":"Write"}` + "\n"},
		{"M-76 marker", `{"toolName":"Write","toolCallId":"c1","input":{"path":"b.txt"}}`, `__tool_permission__:{"kind":"permission_request","toolName":"Write","toolCallId":"c1"}` + "\n"},
		{"M-158 safe runs", `{"toolName":"Read","toolCallId":"c1","input":{"path":"a.txt"}}`, "\n"},
		{"M-158 granted runs", `{"toolName":"Write","toolCallId":"c1","input":{"path":"b.txt"},"options":{"allowOnceTools":["Write"]}}`, "\n"},
		{"M-158 refused says why", `{"toolName":"Write","toolCallId":"c1","input":{"path":"b.txt"},"options":{"permissionRules":[{"id":"d1","action":"deny","tool":"Write"}]}}`, `Error: Tool "Write" was denied. Denied by rule: d1` + "\n"},
		{"M-160 the stored switch", `{"toolName":"GitPush","toolCallId":"c1","input":{},"options":{"toolPermissions":{"allowAll":true}}}`, "\n"},
		{"M-163 three keys", `{"toolName":"Bash","toolCallId":"t-9","input":{"command":"python3 x.py"}}`, `__tool_permission__:{"kind":"permission_request","toolName":"Bash","toolCallId":"t-9"}` + "\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, err := host.ReadMuse([]byte(tt.payload))
			if err != nil {
				t.Fatal(err)
			}
			r.Call.Dir, r.Mode = root, byDefault
			d := gateWith(t, Config{}).projects.Decide("", r)
			if got := string(host.AnswerMuse(r.Call, d).Stdout); got != tt.want {
				t.Errorf("got %q, want %q; %s", got, tt.want, d.Reason)
			}
		})
	}
}

// TestRowsOnePath: the gate decides every call, in every mode, and each decision names its row,
// which leaves a trace of every call.
func TestRowsOnePath(t *testing.T) {
	t.Parallel()
	root := repository(t)
	check := gateWith(t, Config{}).projects.Decide // C-20: a function from a request to a decision
	calls := []umpire.Call{bash("ls"), bash("rm -rf build"), bash("rm -rf /"), bash("$X"), bash(""), file("Edit", "a.txt"), file("Read", "/etc/shadow"), tool("mcp__x__y", nil), {}}
	for _, name := range policy.LegacyDangerous { //nolint:staticcheck // M-72: the list stays for older clients
		calls = append(calls, tool(name, nil))
	}
	for mode := umpire.ModeReject; mode <= umpire.ModeBypass; mode++ {
		t.Run("N-1 C-20 "+mode.String(), func(t *testing.T) {
			t.Parallel()
			for _, call := range calls {
				call.Dir = root
				d := check("", policy.Query{Call: call, Conditions: policy.Conditions{Mode: mode}})
				if len(d.Reasons) == 0 || d.Reason == "" || d.ReasonCode == "" {
					t.Fatalf("%s %s: no reason: %+v", call.Tool, call.Input, d)
				}
				for _, r := range d.Reasons {
					if r.Row < 1 || r.Row > 14 || r.Text == "" || r.Code == "" {
						t.Errorf("%s %s: reason %+v", call.Tool, call.Input, r)
					}
				}
			}
		})
	}
}
