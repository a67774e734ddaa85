package setup

import (
	"cmp"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/docedit"
	"github.com/umpirehq/umpire/internal/host"
)

// hooks checks the shape of every hook in the file, ours or not: Claude Code silently drops a whole
// file for one invalid value.
func (a *audit) hooks(v *docedit.Value) {
	if !a.want(v, v.Key, docedit.Object) {
		return
	}
	for _, event := range v.Items {
		key := "hooks." + event.Key
		if !a.want(event, key, docedit.List) {
			continue
		}
		for _, group := range event.Items {
			a.group(key, group)
		}
	}
}

func (a *audit) group(key string, group *docedit.Value) {
	if !a.want(group, key, docedit.Object) {
		return
	}
	found := false
	for _, v := range group.Items {
		switch v.Key {
		case "matcher":
			a.want(v, key+".matcher", docedit.String)
		case "hooks":
			found = true
			a.handlers(key+".hooks", v)
		}
	}
	if !found {
		a.add(group, FindingMalformed, key, umpire.Errorf("the entry has no hooks list; because of it, Claude Code "+
			"may ignore the whole file"),
			"add the list or remove the entry")
	}
}

func (a *audit) handlers(key string, list *docedit.Value) {
	if !a.want(list, key, docedit.List) {
		return
	}
	for _, v := range list.Items {
		if a.want(v, key, docedit.Object) {
			a.handler(key, v)
		}
	}
}

// handlerNeeds maps the handler types to their required fields.
var handlerNeeds = map[string]string{
	"command": "command", "http": "url", "prompt": "prompt", "agent": "prompt", "mcp_tool": "tool",
}

func (a *audit) handler(key string, v *docedit.Value) {
	needs, known := handlerNeeds[v.At("type").Text]
	if !known {
		a.add(v, FindingMalformed, key+".type",
			umpire.Errorf("the type is missing or unknown; because of it, Claude Code may ignore the whole file"),
			`write "type": "command", or remove the entry`)
		return
	}
	if text := v.At(needs); text.Kind != docedit.String || text.Text == "" {
		a.add(v, FindingMalformed, key+"."+needs,
			umpire.Errorf("the field is missing or not a string; because of it, Claude Code may ignore the whole file"),
			"add the field or remove the entry")
	}
	if timeout := v.At("timeout"); timeout.Parent != nil {
		if n, is := number(timeout); !is || n <= 0 {
			a.add(v, FindingMalformed, key+".timeout", umpire.Errorf("the timeout is not a positive number of seconds"),
				"write a number of seconds, or remove it")
		}
	}
}

// reinstall is the remedy for every problem with our own entries.
const reinstall = "run umpire setup claude"

// ownHooks checks that our hook is present and complete for every event.
func (a *audit) ownHooks() {
	all := (&hookFile{&claudeHooks, a.doc, Claude.Host}).own("")
	if len(all) == 0 {
		a.findings = append(a.findings, Finding{Code: FindingMissing, Key: "hooks",
			Problem: umpire.Errorf("umpire's hook is not registered in this file"), Remedy: reinstall})
		return
	}
	for _, e := range claudeHooks.eventsOf(Claude.Host) {
		if !slices.ContainsFunc(all, func(o ownHook) bool { return o.event == e.name }) {
			a.findings = append(a.findings, Finding{Code: FindingMissing, Key: "hooks." + e.name,
				Problem: umpire.Errorf("umpire's hook is not registered for this event"), Remedy: reinstall})
		}
	}
	for _, own := range all {
		if event, _ := host.Find("claude").Event(own.event); event.Kind.Decides() {
			a.ownHook(own)
		}
	}
	slices.SortStableFunc(a.findings, byPlace)
}

// byPlace orders findings by line and column, with those without a position last.
func byPlace(x, y Finding) int {
	if (x.Line == 0) != (y.Line == 0) {
		return cmp.Compare(y.Line, x.Line)
	}
	return cmp.Or(cmp.Compare(x.Line, y.Line), cmp.Compare(x.Column, y.Column))
}

// ownHook checks one of our deciding entries for settings that make it miss calls, come too late,
// or be ignored.
func (a *audit) ownHook(own ownHook) {
	key := "hooks." + own.event
	if matcher := own.group.At("matcher"); matcher.Kind == docedit.String && matcher.Text != "*" && matcher.Text != "" {
		a.add(own.group, FindingWeakened, key+".matcher",
			umpire.Errorf("the matcher hides calls that umpire should see"), reinstall)
	}
	if own.handler.At("if").Parent != nil {
		a.add(own.handler, FindingWeakened, key+".hooks.if",
			umpire.Errorf("the condition hides calls that umpire should see"), reinstall)
	}
	for _, name := range []string{"async", "asyncRewake"} {
		if on := own.handler.At(name); on.Parent != nil && (on.Kind != docedit.Bool || isTrue(on)) {
			a.add(own.handler, FindingWeakened, key+".hooks."+name,
				umpire.Errorf("a hook that runs in the background cannot stop a call"), reinstall)
		}
	}
	if !host.IsAbsolute(own.handler.At("command").Text) {
		a.add(own.handler, FindingWeakened, key+".hooks.command",
			umpire.Errorf("the command is not an absolute path, so PATH decides what starts"), reinstall)
	}
	if timeout, is := number(own.handler.At("timeout")); !is {
		a.add(own.handler, FindingTimeout, key+".hooks.timeout",
			umpire.Errorf("umpire does not know its deadline, because the hook has no timeout"), reinstall)
	} else if timeout < minHookTimeout {
		a.add(own.handler, FindingTimeout, key+".hooks.timeout",
			umpire.Errorf("the call may run before umpire answers, because the timeout is too short"), reinstall)
	}
}
