package console

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

const (
	sessionsPath   = "/sessions"
	sessionPath    = "/session"
	endSessionPath = "/sessions/end"
)

// maxSessionsRead bounds the sessions read for a page of one agent's sessions.
const maxSessionsRead = 1000

// The sessionPages list sessions and end them.
type sessionPages struct{ *Console }

// A sessionList is a page of sessions, the latest activity first, by folder.
type sessionList struct {
	text   *catalogue.Language
	now    time.Time
	asked  sessionQuery
	agents []string // for the filter
	groups []sessionGroup
	names  map[umpire.SessionID]string
	last   *umpire.Session // the next page begins after it; may be nil
}

// A sessionGroup holds the sessions of one folder.
type sessionGroup struct {
	root     string
	project  umpire.ProjectID
	sessions []umpire.Session
}

// A sessionQuery selects the sessions to show.
type sessionQuery struct {
	project umpire.ProjectID
	agent   string
	after   umpire.SessionID
	active  time.Time // last activity of the session before the page's first one
}

func readSessionQuery(r *http.Request) (q sessionQuery, err error) {
	form := r.URL.Query()
	q = sessionQuery{
		project: umpire.ProjectID(form.Get("project")), agent: form.Get("agent"),
		after: umpire.SessionID(form.Get("after")),
	}
	if q.after == "" {
		return q, nil
	}
	micros, err := strconv.ParseInt(form.Get("active"), 10, 64)
	if err != nil {
		return q, umpire.Errorf("active %q: want a time in microseconds: %w", form.Get("active"), umpire.ErrInvalid)
	}
	q.active = time.UnixMicro(micros).UTC()
	return q, nil
}

// address returns the path of the page with the same filters that begins after a session, or of the
// first page.
func (q sessionQuery) address(after *umpire.Session) string {
	pairs := []string{"project", string(q.project), "agent", q.agent}
	if after != nil {
		pairs = append(pairs, "after", string(after.ID), "active", strconv.FormatInt(after.ActiveAt.UnixMicro(), 10))
	}
	return sessionsPath + "?" + encodeQuery(pairs...)
}

// showSessions lists the sessions of all projects.
func (c *sessionPages) showSessions(w http.ResponseWriter, r *http.Request) {
	q, err := readSessionQuery(r)
	if err != nil {
		sendRefusal(w, r, statusOf(err), err)
		return
	}
	l := &sessionList{text: textOf(r), now: c.now(), asked: q, names: map[umpire.SessionID]string{}}
	if err := c.readSessions(r.Context(), l); err != nil {
		sendRefusal(w, r, statusOf(err), err)
		return
	}
	c.showPage(w, r, sessionsPath, l.text.Of("Sessions"), l.draw())
}

// readSessions reads sessions until a page is full.
func (c *sessionPages) readSessions(ctx context.Context, l *sessionList) error {
	query := umpire.SessionQuery{
		Project: l.asked.project, Limit: pageSize + 1, After: l.asked.after, AfterActiveAt: l.asked.active,
	}
	var last *umpire.Session
	for read, shown := 0, 0; read < maxSessionsRead; read += query.Limit {
		found, err := c.config.Gate.Sessions().List(ctx, query)
		if err != nil {
			return err
		}
		for i := range found {
			if shown == pageSize {
				l.last = last
				return nil
			}
			last = &found[i]
			if l.add(last) {
				l.names[last.ID] = c.tasks.nameSession(ctx, last, view.Visible(cmp.Or(last.Agent, "-")))
				shown++
			}
		}
		if len(found) < query.Limit {
			return nil
		}
		query.After, query.AfterActiveAt = last.ID, last.ActiveAt
	}
	l.last = last
	return nil
}

// add adds a session if it matches the requested agent.
func (l *sessionList) add(s *umpire.Session) (shown bool) {
	if s.Agent != "" && !slices.Contains(l.agents, s.Agent) {
		l.agents = append(l.agents, s.Agent)
	}
	if l.asked.agent != "" && s.Agent != l.asked.agent {
		return false
	}
	at := slices.IndexFunc(l.groups, func(g sessionGroup) bool { return g.root == s.Root && g.project == s.Project })
	if at < 0 {
		at = len(l.groups)
		l.groups = append(l.groups, sessionGroup{root: s.Root, project: s.Project})
	}
	l.groups[at].sessions = append(l.groups[at].sessions, *s)
	return true
}

