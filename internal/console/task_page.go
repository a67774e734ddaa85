package console

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate/task"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

const (
	taskPath        = "/sessions/task"
	taskCodePath    = "/sessions/task/code"
	approveTaskPath = "/sessions/task/approve"
)

// The taskPages show what a task would allow, and approve it.
type taskPages struct{ *Console }

// A taskSheet is the page of a task before it is approved.
type taskSheet struct {
	text    *catalogue.Language
	session *umpire.Session
	name    string
	draft   string // may be edited; the card is that of this text
	left    []string
	problem string     // with the draft
	card    *task.Card // nil if the draft has a problem
}

func linkToTask(id umpire.SessionID) string { return taskPath + "?" + encodeQuery("id", string(id)) }

// showTask shows a draft for a session, or the text that the person wrote.
func (c *taskPages) showTask(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	session, err := c.config.Gate.Sessions().Get(r.Context(), umpire.SessionID(query.Get("id")))
	if err == nil && (c.config.Tasks == nil || originOf(r).remote) {
		err = errAway
	}
	var s *taskSheet
	if err == nil {
		s = &taskSheet{text: textOf(r), session: &session, draft: query.Get("text")}
		err = c.fillIn(r.Context(), s)
	}
	if err != nil {
		sendRefusal(w, r, statusOf(err), err)
		return
	}
	s.name = c.tasks.nameSession(r.Context(), &session, nameAgent(&session))
	c.showPage(w, r, sessionsPath, s.text.Of("Approve a task"), s.draw())
}

var errAway = umpire.Errorf("a task can only be approved on the machine that the agent runs on: %w", umpire.ErrState)

// fillIn describes the text. It drafts one first if the page came without.
func (c *taskPages) fillIn(ctx context.Context, s *taskSheet) error {
	desk, err := c.config.Tasks(ctx, s.text, s.session)
	if err != nil {
		return err
	}
	if s.draft == "" {
		var made task.Task
		made, s.left = desk.Draft(nil)
		s.draft = made.String()
	}
	made, err := task.Parse(s.draft)
	if err != nil {
		s.problem = view.Visible(s.text.Error(err))
		return nil
	}
	s.card, err = desk.Describe(ctx, &made)
	return err
}

// draw draws the page.
func (s *taskSheet) draw() part {
	label := s.text.Of("The text of the task")
	return element("main", attr("id", "question"), attr("tabindex", "-1"),
		element("h1", written(s.text.Of("Approve a task"))),
		element("p", class("where"), element("a", address("href", linkToSession(s.session.ID)), written(s.name))),
		paragraph("note", s.text.Of("You approve a text in place of each call. Change it as you like, and look at it "+
			"again before you approve it.")),
		element("form", class("task"), attr("data-path", taskPath), hiddenInput("id", string(s.session.ID)),
			element("textarea", attr("name", "text"), attr("aria-label", label), attr("spellcheck", "false"),
				attr("rows", fmt.Sprint(strings.Count(s.draft, "\n")+1)), written(s.draft)),
			element("p", class("row"), element("button", written(s.text.Of("show what it allows"))))),
		when(s.problem != "", paragraph("remark", s.problem)),
		s.drawCard(),
		each(s.left, func(call string) part {
			return element("p", class("note"), written(view.Joined(s.text.Of("always asks"), ": ", "")),
				element("code", written(view.Visible(call))))
		}),
	)
}

// drawCard draws what the task allows, and the button that approves it.
func (s *taskSheet) drawCard() part {
	if s.card == nil {
		return parts(nil)
	}
	t := &s.card.Task
	var lines parts
	for i := range t.Lines {
		l, about := &t.Lines[i], &s.card.Lines[i]
		note := s.text.Word("consequence", l.Most.String()) + " · " +
			fmt.Sprintf(s.text.Of("answers %d of %d questions so far"), about.Answers, s.card.Questions)
		color := map[bool]string{true: "tag high", false: "tag low"}[l.Most.AtLeast(umpire.Outward)]
		tag := element("span", class(color), written(fmt.Sprint(l.Times, "x")))
		lines = append(lines, element("li", class("rule"), tag, element("code", written(view.Visible(l.Rule()))),
			element("span", class("note"), written(note), when(about.Worst != "",
				written(" · "+view.Joined(s.text.Of("at worst"), ": ", "")), element("code", written(about.Worst))))))
	}
	body := map[string]any{"session_id": s.session.ID, "text": t.String(), "digest": t.Digest()}
	return element("section", class("layer"),
		element("h2", element("span", class("object"), written(view.Visible(t.Title)))),
		paragraph("note", fmt.Sprintf(s.text.Of("The session may make these calls without a question, for %s at most."),
			view.Age(t.For))),
		element("ul", lines),
		drawAct(approveTaskPath, body, attr("data-code", taskCodePath), drawCode(s.text),
			element("button", class("go"), written(s.text.Of("approve this task")))),
	)
}

// A taskApproval is the approval of a text that a page showed.
type taskApproval struct {
	umpire.TaskApproval

	Code string `json:"code"`
}

// readApproval reads an approval, the task that it names, and the only use of a code for it.
func readApproval(w http.ResponseWriter, r *http.Request) (in taskApproval, t task.Task, use codeUse, err error) {
	if originOf(r).remote {
		return in, t, use, errAway
	}
	if err = readJSON(w, r, &in); err != nil {
		return in, t, use, err
	}
	if t, err = task.Parse(in.Text); err != nil {
		err = umpire.Errorf("text: %w: %w", err, umpire.ErrInvalid)
	} else if t.Digest() != in.Digest {
		err = umpire.ErrChanged
	}
	shown := string(in.Session) + " " + in.Digest
	return in, t, codeUse{by: signInOf(r), shown: shown, scope: umpire.ScopeSession}, err
}

// sendTaskCode shows the code for a task on the terminals that follow the console.
func (c *taskPages) sendTaskCode(w http.ResponseWriter, r *http.Request) {
	_, t, use, err := readApproval(w, r)
	if err != nil {
		sendRefusal(w, r, statusOf(err), err)
		return
	}
	c.showCode(w, r, use, use.by.text.Of("approve the task")+" "+view.Visible(t.Title))
}

// approveTask approves a task. It stands for many calls, so it always needs a code.
func (c *taskPages) approveTask(w http.ResponseWriter, r *http.Request) {
	in, _, use, err := readApproval(w, r)
	if err != nil {
		sendRefusal(w, r, statusOf(err), err)
		return
	}
	if !c.codes.redeem(use, strings.TrimSpace(in.Code)) {
		sendRefusal(w, r, http.StatusForbidden, errCode)
		return
	}
	approved, err := c.gateOf(r).Grants().ApproveTask(r.Context(), in.TaskApproval)
	if err != nil {
		sendRefusal(w, r, statusOf(err), err)
		return
	}
	said := fmt.Sprintf(textOf(r).Of("approved %s; to end it: umpire task end %s\n"), approved[0].ID, approved[0].ID)
	writeJSON(w, http.StatusOK, outcome{State: stateIdle, Text: strings.TrimSpace(said)})
}
