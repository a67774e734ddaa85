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

// A button is an answer that a notice offers, with the token that gives it.
type button struct {
	choice umpire.Choice
	token  string
}

// Limits on tokens.
const (
	tokenBytes = 32
	tokenTime  = 12 * time.Hour
	maxTokens  = 6 * maxOpen // the oldest make room
)

// A digest is kept in place of a token.
type digest [sha256.Size]byte

// A tokenState says what a token is still good for.
type tokenState uint8

const (
	tokenGood tokenState = iota
	tokenUsed            // it, or another button of the same card, gave the answer
	tokenLate            // the question was answered in another way
)

// A boundAnswer is the one answer that a token gives: to one question, with what its card showed.
type boundAnswer struct {
	answer  umpire.Answer
	state   tokenState
	expires time.Time
}

// tokens keeps the one-time tokens of buttons. Its zero value with now is empty.
type tokens struct {
	now func() time.Time

	mu  sync.Mutex
	all map[digest]*boundAnswer
}

// create makes a token for an answer to a question as it is shown now.
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

// makeRoom removes the tokens that have expired, and the oldest of too many; mu is held.
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

// redeem uses up a token, and with it the other buttons of its notice. It returns the answer that the
// token gives, or why it gives none.
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

// expire makes the tokens of a question late: it was answered in another way.
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

// addButtons puts the answers on a notice that may come back. A question whether a call has run has
// none: denying it says that it has not.
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

// plainFields are the inputs of a command that are its line and a claim about it.
var plainFields = []string{"command", "description"}

// isShownWhole reports whether a notice shows all that its card has for a person who approves: it is
// a command of one short line that is on the notice, needs no code, runs no code of files that the card
// would show, runs at the project's root and stays in the project, and does nothing that cannot be undone.
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
	atRoot := card.Session.Dir == "" || card.Session.Dir == card.Session.Root // which the notice names
	once := umpire.Answer{Choice: umpire.Approve, Scope: umpire.ScopeOnce}
	return atRoot && !view.NeedsCode(&once, p) && !p.Consequence.AtLeast(umpire.Outward) && card.Remarks() == "" &&
		!slices.ContainsFunc(p.Accesses, leaves) &&
		len(p.CodeFiles) == 0 && len(p.Planned) == 0 && len(p.Extra) == 0 && p.Trial == nil
}

// maxSeen is how wide a command may be that is approved on a phone, and maxBlanks how many blanks may
// follow each other in it: more could push the end of the line off a small screen.
const (
	maxSeen   = 120
	maxBlanks = 2
)

// isSeenAtOnce reports whether a line is read as what it is on any screen. Other letters than those of ASCII may
// look like one of these, and some turn the order of the words around.
func isSeenAtOnce(line string) bool {
	isForeign := func(r rune) bool { return r > unicode.MaxASCII }
	return len(line) <= maxSeen && !strings.ContainsFunc(line, isForeign) &&
		!strings.Contains(line, strings.Repeat(" ", maxBlanks+1))
}