// draw draws a page of sessions.
func (l *sessionList) draw() part {
	first, next := "", ""
	if l.asked.after != "" {
		first = l.asked.address(nil)
	}
	if l.last != nil {
		next = l.asked.address(l.last)
	}
	return element("main", attr("id", "question"), attr("tabindex", "-1"),
		element("h1", written(l.text.Of("Sessions"))),
		l.drawFilters(),
		when(len(l.groups) == 0, paragraph("settled", view.Capitalized(l.text.Of("no sessions"))),
			when(l.asked == sessionQuery{}, drawFirstSteps(l.text))),
		each(l.groups, l.drawGroup),
		drawPages(l.text, first, next),
	)
}

func (l *sessionList) drawFilters() node {
	if l.asked.agent != "" && !slices.Contains(l.agents, l.asked.agent) {
		l.agents = append(l.agents, l.asked.agent)
	}
	slices.Sort(l.agents)
	options := []choice{{"", view.Capitalized(l.text.Of("all agents"))}}
	for _, agent := range l.agents {
		options = append(options, choice{agent, view.Visible(agent)})
	}
	return element("form", class("filters"), attr("role", "search"), attr("data-path", sessionsPath),
		hiddenInput("project", string(l.asked.project)),
		drawSelect("agent", l.text.Of("agent"), options, l.asked.agent),
		when(l.asked.project != "",
			element("a", address("href", sessionQuery{agent: l.asked.agent}.address(nil)),
				written(l.text.Of("all projects")))),
	)
}

func (l *sessionList) drawGroup(g sessionGroup) part {
	first := &g.sessions[0]
	return element("section", class("folder"),
		element("h2",
			element("a", address("href", sessionQuery{project: g.project, agent: l.asked.agent}.address(nil)),
				written(nameProject(g.project, first))),
			element("span", class("note"), written(" "+view.Visible(g.root))),
			element("a", class("from"), address("href", rulesQuery{session: first.ID}.address()),
				attr("aria-label", view.Joined(l.text.Of("Rules"), ": ", nameProject(g.project, first))),
				written(l.text.Of("Rules")))),
		element("ul", class("sessions"), each(g.sessions, l.drawSession)),
	)
}

// drawSession draws one session: its name, its agent and its state. Its page has the rest.
func (l *sessionList) drawSession(s umpire.Session) part {
	return element("li", class(map[bool]string{true: "session over", false: "session"}[s.State == umpire.SessionOver]),
		element("a", class("tool"), address("href", linkToSession(s.ID)), written(l.names[s.ID])),
		element("span", class("state"), when(s.Pending > 0,
			element("a", class("tag medium"), address("href", linkToNext(s.ID)),
				written(l.text.Count(s.Pending, "%d waits", "%d wait")))),
			when(s.Pending == 0, written(l.text.Word("session state", string(s.State))))),
		element("span", class("note"), when(l.names[s.ID] != view.Visible(s.Agent), written(view.Visible(s.Agent)))),
		drawAge(s.ActiveAt, view.Age(l.now.Sub(s.ActiveAt))),
		when(s.State != umpire.SessionOver, drawEnd(&s, l.text)),
	)
}

// drawEnd offers to end a session.
func drawEnd(s *umpire.Session, text *catalogue.Language) node {
	return element("details", class("act"), drawSummary(text.Of("end"), view.Visible(string(s.ID))),
		drawAct(endSessionPath, map[string]any{"session_id": s.ID},
			paragraph("note", text.Of("Its agent cannot continue, and its waiting calls are denied.")),
			element("button", class("no"), written(text.Of("end this session")))))
}

// endSession ends a session.
func (c *sessionPages) endSession(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Session umpire.SessionID `json:"session_id"`
	}
	err := readJSON(w, r, &in)
	if err == nil {
		err = c.gateOf(r).Sessions().End(r.Context(), in.Session, "")
	}
	if err != nil {
		sendRefusal(w, r, statusOf(err), err)
		return
	}
	said := strings.TrimSpace(fmt.Sprintf(textOf(r).Of("ended %s\n"), view.Visible(string(in.Session))))
	writeJSON(w, http.StatusOK, outcome{State: stateIdle, Text: said})
}
