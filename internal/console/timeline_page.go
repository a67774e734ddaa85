package console

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
)

// draw draws a page of the timeline.
func (h *callHistory) draw() part {
	first, next := "", ""
	if h.asked.before > 0 {
		first = h.asked.address(0)
	}
	if h.older > 0 {
		next = h.asked.address(h.older)
	}
	return element("main", class("wide"), attr("id", "question"), attr("tabindex", "-1"),
		element("h1", written(h.text.Of("Timeline"))),
		h.drawFilters(),
		when(len(h.lines) == 0, paragraph("settled", view.Capitalized(h.text.Of("nothing found"))),
			when(h.asked == historyQuery{}, drawFirstSteps(h.text)),
			when(h.asked != historyQuery{}, element("p", class("links"),
				element("a", address("href", timelinePath), written(h.text.Of("Show the whole timeline")))))),
		element("ol", class("lines"), each(h.lines, h.drawLine)),
		drawPages(h.text, first, next),
	)
}

// drawFilters draws the filter form. The page's script turns it into an address.
func (h *callHistory) drawFilters() node {
	var kinds []choice
	for _, k := range historyKinds {
		kinds = append(kinds, choice{k.name, view.Capitalized(h.text.Of(k.label))})
	}
	search := view.Capitalized(h.text.Of("search"))
	return element("form", class("filters"), attr("role", "search"), attr("data-path", timelinePath),
		hiddenInput("session", string(h.asked.session)), hiddenInput("project", string(h.asked.project)),
		element("input", attr("type", "search"), attr("name", "q"), attr("value", view.Visible(h.asked.words)),
			attr("placeholder", search), attr("aria-label", search), attr("maxlength", "200")),
		drawSelect("kind", h.text.Of("what happened"), kinds, h.asked.kind),
		element("button", written(search)),
		when(h.asked.session != "" || h.asked.project != "",
			element("a", address("href", timelinePath), written(h.text.Of("all sessions")))),
	)
}

// drawLine draws a call in one row, which opens to its card, answer, changes and events.
func (h *callHistory) drawLine(l *line) part {
	e := &l.events[0]
	tool, _, reason := l.subject(h.text, h.foldersOf(e.Session))
	said := parts{
		element("span", class("steps"), each(l.course(), h.drawStep)),
		element("span", class("tool"), written(tool)), written(" "),
		element("code", written(h.object(l))),
	}
	from := element("a", class("from"), address("href", linkToSession(e.Session)),
		written(cmp.Or(h.names[e.Session], nameProject(e.Project, &umpire.Session{})+" · "+view.Visible(e.Agent))))
	age := drawAge(e.At, view.Age(h.now.Sub(e.At)))
	if e.Call == "" {
		return element("li", class("event alone"), element("div", class("row"), age, said,
			when(reason != "", element("span", class("note"), written(reason)))), when(e.Session != "", from))
	}
	return element("li", class("event"),
		element("details", attr("data-load", linkToCall(e.Session, e.Call)),
			element("summary", class("row"), age, said),
			element("div", class("opened"))),
		when(h.asked.session == "" && e.Session != "", from),
		h.drawUndo(e))
}

// drawStep draws a step of a call.
func (h *callHistory) drawStep(e umpire.Event) part {
	return element("span", class("step "+stepClasses[e.Kind]), attr("title", timeText(e.At)),
		written(h.describeStep(&e)))
}

// maxPaths bounds the changed paths that a line names.
const maxPaths = 20

// drawUndo offers to undo the changes of a call.
func (h *callHistory) drawUndo(e *umpire.Event) part {
	if e.Call == "" {
		return parts(nil)
	}
	i := slices.IndexFunc(h.undoable[e.Call], func(u Undoable) bool { return u.Session == e.Session })
	if i < 0 {
		return parts(nil)
	}
	u := h.undoable[e.Call][i]
	path := func(path string) part { return element("li", element("code", written(view.Visible(path)))) }
	return element("details", class("undo"), element("summary", written(h.text.Of("undo"))),
		element("ul", each(u.Paths[:min(len(u.Paths), maxPaths)], path),
			when(len(u.Paths) > maxPaths, element("li",
				written(fmt.Sprintf(h.text.Of("... and %d more"), len(u.Paths)-maxPaths))))),
		drawAct(undoPath, map[string]any{"id": u.ID},
			element("button", class("no"), written(h.text.Of("undo these changes")))))
}
