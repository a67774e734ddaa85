package console

import (
	"fmt"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/policy"
)

// draw draws the page of rules and grants.
func (b *ruleBook) draw() part {
	return element("main", attr("id", "question"), attr("tabindex", "-1"),
		element("h1", written(b.text.Of("Rules"))),
		when(len(b.folders) > 1, element("form", class("filters"), attr("data-path", rulesPath),
			drawSelect("session", b.text.Of("folder"), b.folders, string(b.asked.session)))),
		when(len(b.folders) < 2, paragraph("where", view.Visible(b.dir))),
		b.drawHealth(),
		b.drawTest(),
		b.drawReplay(),
		b.drawGrants(),
		b.drawLayers(),
		b.drawFiles(),
	)
}

// drawHealth lists the problems with the rule files.
func (b *ruleBook) drawHealth() part {
	var said parts
	remark := func(text string) {
		said = append(said, element("p", class("remark"), attr("role", "note"), written(text)))
	}
	if b.status.Cautious {
		remark(b.text.Of("Every call asks until the file is repaired, because a deny or ask rule may be missing."))
	}
	for i := range b.status.Files {
		f := &b.status.Files[i]
		for _, p := range f.Problems {
			remark(view.Visible(placeIn(p.File, p.Line) + ": " + p.Text))
		}
		if f.Asleep > 0 {
			remark(view.Joined(view.Visible(f.Path), ": ",
				b.text.Of("Some allow rules or hooks are inactive until you trust them: umpire rules trust --show")))
		}
	}
	return said
}

func placeIn(file string, line int) string {
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}

// drawTest draws the box to test a command, and the decision on it.
func (b *ruleBook) drawTest() node {
	return element("section", class("test"),
		b.drawBox("command", b.asked.command, b.text.Of("What would be decided about this command?"), parts(nil)),
		b.drawTested(),
	)
}

// drawBox draws a form with a text to test.
func (b *ruleBook) drawBox(name, value, label string, before part) node {
	return element("form", class("filters"), attr("role", "search"), attr("data-path", rulesPath),
		hiddenInput("session", string(b.asked.session)), before,
		element("input", attr("type", "search"), attr("name", name), attr("value", view.Visible(value)),
			attr("placeholder", label), attr("aria-label", label), attr("autocapitalize", "off"),
			attr("autocomplete", "off"), attr("spellcheck", "false")),
		element("button", written(b.text.Of("test"))))
}

// drawReplay draws the box to try a rule, and what it would have changed.
func (b *ruleBook) drawReplay() part {
	if b.replay == nil {
		return parts(nil)
	}
	var actions []choice
	for _, v := range []umpire.Verdict{umpire.Allow, umpire.Ask, umpire.Deny} {
		actions = append(actions, choice{v.String(), b.text.Word("verdict", v.String())})
	}
	label := b.text.Of("What would this rule have changed? Bash(npm test:*)")
	return element("section", class("test"),
		b.drawBox("rule", b.asked.rule, label, drawSelect("action", b.text.Of("action"), actions, b.asked.action)),
		when(*b.replay != "", element("pre", class("rest"), attr("role", "status"), written(visibleLines(*b.replay)))))
}

// verdictClasses are the style classes of verdicts.
var verdictClasses = map[umpire.Verdict]string{umpire.Allow: "low", umpire.Ask: "medium", umpire.Deny: "high"}

func (b *ruleBook) drawVerdict(v umpire.Verdict) node {
	return element("span", class("tag "+verdictClasses[v]), written(b.text.Word("verdict", v.String())))
}

// drawTested draws the decision on a command, and the reason for each part.
func (b *ruleBook) drawTested() part {
	d := b.tested
	if d == nil {
		return parts(nil)
	}
	settled := map[int]bool{}
	row := func(r umpire.Reason) part {
		if settled[r.Access] {
			return parts(nil) // the first row about an access settled it
		}
		settled[r.Access] = true
		about := b.text.Of("the whole call")
		if r.Access >= 0 && r.Access < len(d.Accesses) {
			about = view.AccessText(&d.Accesses[r.Access], b.text)
		}
		return element("li", class(r.Verdict.String()),
			element("span", class("mark"), attr("aria-hidden", "true")),
			element("span", class("verdict"), written(b.text.Word("verdict", r.Verdict.String()))),
			element("span", class("does"), element("code", written(view.Visible(about))),
				element("span", class("note"), written(view.Visible(view.RowText(&r, b.text))))))
	}
	return element("div", class("decided"), attr("role", "status"),
		element("p", b.drawVerdict(d.Verdict), written(" "+view.Visible(b.text.Reason(d.Reason)))),
		b.drawSettled(d.Rule),
		element("ul", class("parts"), each(d.Reasons, row)),
	)
}

// drawSettled names the rule that settled a verdict.
func (b *ruleBook) drawSettled(r *umpire.RuleRef) part {
	if r == nil {
		return parts(nil)
	}
	return paragraph("where", b.text.Of("rule")+" "+view.Visible(view.RuleText(r, b.text)))
}

// drawGrants lists the grants that are not rules.
func (b *ruleBook) drawGrants() node {
	return element("section", class("layer"),
		element("h2", written(b.text.Of("Grants"))),
		when(len(b.grants) == 0, paragraph("note", b.text.Of("no grants"))),
		element("ul", each(b.grants, func(g umpire.GrantStatus) part { return b.drawGrant(&g) })),
	)
}

