package console

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// pageSize is the number of questions in the inbox, and of lines on a page of the timeline.
const pageSize = 60

// An inbox lists the waiting questions, and has the open card.
type inbox struct {
	text   *catalogue.Language
	groups []group
	more   int // the number of waiting questions that are not listed
	open   *question
	// settled describes the answer to the card in the address; "" while it waits.
	settled  string
	quiet    string            // describes recent events while no question waits
	attached []attachedSession // while no question waits
}

// A group holds the questions of one session.
type group struct {
	session umpire.SessionID
	name    string
	where   string // the project and the agent, if the name is the task
	items   []item
}

// An item is a question in the list.
type item struct {
	*view.Card

	age    string
	behind bool // another call of the same message must be answered first
	open   bool
}

// showInbox shows the waiting questions and one card: the card in the address, else the first.
func (c *Console) showInbox(w http.ResponseWriter, r *http.Request) {
	list, err := c.config.Gate.Pending(r.Context(), umpire.PendingQuery{})
	if err != nil {
		sendRefusal(w, r, statusOf(err), err)
		return
	}
	in, err := c.listInbox(r, list)
	if err != nil {
		sendRefusal(w, r, statusOf(err), err)
		return
	}
	text := textOf(r)
	p := newPage(r, text.Of("Inbox"))
	if p.count = len(list); p.count > 0 {
		p.title = view.Joined(text.Count(p.count, "%d waits", "%d wait"), " · ", "umpire")
	}
	if in.settled != "" || in.open != nil && r.URL.RawQuery != "" {
		p.class = "chosen"
	}
	p.body = in.draw()
	p.show(w, r)
}

// listInbox groups the questions by session, the oldest first.
func (c *Console) listInbox(r *http.Request, list []umpire.Pending) (*inbox, error) {
	text := textOf(r)
	list = urgentFirst(list)
	asked := r.URL.Query()
	open, after, at := asked.Get("card"), umpire.SessionID(asked.Get("after")), -1
	switch {
	case open != "":
		at = slices.IndexFunc(list, func(p umpire.Pending) bool { return string(p.Request) == open })
		if at < 0 {
			at = findTried(r, list)
		}
	case len(list) > 0: // after an answer, the next call of its session
		at = max(0, slices.IndexFunc(list, func(p umpire.Pending) bool { return p.Session == after }))
	}
	in := &inbox{text: text, more: max(0, len(list)-pageSize)}
	if len(list) == 0 {
		facts, err := c.tally.latest(r.Context())
		if err != nil {
			return nil, err
		}
		if hour := countHour(facts, c.now()); hour.Unasked+hour.Kept+hour.Approved+hour.Denied > 0 {
			in.quiet = view.Capitalized(hour.Text(text))
		}
		if in.attached, err = c.tasks.attached(r.Context(), c.now()); err != nil {
			return nil, err
		}
	}
	if err := c.groupItems(r.Context(), in, list[:min(len(list), pageSize)], at); err != nil {
		return nil, err
	}
	var err error
	switch {
	case at >= 0:
		in.open, err = c.openQuestion(r.Context(), &list[at], text)
		if in.open != nil {
			in.open.remote = originOf(r).remote
		}
	case open != "":
		in.settled, err = c.describeSettled(r, umpire.RequestID(open))
	}
	return in, err
}

// urgentFirst puts sessions in which a call could lose data or reach beyond this machine before the others. The
// calls of a session keep their order, since earlier ones may hold later ones back.
func urgentFirst(list []umpire.Pending) []umpire.Pending {
	urgent := map[umpire.SessionID]int{}
	for i := range list {
		if list[i].Consequence.AtLeast(umpire.Outward) {
			urgent[list[i].Session] = -1
		}
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b umpire.Pending) int { return urgent[a.Session] - urgent[b.Session] })
	return list
}

// findTried returns the index of the question that came of trying the card in the address, or -1.
func findTried(r *http.Request, list []umpire.Pending) int {
	asked := r.URL.Query()
	session, call := umpire.SessionID(asked.Get("session")), umpire.CallID(asked.Get("call"))
	return slices.IndexFunc(list, func(p umpire.Pending) bool {
		return call != "" && p.Session == session && p.Call == call
	})
}

// linkToNext is the address of the next call after an answer: of the same session if one waits.
func linkToNext(s umpire.SessionID) string { return "/?" + encodeQuery("after", string(s)) }

