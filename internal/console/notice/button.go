package notice

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
)

// A button is an answer offered by a notice, with the token that gives it.
type button struct {
	choice umpire.Choice
	token  string
}

// Limits on tokens.
const (
	tokenBytes = 32
	tokenTime  = 12 * time.Hour
	maxTokens  = 6 * maxOpen // the oldest are dropped
)

// A digest is stored in place of a token.
type digest [sha256.Size]byte

// A tokenState tells whether a token is still valid.
type tokenState uint8

const (
	tokenGood tokenState = iota
	tokenUsed            // it, or another button of the same card, has answered
	tokenLate            // the question was answered in another way
)

// A boundAnswer is the only answer that a token can give: to one question, as shown on its card.
type boundAnswer struct {
	answer  umpire.Answer
	state   tokenState
	expires time.Time
}

// tokens keeps the one-time tokens of buttons. The zero value with now set is empty.
type tokens struct {
	now func() time.Time

	mu  sync.Mutex
	all map[digest]*boundAnswer
}

// create makes a token for an answer to a question as currently shown.
func (t *tokens) create(p *umpire.Pending, choice umpire.Choice) button {
	t.mu.Lock()
	defer t.mu.Unlock()
	var raw [tokenBytes]byte
	_, _ = rand.Read(raw[:]) // never fails
	token := base64.RawURLEncoding.EncodeToString(raw[:])
	t.makeRoom()
	t.all[sha256.Sum256([]byte(token))] = &boundAnswer{
		answer: umpire.Answer{
			Request: p.Request, ArgsHash: p.ArgsHash, ShownDigest: p.ShownDigest, Version: p.Version,
			Choice: choice, Scope: umpire.ScopeOnce,
		},
		expires: t.now().Add(tokenTime),
	}
	return button{choice, token}
}

// makeRoom removes expired tokens, and the oldest of too many; mu is held.
func (t *tokens) makeRoom() {
	if t.all == nil {
		t.all = map[digest]*boundAnswer{}
	}
	var oldest digest
	var at time.Time
	for key, bound := range t.all {
		if t.now().After(bound.expires) {
			delete(t.all, key)
		} else if at.IsZero() || bound.expires.Before(at) {
			oldest, at = key, bound.expires
		}
	}
	if len(t.all) >= maxTokens {
		delete(t.all, oldest)
	}
}

// redeem consumes a token, and with it the other buttons of its notice. It returns the token's
// answer, or the reason for refusing it.
func (t *tokens) redeem(token string) (answer umpire.Answer, why Refusal) {
	t.mu.Lock()
	defer t.mu.Unlock()
	bound := t.all[sha256.Sum256([]byte(token))]
	switch {
	case bound == nil:
		return answer, refusedUnknown
	case bound.state == tokenUsed:
		return answer, refusedReplayed
	case bound.state == tokenLate || t.now().After(bound.expires):
		return answer, refusedLate
	}
	t.endAll(bound.answer.Request, tokenUsed)
	return bound.answer, ""
}

// expire marks the tokens of a question as late: it was answered in another way.
func (t *tokens) expire(request umpire.RequestID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.endAll(request, tokenLate)
}

// endAll changes the state of a question's tokens that are still good; mu is held.
func (t *tokens) endAll(request umpire.RequestID, state tokenState) {
	for _, bound := range t.all {
		if bound.answer.Request == request && bound.state == tokenGood {
			bound.state = state
		}
	}
}

// addButtons adds buttons for the allowed answers to a notice. A question about the outcome of a
// call gets no buttons: denying it would claim that the call has not run.
func (n *Notifier) addButtons(to *notice, card *view.Card) {
	p := &card.Pending
	if n.relay == nil || p.Indeterminate || p.ShownDigest == "" {
		return
	}
	choices := []umpire.Choice{umpire.Refuse, umpire.Cancel}
	if n.relay.trusted() && isShownWhole(card, to.object) {
		choices = append(choices, umpire.Approve)
	}
	for _, choice := range choices {
		to.buttons = append(to.buttons, n.relay.tokens.create(p, choice))
	}
}

// plainFields are the inputs of a command: its line and the agent's description of it.
var plainFields = []string{"command", "description"}

// isShownWhole reports whether a notice shows everything on its card that an approval depends on: the call
// is a command of one short line on the notice, needs no code, runs no code of files that the card would
// show, runs at the project's root and stays in the project, and does nothing that cannot be undone.
func isShownWhole(card *view.Card, object string) bool {
	p, command := &card.Pending, card.Command()
	var fields map[string]json.RawMessage
	if p.InputSize > 0 || json.Unmarshal(p.Input, &fields) != nil ||
		len(command) != 1 || object != command[0] || !isSeenAtOnce(object) {
		return false
	}
	for name := range fields {
		if !slices.Contains(plainFields, name) {
			return false
		}
	}
	leaves := func(a umpire.Access) bool { return a.Paths() && a.Place != umpire.PlaceInside }
	atRoot := card.Session.Dir == "" || card.Session.Dir == card.Session.Root // the notice names the root
	once := umpire.Answer{Choice: umpire.Approve, Scope: umpire.ScopeOnce}
	return atRoot && !view.NeedsCode(&once, p) && !p.Consequence.AtLeast(umpire.Outward) && card.Remarks() == "" &&
		!slices.ContainsFunc(p.Accesses, leaves) &&
		len(p.CodeFiles) == 0 && len(p.Planned) == 0 && len(p.Extra) == 0 && p.Trial == nil
}

// maxSeen is the width of the longest command that can be approved on a phone, and maxBlanks the
// longest run of blanks in it: more could push the end of the line off a small screen.
const (
	maxSeen   = 120
	maxBlanks = 2
)

// isSeenAtOnce reports whether a line reads unambiguously on any screen. Non-ASCII letters may look
// like ASCII ones, and some reverse the order of words.
func isSeenAtOnce(line string) bool {
	isForeign := func(r rune) bool { return r > unicode.MaxASCII }
	return len(line) <= maxSeen && !strings.ContainsFunc(line, isForeign) &&
		!strings.Contains(line, strings.Repeat(" ", maxBlanks+1))
}