func (b *ruleBook) drawGrant(g *umpire.GrantStatus) node {
	uses := fmt.Sprint(g.Uses)
	if g.MaxUses > 0 {
		uses = fmt.Sprintf("%d/%d", g.Uses, g.MaxUses)
	}
	about := []string{view.Joined(b.text.Of("uses"), ": ", uses)}
	if !g.CreatedAt.IsZero() {
		about = append(about, fmt.Sprintf(b.text.Of("%s ago"), view.Age(b.now.Sub(g.CreatedAt))))
	}
	if g.Source != "" {
		about = append(about, fmt.Sprintf(b.text.Of("by %s"), view.Visible(g.Source)))
	}
	if !g.ExpiresAt.IsZero() {
		about = append(about, fmt.Sprintf(b.text.Of("until %s"), g.ExpiresAt.Local().Format("2006-01-02 15:04")))
	}
	return element("li", class("rule"),
		element("span", class("tag low"), written(b.text.Word("grant", string(g.Kind)))),
		element("code", written(view.DescribeGrant(g, b.text))),
		element("span", class("note"), written(strings.Join(about, " · "))),
		b.drawRevoke(g),
	)
}

func (b *ruleBook) drawRevoke(g *umpire.GrantStatus) node {
	return element("details", class("act"), drawSummary(b.text.Of("revoke"), view.Visible(g.ID)),
		drawAct(revokePath, map[string]any{"session_id": b.asked.session, "grant_id": g.ID},
			paragraph("note", b.text.Of("From then on the calls ask again.")),
			element("button", class("no"), written(b.text.Of("revoke this grant")))))
}

// layers are the sources of rules with their titles, the nearest first.
var layers = []struct {
	source umpire.Source
	title  string
}{
	{umpire.SourceFlag, "Rules from the command line"},
	{umpire.SourceSession, "Rules of this session"},
	{umpire.SourceProject, "Rules of this project"},
	{umpire.SourceUser, "Your rules for all projects"},
	{umpire.SourceManaged, "Rules of the administrator"},
}

// drawLayers lists the rules of each source.
func (b *ruleBook) drawLayers() part {
	all := parts{}
	for _, l := range layers {
		var rules []*umpire.Rule
		for i := range b.rules {
			if b.rules[i].Source == l.source {
				rules = append(rules, &b.rules[i])
			}
		}
		always := l.source == umpire.SourceProject || l.source == umpire.SourceUser
		all = append(all, when(always || len(rules) > 0, element("section", class("layer"),
			element("h2", written(b.text.Of(l.title))),
			when(len(rules) == 0, paragraph("note", view.Capitalized(b.text.Of("no rules"))),
				when(l.source == umpire.SourceProject,
					drawTry(b.text.Of("To add one:"), "umpire rules add allow 'Bash(npm test)'", b.text))),
			element("ul", each(rules, func(r *umpire.Rule) part { return b.drawRule(r) })))))
	}
	builtin := policy.Builtin()
	title := fmt.Sprintf(b.text.Of("%d built-in rules"), len(builtin))
	if !b.asked.builtin {
		q := rulesQuery{session: b.asked.session, builtin: true}
		return append(all, element("p", class("layer"), element("a", address("href", q.address()), written(title))))
	}
	return append(all, element("section", class("layer"), element("h2", written(title)),
		element("ul", each(builtin, func(r umpire.Rule) part { return b.drawRule(&r) }))))
}

// drawRule draws a rule with its location.
func (b *ruleBook) drawRule(r *umpire.Rule) node {
	place := view.Visible(string(r.ID))
	if r.File != "" {
		place += " · " + view.Visible(placeIn(r.File, r.Line))
	}
	if at := b.used[r.ID]; !at.IsZero() {
		place += " · " + fmt.Sprintf(b.text.Of("last used %s ago"), view.Age(b.now.Sub(at)))
	}
	about := view.DescribeRule(r, b.text, b.now)
	return element("li", class("rule"),
		b.drawVerdict(r.Action),
		element("code", written(view.Visible(policy.FormatShort(*r)))),
		element("span", class("note"), when(about != "", written(about+" "), element("br")), written(place)),
		b.drawRemoval(r),
	)
}

// drawRemoval offers to remove a rule, with the required code.
func (b *ruleBook) drawRemoval(r *umpire.Rule) part {
	m, can := b.removalOf(r)
	if !can || b.remote {
		return parts(nil)
	}
	body := map[string]any{"session_id": m.Session, "rule_id": m.ID, "scope": m.Scope, "shown": m.Shown}
	form := drawAct(removeRulePath, body, attr("data-code", ruleCodePath), drawCode(b.text),
		element("button", class("no"), written(b.text.Of("remove this rule"))))
	return element("details", class("act"), drawSummary(b.text.Of("remove"), view.Visible(string(r.ID))), form)
}

// drawFiles lists the files that may contain rules.
func (b *ruleBook) drawFiles() node {
	row := func(f umpire.RuleFile) part {
		counts := b.text.Count(f.Rules, "%d rule", "%d rules")
		return element("li", class("rule"),
			element("span", class("tag "+healthClasses[f.Health]), written(b.text.Word("health", f.Health))),
			element("code", written(view.Visible(f.Path))),
			element("span", class("note"), written(b.text.Word("source", f.Source.String())+" · "+f.Format),
				when(f.Rules > 0, written(" · "+counts))))
	}
	return element("details", class("layer"), element("summary", written(b.text.Of("rule files"))),
		element("ul", each(b.status.Files, row)))
}

// healthClasses are the style classes of a file's health.
var healthClasses = map[string]string{"ok": "low", "degraded": "high", "untrusted": "medium", "missing": "none"}
