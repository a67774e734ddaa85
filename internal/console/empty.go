package console

import (
	"context"
	"net/http"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// showProblem shows an error as a page, which leads back to the others.
func showProblem(w http.ResponseWriter, r *http.Request, status int, said string) {
	text := textOf(r)
	title := text.Of("This page cannot be shown")
	if status == http.StatusNotFound {
		title = text.Of("There is no such page")
	}
	p := newPage(r, view.Joined(title, " · ", "umpire"))
	p.class, p.problem = "page", true
	p.body = parts{element("main", attr("id", "question"), attr("tabindex", "-1"),
		element("h1", written(title)), paragraph("where", view.Capitalized(said)),
		element("p", element("a", class("back"), address("href", "/"), written(text.Of("Back to the inbox")))))}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	p.show(w, r)
}

// serveRoute answers a request for a path of the console, or says that there is no such path.
func (c *Console) serveRoute(w http.ResponseWriter, r *http.Request) {
	posted := r.Clone(r.Context())
	posted.Method = http.MethodPost
	_, known := c.routes.Handler(r)
	_, knownPost := c.routes.Handler(posted)
	if known == "" && knownPost == "" {
		sendRefusal(w, r, http.StatusNotFound, umpire.ErrNotFound)
		return
	}
	c.routes.ServeHTTP(w, r)
}

// maxAttached is how many sessions a page without content names.
const maxAttached = 5

// attached names the latest sessions whose agents may still ask.
func (t *tasks) attached(ctx context.Context, now time.Time) ([]attachedSession, error) {
	list, err := t.gate.Sessions().List(ctx, umpire.SessionQuery{Limit: 4 * maxAttached})
	var all []attachedSession
	for i := range list {
		if s := &list[i]; s.State != umpire.SessionOver && len(all) < maxAttached {
			all = append(all, attachedSession{s, t.nameSession(ctx, s, ""), view.Age(now.Sub(s.ActiveAt))})
		}
	}
	return all, err
}

// An attachedSession is a session with its name, if it has one, and the age of its last activity.
type attachedSession struct {
	*umpire.Session

	name, age string
}

// drawAttached says that the gate runs, for which agents, and what to try.
func drawAttached(all []attachedSession, text *catalogue.Language) part {
	row := func(s attachedSession) part {
		name := nameAgent(s.Session)
		if s.name != "" {
			name = view.Joined(name, ": ", s.name)
		}
		return element("li", element("a", address("href", linkToSession(s.ID)), written(name)), written(" "),
			drawAge(s.ActiveAt, s.age))
	}
	if len(all) == 0 {
		return parts{paragraph("note", text.Of("The gate runs. No agent has asked it yet.")), drawFirstSteps(text)}
	}
	return parts{
		paragraph("note", text.Of("The gate runs, and decides the calls of:")),
		element("ul", class("attached"), each(all, row)),
		drawTry(text.Of("To see what umpire would decide about a command:"), "umpire check -- git push --force", text),
	}
}

// drawFirstSteps says what to do before any agent has asked.
func drawFirstSteps(text *catalogue.Language) part {
	return parts{
		drawTry(text.Of("To connect your agents:"), "umpire setup", text),
		drawTry(text.Of("To see questions without an agent:"), "umpire demo --console", text),
	}
}

// drawTry draws a command to copy.
func drawTry(says, command string, text *catalogue.Language) node {
	return element("p", class("try"), written(says+" "), element("code", written(command)),
		button(class("plain"), flag("data-copy"), attr("aria-label", view.Joined(text.Of("copy"), ": ", command)),
			written(text.Of("copy"))))
}
