package setup

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/docedit"
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
	doc      *docedit.Doc
	findings []Finding
}

// AuditClaude lists the settings in a file of Claude Code that disable or weaken umpire's hooks, in
// the order of the file and missing hooks last. It judges one file: a hook that is missing here may
// be registered in another layer. It does not check whether an install is up to date: that is the
// case if [Settings.Install] changes nothing.
func AuditClaude(settings []byte) []Finding {
	d, err := openJSON(settings)
	if err != nil {
		return []Finding{syntaxFinding(err)}
	}
	a := &audit{doc: d}
	if at, plain := plainJSON(string(d.Bytes())); !plain {
		a.findings = append(a.findings, Finding{FindingSyntax, at.Line, at.Column, "",
			umpire.Errorf("Claude Code silently ignores this whole file, hooks included, because of a comment or a " +
				"trailing comma"), "remove it"})
	}
	for m, again := range d.Root.Members() {
		if again {
			a.add(m, FindingMalformed, m.Key,
				umpire.Errorf("the key appears twice, and only the last one counts"), "keep one of them")
		}
		if check := settingChecks[m.Key]; check != nil {
			check(a, m)
		}
	}
	a.ownHooks()
	return a.findings
}

func syntaxFinding(err error) Finding {
	f := Finding{Code: FindingSyntax, Remedy: "fix the JSON at that place",
		Problem: umpire.Errorf("Claude Code silently ignores the whole file: %w", err)}
	if at, ok := errors.AsType[*docedit.Error](err); ok {
		f.Line, f.Column = at.Line, at.Column
	}
	return f
}

func (a *audit) add(at *docedit.Value, code FindingCode, key string, problem error, remedy string) {
	a.findings = append(a.findings, Finding{code, at.Line, at.Column, view.Brief(key, maxKeyShown), problem, remedy})
}

// plainJSON reports whether a text is JSON without extensions, and if not, the position of the
// first one.
func plainJSON(text string) (docedit.Pos, bool) {
	var raw json.RawMessage
	if syntax, is := errors.AsType[*json.SyntaxError](json.Unmarshal([]byte(text), &raw)); is {
		lines := docedit.Lines{Text: text}
		return lines.At(int(max(syntax.Offset-1, 0))), false
	}
	return docedit.Pos{}, true
}

// want reports whether v has the required kind, and adds a finding if not.
func (a *audit) want(v *docedit.Value, key string, kind docedit.Kind) bool {
	if err := v.Want(kind); err != nil {
		a.add(v, FindingMalformed, key, umpire.Errorf("%w; because of it, Claude Code may ignore the whole file",
			err), "correct the value or remove it")
		return false
	}
	return true
}

func isTrue(v *docedit.Value) bool { return v.Kind == docedit.Bool && v.Text == "true" }

var settingChecks = map[string]func(*audit, *docedit.Value){
	"disableAllHooks":       (*audit).disableAllHooks,
	"allowManagedHooksOnly": (*audit).managedOnly,
	"env":                   (*audit).environment,
	"permissions":           (*audit).permissions,
	"hooks":                 (*audit).hooks,
}

func (a *audit) disableAllHooks(v *docedit.Value) {
	if a.want(v, v.Key, docedit.Bool) && isTrue(v) {
		a.add(v, FindingDisabled, v.Key, umpire.Errorf("every hook is switched off, umpire's too"),
			"remove it, or start claude with --settings and a file that sets it to false")
	}
}

func (a *audit) managedOnly(v *docedit.Value) {
	if a.want(v, v.Key, docedit.Bool) && isTrue(v) {
		a.add(v, FindingManagedOnly, v.Key, umpire.Errorf("only hooks from managed settings run"),
			"register umpire in the managed settings file")
	}
}

// startVariables can keep a hook from starting, start another program in its place, or lead umpire
// to other rules. Names ending in * are prefixes.
var startVariables = []string{
	"PATH", "HOME", "SHELL", "ENV", "BASH_ENV", "CLAUDE_CODE_SHELL", "CLAUDE_CODE_SHELL_PREFIX", "CLAUDE_CONFIG_DIR",
	"NODE_OPTIONS", "NODE_PATH", "BUN_OPTIONS", "LD_*", "DYLD_*", "UMPIRE_*", "GODEBUG",
}

func (a *audit) environment(v *docedit.Value) {
	if !a.want(v, v.Key, docedit.Object) {
		return
	}
	for _, variable := range v.Items {
		if startVariable(variable.Key) {
			a.add(variable, FindingEnvironment, "env."+variable.Key,
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

func (a *audit) permissions(v *docedit.Value) {
	if !a.want(v, v.Key, docedit.Object) {
		return
	}
	for _, list := range v.Items {
		key := "permissions." + list.Key
		if list.Key != "allow" || !a.want(list, key, docedit.List) {
			continue
		}
		for _, rule := range list.Items {
			if a.want(rule, key, docedit.String) && broadAllow(rule.Text) {
				a.add(rule, FindingBroadAllow, key,
					umpire.Errorf("Claude Code runs %s without asking whenever the hook does not answer", rule.Text),
					"narrow it, or remove it and use umpire's rules")
			}
		}
	}
}

// changingTools are tools that can change something. A rule for all calls of one is broad.
var changingTools = map[string]bool{
	"*": true, "Bash": true, "Monitor": true, "PowerShell": true, "Edit": true, "Write": true, "MultiEdit": true,
	"NotebookEdit": true, "WebFetch": true, "Agent": true, "Task": true, "mcp__*": true,
}

func broadAllow(text string) bool {
	tool, spec, narrowed := strings.Cut(strings.TrimSpace(text), "(")
	if !changingTools[strings.TrimSpace(tool)] {
		return false
	}
	spec = strings.TrimSpace(strings.TrimSuffix(spec, ")"))
	return !narrowed || strings.Trim(spec, "*:/.~ ") == "" || spec == "domain:*"
}
