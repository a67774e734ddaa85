package setup

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/strictjson"
	"github.com/umpirehq/umpire/internal/view"
)

// A FindingCode identifies a kind of problem in a settings file.
type FindingCode string

// The finding codes.
const (
	FindingSyntax      FindingCode = "syntax"       // not JSON: the whole file is dropped
	FindingMalformed   FindingCode = "malformed"    // a value of the wrong shape: the file may be dropped
	FindingDisabled    FindingCode = "disabled"     // hooks are switched off
	FindingManagedOnly FindingCode = "managed_only" // only managed hooks run
	FindingEnvironment FindingCode = "environment"  // a variable that can keep the hook from starting
	FindingBroadAllow  FindingCode = "broad_allow"  // what Claude Code allows when no hook speaks
	FindingMissing     FindingCode = "missing"      // our hook is not registered
	FindingTimeout     FindingCode = "timeout"      // our hook has no time limit, or too short a one
	FindingWeakened    FindingCode = "weakened"     // our hook does not see or cannot stop every call
)

// A Finding is a setting in a file that disables or weakens umpire's hooks.
type Finding struct {
	Code FindingCode
	// Line and Column count from 1; 0 means the file as a whole.
	Line   int
	Column int
	// Key is the path of the setting, as "hooks.PreToolUse".
	Key string
	// Problem and Remedy have texts in every language.
	Problem error
	Remedy  string
}

// maxKeyShown bounds the part of a key that a finding shows.
const maxKeyShown = 100

// minHookTimeout is the minimum for a deciding hook: a cold start on a busy machine, and the time
// to deny.
const minHookTimeout = 10

// An audit collects findings about one document.
type audit struct {
	*document
	findings []Finding
}

// AuditClaude lists the settings in a file of Claude Code that disable or weaken umpire's hooks, in
// the order of the file and missing hooks last. It judges one file: a hook that is missing here may
// be registered in another layer. It does not check whether an install is up to date: that is the
// case if [Settings.Install] changes nothing.
func AuditClaude(settings []byte) []Finding {
	d, err := parseDocument(settings)
	if err != nil {
		return []Finding{syntaxFinding(err)}
	}
	a := &audit{document: d}
	if at, plain := d.plain(); !plain {
		a.findings = append(a.findings, Finding{FindingSyntax, at.line, at.column, "",
			umpire.Errorf("the file holds a comment or a trailing comma, for which Claude Code drops the whole file " +
				"without a word, hooks and all"), "take it out"})
	}
	seen := map[string]bool{}
	for _, it := range items(d.root) {
		if seen[it.name] {
			a.add(it.value, FindingMalformed, it.name,
				umpire.Errorf("the key is given twice, and only the last one counts"), "keep one of them")
		}
		seen[it.name] = true
		if check := settingChecks[it.name]; check != nil {
			check(a, it)
		}
	}
	a.ownHooks()
	return a.findings
}

func syntaxFinding(err error) Finding {
	f := Finding{Code: FindingSyntax, Remedy: "repair the JSON at that place",
		Problem: umpire.Errorf("Claude Code drops the whole file without a word: %w", err)}
	if _, scanErr := fmt.Sscanf(err.Error(), "line %d, column %d", &f.Line, &f.Column); scanErr != nil {
		f.Line, f.Column = 0, 0
	}
	return f
}

func (a *audit) add(v *hujson.Value, code FindingCode, key string, problem error, remedy string) {
	p := a.at(v.StartOffset)
	a.findings = append(a.findings, Finding{code, p.line, p.column, view.Brief(key, maxKeyShown), problem, remedy})
}

// plain reports whether the document is JSON without extensions, and if not, the position of the
// first one.
func (d *document) plain() (position, bool) {
	var raw json.RawMessage
	var syntax *json.SyntaxError
	if err := json.Unmarshal(d.text, &raw); errors.As(err, &syntax) {
		return d.at(int(max(syntax.Offset-1, 0))), false
	}
	return position{}, true
}

// want reports whether v has the required kind, and adds a finding if not.
func (a *audit) want(v *hujson.Value, key string, kind error, ok bool) bool {
	if !ok {
		a.add(v, FindingMalformed, key, umpire.Errorf("want %w, got %s; one wrong value can make Claude Code drop "+
			"the whole file", kind, strictjson.KindOf(v.Pack())),
			"correct the value or remove it")
	}
	return ok
}