// groupItems lists questions, one of which may be open.
func (c *Console) groupItems(ctx context.Context, in *inbox, list []umpire.Pending, open int) error {
	sessions, err := c.sessionsOf(ctx, list)
	if err != nil {
		return err
	}
	groups := map[umpire.SessionID]int{}
	first := map[umpire.BatchID]bool{}
	for i := range list {
		p := &list[i]
		s := sessions[p.Session]
		n, known := groups[p.Session]
		if !known {
			n = len(in.groups)
			groups[p.Session] = n
			g := group{session: p.Session, name: c.tasks.nameSession(ctx, &s, nameAgent(&s))}
			if asker := nameAsker(p, &s); asker != g.name {
				g.where = asker
			}
			in.groups = append(in.groups, g)
		}
		in.groups[n].items = append(in.groups[n].items, item{
			Card: view.New(*p, s, c.config.Home, in.text, c.now(), false), age: view.Age(c.now().Sub(p.AskedAt)),
			behind: first[p.Batch], open: i == open,
		})
		first[p.Batch] = true
	}
	return nil
}

// describeSettled describes the answer to a card that is no longer waiting.
func (c *Console) describeSettled(r *http.Request, id umpire.RequestID) (string, error) {
	session := umpire.SessionID(r.URL.Query().Get("session"))
	standing, err := c.findStanding(r.Context(), session, id)
	if err != nil || standing == nil {
		return textOf(r).Of("nothing waits at this address any longer"), err
	}
	return view.DescribeStanding(*standing, textOf(r)), nil
}

// sessionsOf reads the sessions with waiting questions.
func (c *Console) sessionsOf(
	ctx context.Context, list []umpire.Pending,
) (map[umpire.SessionID]umpire.Session, error) {
	sessions := map[umpire.SessionID]umpire.Session{}
	for i := range list {
		id := list[i].Session
		if _, known := sessions[id]; known {
			continue
		}
		s, err := c.config.Gate.Sessions().Get(ctx, id)
		if err != nil {
			return nil, err
		}
		sessions[id] = s
	}
	return sessions, nil
}

// nameAsker returns the project and the agent of a question.
func nameAsker(p *umpire.Pending, s *umpire.Session) string {
	return nameProject(p.Project, s) + " · " + view.Visible(cmp.Or(p.Agent, s.Agent, "?"))
}

// nameAgent returns the project and the agent of a session.
func nameAgent(s *umpire.Session) string { return nameAsker(&umpire.Pending{Project: s.Project}, s) }

// nameProject returns the name of a session's folder, else the short id of its project.
func nameProject(id umpire.ProjectID, s *umpire.Session) string {
	return view.Visible(view.ProjectName(id, s.Root))
}

func linkTo(p *umpire.Pending) string {
	return "/?" + encodeQuery("call", string(p.Call), "card", string(p.Request), "session", string(p.Session))
}

// draw draws the list, and the open card.
func (in *inbox) draw() parts {
	return parts{
		element("section", class("list"), attr("aria-labelledby", "list-title"),
			element("h1", attr("id", "list-title"), written(in.text.Of("Waiting for you"))),
			each(in.groups, func(g group) part {
				return parts{
					element("h2", class("group"),
						element("a", address("href", linkToSession(g.session)), written(g.name)),
						when(g.where != "", element("span", written(g.where)))),
					element("ul", each(g.items, in.drawItem)),
				}
			}),
			when(in.more > 0, paragraph("note more", in.text.Count(in.more, "%d more waits", "%d more wait"))),
			when(len(in.groups) == 0, element("div", class("empty"), in.drawEmpty())),
		),
		element("main", attr("id", "question"), attr("tabindex", "-1"), in.drawOpen()),
	}
}

func (in *inbox) drawOpen() part {
	switch {
	case in.open != nil:
		return in.open.draw()
	case in.settled != "":
		return parts{
			linkToList(in.text), element("p", class("settled"), attr("role", "status"), written(in.settled)),
		}
	case len(in.groups) == 0:
		return in.drawEmpty()
	}
	return parts(nil)
}

func (in *inbox) drawEmpty() part {
	return parts{
		paragraph("settled", view.Capitalized(in.text.Of("nothing waits"))),
		when(in.quiet != "", paragraph("note", in.quiet)), drawAttached(in.attached, in.text),
	}
}

func (in *inbox) drawItem(i item) part {
	p := &i.Pending
	return element("li", element("a", class(map[bool]string{true: "item behind", false: "item"}[i.behind]),
		address("href", linkTo(p)), attr("data-request", string(p.Request)),
		when(i.open, attr("aria-current", "true")),
		element("span", class("line"), drawDot(p.Risk),
			element("span", class("tool"), written(view.Visible(p.Tool))),
			drawAge(p.AskedAt, i.age)),
		element("span", class("says"), written(view.Capitalized(i.Headline()))),
		element("code", written(i.Object())),
		when(i.behind, element("span", class("note"), written(in.text.Of("waits for the call above")))),
	))
}
