package console

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/console/webcrypto"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

const (
	answerPath = "/answer"
	codePath   = "/code"
)

// maxBody is the largest request of a page.
const maxBody = 64 << 10

// A given is an answer as posted by a page: bound to the shown card, with a code if it needs one.
type given struct {
	umpire.Answer

	Session umpire.SessionID `json:"session_id"`
	Code    string           `json:"code"`
	// Assertion is signed by a passkey; approvals from other machines have one.
	Assertion *webcrypto.Assertion `json:"assertion"`
}

// An outcome is the result of an answer: the state of its card, and a line to show.
type outcome struct {
	State string `json:"state"`
	Text  string `json:"text"`
}

// The states of a card, except for loading, which only the page knows.
const (
	stateIdle        = "idle"
	stateApproved    = "approved"
	stateApprovedAll = "approvedAll"
	stateDenied      = "denied"
)

var (
	errUnoffered  = umpire.Errorf("the card does not offer this answer: %w", umpire.ErrInvalid)
	errCode       = umpire.Errorf("the code is wrong or has expired: ask for another one")
	errNoTerminal = umpire.Errorf(
		"no terminal shows codes: run umpire console or umpire console pair, and leave it open")
)

// answer accepts an answer to a card.
func (c *Console) answer(w http.ResponseWriter, r *http.Request) {
	in, p, err := c.readAnswer(w, r)
	if err != nil {
		sendRefusal(w, r, statusOf(err), err)
		return
	}
	by := signInOf(r)
	if originOf(r).remote && in.Choice == umpire.Approve {
		if err := c.checkProof(r, useOf(by, &in.Answer), in.Assertion); err != nil {
			sendRefusal(w, r, http.StatusForbidden, err)
			return
		}
	} else if view.NeedsCode(&in.Answer, &p) && !c.codes.redeem(useOf(by, &in.Answer), strings.TrimSpace(in.Code)) {
		sendRefusal(w, r, http.StatusForbidden, errCode)
		return
	}
	if _, err := c.gateOf(r).Resolve(r.Context(), in.Answer); err != nil {
		sendRefusal(w, r, statusOf(err), err)
		return
	}
	writeJSON(w, http.StatusOK, outcomeOf(&in.Answer, &p, textOf(r)))
}

// sendCode shows the code for an answer on the terminals that follow the console.
func (c *Console) sendCode(w http.ResponseWriter, r *http.Request) {
	in, p, err := c.readAnswer(w, r)
	if err != nil {
		sendRefusal(w, r, statusOf(err), err)
		return
	}
	by := signInOf(r)
	what := fmt.Sprintf(by.text.Of("approve (%s)"), by.text.Of(in.Scope.String())) + " " + view.Visible(p.Tool)
	c.showCode(w, r, useOf(by, &in.Answer), what)
}