func isString(v *hujson.Value) bool { return v.Value.Kind() == '"' }
func isBool(v *hujson.Value) bool   { return v.Value.Kind() == 't' || v.Value.Kind() == 'f' }
func isTrue(v *hujson.Value) bool   { return v.Value.Kind() == 't' }

var settingChecks = map[string]func(*audit, item){
	"disableAllHooks":       (*audit).disableAllHooks,
	"allowManagedHooksOnly": (*audit).managedOnly,
	"env":                   (*audit).environment,
	"permissions":           (*audit).permissions,
	"hooks":                 (*audit).hooks,
}

func (a *audit) disableAllHooks(it item) {
	if a.want(it.value, it.name, errors.New("true or false"), isBool(it.value)) && isTrue(it.value) {
		a.add(it.value, FindingDisabled, it.name, umpire.Errorf("every hook is switched off, umpire's too"),
			"remove it, or start claude with --settings and a file that sets it to false")
	}
}

func (a *audit) managedOnly(it item) {
	if a.want(it.value, it.name, errors.New("true or false"), isBool(it.value)) && isTrue(it.value) {
		a.add(it.value, FindingManagedOnly, it.name, umpire.Errorf("only hooks from managed settings run"),
			"register umpire in the managed settings file")
	}
}

// startVariables can keep a hook from starting, start another program in its place, or lead umpire
// to other rules. Names ending in * are prefixes.
var startVariables = []string{
	"PATH", "HOME", "SHELL", "ENV", "BASH_ENV", "CLAUDE_CODE_SHELL", "CLAUDE_CODE_SHELL_PREFIX", "CLAUDE_CONFIG_DIR",
	"NODE_OPTIONS", "NODE_PATH", "BUN_OPTIONS", "LD_*", "DYLD_*", "UMPIRE_*", "GODEBUG",
}

func (a *audit) environment(it item) {
	if !a.want(it.value, it.name, errors.New("an object"), isObject(it.value)) {
		return
	}
	for _, v := range items(it.value) {
		if startVariable(v.name) {
			a.add(v.value, FindingEnvironment, "env."+v.name,
				umpire.Errorf("the variable can keep the hook from starting, or change what it starts"),
				"remove it; in a project that is not yours, start claude with --setting-sources user")
		}
	}
}

func startVariable(name string) bool {
	for _, known := range startVariables {
		prefix, wild := strings.CutSuffix(known, "*")
		if strings.EqualFold(name, known) || wild && strings.HasPrefix(strings.ToUpper(name), prefix) {
			return true
		}
	}
	return false
}

func (a *audit) permissions(it item) {
	if !a.want(it.value, it.name, errors.New("an object"), isObject(it.value)) {
		return
	}
	for _, list := range items(it.value) {
		key := "permissions." + list.name
		if list.name != "allow" || !a.want(list.value, key, errors.New("a list"), isArray(list.value)) {
			continue
		}
		for _, rule := range items(list.value) {
			if a.want(rule.value, key, errors.New("a string"), isString(rule.value)) && broadAllow(rule.value) {
				named, _ := decode(rule.value).(string)
				a.add(rule.value, FindingBroadAllow, key,
					umpire.Errorf("Claude Code runs %s without asking whenever the hook does not answer", named),
					"narrow it, or leave the allowing to umpire's rules")
			}
		}
	}
}

// changingTools are tools that can change something. A rule for all calls of one is broad.
var changingTools = map[string]bool{
	"*": true, "Bash": true, "Monitor": true, "PowerShell": true, "Edit": true, "Write": true, "MultiEdit": true,
	"NotebookEdit": true, "WebFetch": true, "Agent": true, "Task": true, "mcp__*": true,
}

func broadAllow(v *hujson.Value) bool {
	text, _ := decode(v).(string)
	tool, spec, narrowed := strings.Cut(strings.TrimSpace(text), "(")
	if !changingTools[strings.TrimSpace(tool)] {
		return false
	}
	spec = strings.TrimSpace(strings.TrimSuffix(spec, ")"))
	return !narrowed || strings.Trim(spec, "*:/.~ ") == "" || spec == "domain:*"
}
