package console

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
)

func linkToSession(id umpire.SessionID) string {
	return sessionPath + "?" + encodeQuery("id", string(id))
}

// A sessionSheet is the page of one session: its task, its latest calls, and the changes that can be undone.
type sessionSheet struct {
	callHistory

	session umpire.Session
	name    string
	task    string
	age     string
	drafts  bool // tasks can be approved for it
}

// showSession shows the page of one session.
func (c *sessionPages) showSession(w http.ResponseWriter, r *http.Request) {
	id := umpire.SessionID(r.URL.Query().Get("id"))
	session, err := c.config.Gate.Sessions().Get(r.Context(), id)
	if err != nil {
		sendRefusal(w, r, statusOf(err), err)
		return
	}
	s := &sessionSheet{
		callHistory: callHistory{text: textOf(r), home: c.config.Home, now: c.now(), asked: historyQuery{session: id}},
		session:     session,
		name:        c.tasks.nameSession(r.Context(), &session, nameAgent(&session)),
		task:        c.tasks.of(r.Context(), &session),
		age:         view.Age(c.now().Sub(session.ActiveAt)),
	}
	if err := c.readHistory(r.Context(), &s.callHistory); err != nil {
		sendRefusal(w, r, statusOf(err), err)
		return
	}
	if originOf(r).remote {
		s.undoable = nil
	}
	s.drafts = c.config.Tasks != nil && !originOf(r).remote && session.State != umpire.SessionOver
	c.showPage(w, r, sessionsPath, s.name, s.draw())
}

// draw draws the page.
func (s *sessionSheet) draw() part {
	next := ""
	if s.older > 0 {
		next = s.asked.address(s.older)
	}
	session, changes := &s.session, s.drawChanges()
	s.undoable = nil // the rows of the calls need not repeat them
	before, after := cutAge(s.text)
	return element("main", attr("id", "question"), attr("tabindex", "-1"),
		element("h1", written(s.name)),
		element("p", class("where"),
			written(nameAgent(session)+" · "+fmt.Sprintf(s.text.Of("mode %s"), session.Mode)+" · "+
				s.text.Word("session state", string(session.State))+" · "+before),
			drawAge(session.ActiveAt, s.age), written(after)),
		element("p", class("links"),
			when(session.Pending > 0, element("a", class("tag medium"), address("href", linkToNext(session.ID)),
				written(s.text.Count(session.Pending, "%d waits", "%d wait")))),
			element("a", address("href", rulesQuery{session: session.ID}.address()), written(s.text.Of("Rules"))),
			when(s.drafts, element("a", address("href", linkToTask(session.ID)), written(s.text.Of("Approve a task")))),
			element("code", written(view.Visible(session.Root)))),
		when(s.task != "", element("h2", written(s.text.Of("Task"))),
			element("pre", class("command task"), written(visibleLines(s.task)))),
		changes,
		element("h2", written(s.text.Of("Calls"))),
		when(len(s.lines) == 0, paragraph("note", s.text.Of("no calls yet"))),
		element("ol", class("lines"), each(s.lines, s.drawLine)),
		drawPages(s.text, "", next),
		when(session.State != umpire.SessionOver, drawEnd(session, s.text)),
	)
}

// drawChanges lists the changes of the session that can be undone, the latest first.
func (s *sessionSheet) drawChanges() part {
	var rows parts
	for _, l := range s.lines {
		e := &l.events[0]
		mine := func(u Undoable) bool { return u.Session == e.Session }
		if e.Call != "" && slices.ContainsFunc(s.undoable[e.Call], mine) {
			rows = append(rows, element("li", element("code", written(s.object(l))), s.drawUndo(e)))
		}
	}
	return when(len(rows) > 0, element("h2", written(s.text.Of("Changes you can undo"))),
		element("ul", class("changes"), rows))
}
