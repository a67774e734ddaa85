package console

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/tool"
	"github.com/umpirehq/umpire/internal/gate/batch"
	"github.com/umpirehq/umpire/internal/view"
)

const callPath = "/timeline/call"

func linkToCall(session umpire.SessionID, call umpire.CallID) string {
	return callPath + "?" + encodeQuery("session", string(session), "call", string(call))
}

// maxCallEvents is how many of the latest events of a session are searched for those of a call.
const maxCallEvents = 10_000

// A callSheet shows one call: its card as it was asked, the answer, the changes and the events.
type callSheet struct {
	callHistory

	line    *line
	input   json.RawMessage
	waiting *umpire.Pending // nil if it does not wait
	changes string          // a unified diff
}

// The callPages show single calls.
type callPages struct{ *Console }

// showCall shows one call of the timeline.
func (c *callPages) showCall(w http.ResponseWriter, r *http.Request) {
	s := &callSheet{callHistory: callHistory{text: textOf(r), home: c.config.Home, now: c.now()}}
	if err := c.readCall(r, s); err != nil {
		sendRefusal(w, r, statusOf(err), err)
		return
	}
	if originOf(r).remote {
		s.undoable = nil
	}
	c.showPage(w, r, timelinePath, s.object(s.line), s.draw())
}

// readCall reads the events of a call and what belongs to them.
func (c *callPages) readCall(r *http.Request, s *callSheet) error {
	ctx, asked := r.Context(), r.URL.Query()
	id, call := umpire.SessionID(asked.Get("session")), umpire.CallID(asked.Get("call"))
	session, err := c.config.Gate.Sessions().Get(ctx, id)
	if err != nil {
		return err
	}
	events, err := c.config.Gate.Events(ctx, umpire.Filter{Session: id, Last: maxCallEvents})
	if err != nil {
		return err
	}
	events = slices.DeleteFunc(events, func(e umpire.Event) bool { return call == "" || e.Call != call })
	if len(events) == 0 {
		return umpire.Errorf("call %q: %w", string(call), umpire.ErrNotFound)
	}
	s.line = &line{events: events}
	s.sessions = map[umpire.SessionID]umpire.Session{id: session}
	s.names = map[umpire.SessionID]string{id: c.tasks.nameSession(ctx, &session, nameAgent(&session))}
	s.input = inputOf(ctx, c.config.Gate, s.line)
	s.line.typed = view.SubjectOf(s.input)
	list, err := c.config.Gate.Pending(ctx, umpire.PendingQuery{Session: id})
	if err != nil {
		return err
	}
	if at := slices.IndexFunc(list, func(p umpire.Pending) bool { return p.Call == call }); at >= 0 {
		s.waiting = &list[at]
		s.changes = c.config.Changes(ctx, s.text, s.waiting, &session)
	} else {
		s.changes = inputDiff(s.input)
	}
	s.undoable, err = c.config.Undoable()
	return err
}

// inputDiff returns the change of a text that a call's input names, or "".
func inputDiff(input json.RawMessage) string {
	var edit struct {
		Path string `json:"file_path"`
		Old  string `json:"old_string"`
		New  string `json:"new_string"`
	}
	if json.Unmarshal(input, &edit) != nil || edit.Old == "" {
		return ""
	}
	return tool.UnifiedDiff(edit.Path, edit.Path, []byte(edit.Old), []byte(edit.New), maxBody)
}

// card returns the call's card as it was asked, or would have been.
func (s *callSheet) card() *view.Card {
	e := &s.line.events[0]
	p := umpire.Pending{Session: e.Session, Project: e.Project, Call: e.Call, Agent: e.Agent, Input: s.input}
	for i := range s.line.events {
		e := &s.line.events[i]
		p.Tool, p.Risk = cmp.Or(p.Tool, e.Tool), cmp.Or(p.Risk, e.Risk)
		if len(p.Accesses) == 0 && len(e.Accesses) > 0 {
			p.Accesses, p.Reason, p.Code = e.Accesses, e.Reason, e.Code
		}
	}
	if s.waiting != nil {
		p = *s.waiting
	} else if strings.Contains(string(s.input), `"command"`) {
		p.CommandInfo = &umpire.CommandInfo{}
	}
	return view.New(p, s.sessions[e.Session], s.home, s.text, s.now, false)
}

// draw draws the page, which a row of the timeline also opens to.
func (s *callSheet) draw() part {
	q := &question{Card: s.card(), text: s.text, changes: s.changes}
	e := &s.line.events[0]
	return element("main", class("call"), attr("id", "question"), attr("tabindex", "-1"),
		element("h2", drawDot(q.Pending.Risk), written(view.Capitalized(cmp.Or(q.Headline(), s.object(s.line))))),
		when(s.waiting != nil, element("p", element("a", class("tag medium"), address("href", linkTo(&q.Pending)),
			written(s.text.Of("Answer it"))))),
		when(view.WhyAsked(q.Card) != "", paragraph("why", view.WhyAsked(q.Card))),
		each(s.line.events, s.drawAnswer),
		q.drawCommand(),
		q.drawParts(),
		drawDiff(s.changes, s.waiting != nil, s.text),
		each(s.line.events, s.drawOutput),
		s.drawUndo(e),
		element("details", element("summary", written(s.text.Of("Events"))),
			element("ol", class("events"), each(s.line.events, s.drawEvent))),
	)
}

// drawAnswer draws a person's answer, with the reason.
func (s *callSheet) drawAnswer(e umpire.Event) part {
	if e.Kind != umpire.EventPermissionApproved && e.Kind != umpire.EventPermissionRejected {
		return parts(nil)
	}
	why := view.Visible(s.text.Reason(e.Reason))
	return element("p", class("answer"), s.drawStep(e), when(why != "", written(" "+why)))
}

// drawOutput draws the beginning of a call's output.
func (s *callSheet) drawOutput(e umpire.Event) part {
	decoded, err := batch.Decode(e)
	ended, _ := decoded.Detail.(batch.Finished)
	return when(err == nil && ended.Output != "", element("h3", class("quiet"), written(s.text.Of("it printed"))),
		element("pre", class("command"), written(visibleLines(ended.Output))))
}

// drawEvent draws an event with all its fields.
func (s *callSheet) drawEvent(e umpire.Event) part {
	said := view.Visible(string(e.Kind))
	if stepTexts[e.Kind] != "" {
		said = s.describeStep(&e)
	}
	return element("li", element("b", written(timeText(e.At)+" "+said)),
		element("pre", class("rest"), written(strings.Join(view.EventDetail(&e, s.text), "\n"))))
}
