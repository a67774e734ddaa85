package console

import (
	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
)

// A scopeChoice is an entry of the menu of scopes, with its widths.
type scopeChoice struct {
	scope  umpire.Scope
	key    string
	name   string
	widths []umpire.Answer // the narrowest first
	coded  bool            // it needs a code
}

// hasPanel reports whether the person must choose or type something before answering.
func (s *scopeChoice) hasPanel() bool { return s.coded || s.scope != umpire.ScopeOnce }

// listScopes lists the scopes that a card offers.
func (q *question) listScopes() []scopeChoice {
	var choices []scopeChoice
	options := q.Options()
	for _, key := range q.ScopeKeys() {
		if q.remote && key.Scope != umpire.ScopeOnce {
			continue
		}
		choice := scopeChoice{scope: key.Scope, key: key.Key, name: q.text.Of(key.Menu)}
		for _, o := range options {
			if o.Answer.Choice == umpire.Approve && o.Answer.Scope == key.Scope {
				choice.widths = append(choice.widths, o.Answer)
			}
		}
		if len(choice.widths) == 0 {
			continue
		}
		choice.coded = !q.remote && view.NeedsCode(&umpire.Answer{Choice: umpire.Approve, Scope: key.Scope}, &q.Pending)
		choices = append(choices, choice)
	}
	return choices
}

// drawControls draws the buttons and forms for answering.
func (q *question) drawControls() node {
	scopes := q.listScopes()
	entry := func(s scopeChoice) part {
		return button(attr("role", "menuitem"), attr("data-scope", s.scope.String()), attr("data-key", s.key),
			when(s.hasPanel(), flag("data-panel")), element("b", written(s.name)), key(s.key))
	}
	reason := q.text.Of("reason for denying (optional)")
	return element("div", class("controls"),
		element("p", class("problem"), attr("role", "alert"), flag("hidden")),
		element("div", class("menu"), attr("id", "scopes"), attr("role", "menu"),
			attr("aria-label", q.text.Of("allow")), flag("hidden"), each(scopes, entry)),
		each(scopes, q.drawPanel),
		element("form", class("panel refuse"), flag("hidden"), element("p", class("row"),
			element("input", attr("name", "reason"), attr("autocomplete", "off"), attr("maxlength", "2000"),
				attr("placeholder", reason), attr("aria-label", reason)),
			element("button", class("no"), written(q.text.Of("confirm denying"))), q.backButton())),
		q.drawBar(),
	)
}

func (q *question) backButton() node { return button(flag("data-back"), written(q.text.Of("back"))) }

// drawPanel draws the widths and the code of a menu entry.
func (q *question) drawPanel(s scopeChoice) part {
	if !s.hasPanel() {
		return parts(nil)
	}
	var widths parts
	for i, answer := range s.widths {
		covers := func(text string) part { return element("span", class("covers"), written(text)) }
		widths = append(widths, element("label",
			element("input", attr("type", "radio"), attr("name", "width"), attr("value", string(answer.Width)),
				when(i == 0, flag("checked"))),
			element("span", each(q.Reach(answer), covers),
				each(view.DescribeCoverage(q.Card, answer), func(text string) part {
					return element("span", class("covers note"), written(text))
				}))))
	}
	return element("form", class("panel"), attr("data-panel-of", s.scope.String()), when(s.coded, flag("data-coded")),
		flag("hidden"),
		element("fieldset", element("legend", written(s.name)), widths),
		when(s.coded, drawCode(q.text)),
		element("p", class("row"), element("button", class("go"), written(s.name)), q.backButton()),
	)
}

// nameAllow names the approval: of a call, or of the changes that its trial made.
func (q *question) nameAllow() string {
	t := q.Pending.Trial
	if !q.isTried() || len(t.Effects.List) == 0 {
		return q.text.Of("allow")
	}
	return q.text.Count(len(t.Effects.List)+t.More, "keep %d change", "keep %d changes")
}

// nameDeny names the denial: of a call, or of the changes that its trial made.
func (q *question) nameDeny() string {
	if q.isTried() {
		return q.text.Of("discard")
	}
	return q.text.Of("deny")
}

// drawBar draws the buttons that are always visible.
func (q *question) drawBar() node {
	offer := q.Pending.TrialOffer
	return element("div", class("bar"),
		button(class("go"), flag("data-allow"), attr("aria-haspopup", "menu"), attr("aria-controls", "scopes"),
			attr("aria-expanded", "false"), flag("disabled"), written(q.nameAllow()+" "),
			element("span", attr("aria-hidden", "true"), written("▾"))),
		when(offer != umpire.NoTrial && !q.remote, button(flag("data-try"),
			when(view.OffersNetwork(offer), flag("data-network"), flag("disabled")),
			when(offer == umpire.TrialAgain, flag("data-again")),
			attr("title", view.DescribeOffer(offer, q.text)), written(view.NameOffer(offer, q.text)), key("t"))),
		button(class("no"), flag("data-refuse"), written(q.nameDeny()), key("n")),
		button(flag("data-cancel"), attr("title", q.text.Of("cancel: deny, and stop the turn")),
			written(q.text.Of("cancel")), key("c")),
		element("span", class("note unread"), written(q.text.Of("read on")+" ↓")),
		element("span", class("note sending"), attr("role", "status"), written(q.text.Of("sending"))),
	)
}