// showCode shows a new code and its purpose on the terminals that follow the console.
func (c *Console) showCode(w http.ResponseWriter, r *http.Request, use codeUse, what string) {
	code := fmt.Sprintf(use.by.text.Of("code %s"), c.codes.add(use))
	line := view.Joined(code, ": ", what)
	if use.by.person != "" {
		line = view.Bracketed(line, use.by.person) // others may read the terminal
	}
	if !c.tellTerminals(line) {
		c.codes.consume(use) // no person saw the code
		sendRefusal(w, r, http.StatusConflict, errNoTerminal)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// readAnswer reads an answer and finds its question. It rejects an answer to a card that has
// changed, and one that the card does not offer.
func (c *Console) readAnswer(w http.ResponseWriter, r *http.Request) (in given, p umpire.Pending, err error) {
	if err := readJSON(w, r, &in); err != nil {
		return in, p, err
	}
	list, err := c.config.Gate.Pending(r.Context(), umpire.PendingQuery{Session: in.Session})
	if err != nil {
		return in, p, err
	}
	at := slices.IndexFunc(list, func(p umpire.Pending) bool { return p.Request == in.Request })
	if at < 0 {
		return in, p, c.explainMissing(r.Context(), in.Session, in.Request)
	}
	p = list[at]
	if in.ShownDigest == "" || p.ShownDigest != in.ShownDigest {
		return in, p, umpire.ErrChanged
	}
	card, err := c.cardOf(r.Context(), &p, textOf(r))
	if err != nil {
		return in, p, err
	}
	offered := func(o view.Option) bool {
		return o.Answer.Choice == in.Choice && o.Answer.Scope == in.Scope && o.Answer.Width == in.Width
	}
	mayGive := originOf(r).takes(&in.Answer) && slices.ContainsFunc(card.Options(), offered)
	if in.Rule != "" || !in.ExpiresAt.IsZero() || !mayGive {
		return in, p, errUnoffered
	}
	in.Reason = strings.TrimSpace(in.Reason)
	return in, p, nil
}

// takes reports whether an answer may be given at an origin. Browsers on other machines may deny
// calls, and approve them once.
func (o *origin) takes(a *umpire.Answer) bool {
	once := a.Choice == umpire.Approve && a.Scope == umpire.ScopeOnce
	return !o.remote || once || a.Choice == umpire.Refuse || a.Choice == umpire.Cancel
}

// explainMissing returns the error for a question that is no longer waiting. It contains the
// question's answer, if any.
func (c *Console) explainMissing(ctx context.Context, session umpire.SessionID, id umpire.RequestID) error {
	standing, err := c.findStanding(ctx, session, id)
	if err != nil {
		return err
	}
	if standing == nil {
		return umpire.Errorf("no waiting call has the ID %q: %w", string(id), umpire.ErrNotFound)
	}
	return &umpire.ResolvedError{Standing: *standing}
}

// lastEvents is how many events of a session are searched for an answer.
const lastEvents = 500

// findStanding returns the answer to a question among the last events of its session, or nil.
func (c *Console) findStanding(
	ctx context.Context, session umpire.SessionID, id umpire.RequestID,
) (*umpire.Standing, error) {
	if session == "" || id == "" {
		return nil, nil //nolint:nilnil // a missing answer is not an error
	}
	events, err := c.config.Gate.Events(ctx, umpire.Filter{Session: session, Last: lastEvents})
	for _, e := range slices.Backward(events) {
		answers := e.Kind == umpire.EventPermissionApproved || e.Kind == umpire.EventPermissionRejected
		if answers && e.Request == id {
			standing := view.StandingOf(&e)
			return &standing, nil
		}
	}
	return nil, err
}

// outcomeOf describes the effect of an accepted answer.
func outcomeOf(a *umpire.Answer, p *umpire.Pending, text *catalogue.Language) outcome {
	said, tool := outcome{State: stateDenied}, view.Visible(p.Tool)
	switch {
	case a.Choice == umpire.Try:
		return outcome{stateIdle, text.Of(view.Answered(a.Choice))}
	case a.Choice == umpire.Cancel:
		said.Text = fmt.Sprintf(text.Of("Cancelled: %s"), tool)
	case a.Choice == umpire.Refuse:
		said.Text = fmt.Sprintf(text.Of("Denied tool: %s"), tool)
	case a.Scope == umpire.ScopeOnce:
		said = outcome{stateApproved, fmt.Sprintf(text.Of("Allowed tool: %s"), tool)}
	default:
		allowed := fmt.Sprintf(text.Of("Allowed tool: %s"), tool)
		said = outcome{stateApprovedAll, view.Bracketed(allowed, text.Of(a.Scope.String()))}
	}
	return said
}

// readJSON decodes the body of a page's request.
func readJSON(w http.ResponseWriter, r *http.Request, to any) error {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err == nil {
		err = json.Unmarshal(body, to)
	}
	if err != nil {
		return umpire.Errorf("the request cannot be read: %w: %w", err, umpire.ErrInvalid)
	}
	return nil
}
