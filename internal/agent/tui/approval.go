package tui

import (
	"context"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/fold"
	"github.com/umpirehq/umpire/policy"
)

// Rules of this file: keys typed in the first moment after a card appears are ignored, and so is
// the beginning of a word. Enter never approves. An answer is bound to the card on the screen,
// and only one answer is sent at a time.

// settleTime is how long keys are ignored after a card has appeared.
const settleTime = 400 * time.Millisecond

// cardKeys are the characters that have a meaning on a card.
const cardKeys = "yspgwncaevdjktYo"

// approvingKeys are the card keys that may lead to an approval.
var approvingKeys = []string{"y", "s", "a", "p", "g", "w", "Y"}

// mayApprove reports whether a key may end in an approval. To try another agent's command again is one.
func mayApprove(key string, offer umpire.TrialOffer) bool {
	return slices.Contains(approvingKeys, key) || key == "t" && offer == umpire.TrialAgain
}

// A cardState is the state of the answer to a card.
type cardState int

// The states of a card. An answer that failed leaves it idle.
const (
	cardIdle        cardState = iota
	cardLoading               // an answer is on its way
	cardApproved              // once
	cardApprovedAll           // for longer
	cardDenied
)

// A cardStep is the input that a card needs before an answer is given.
type cardStep int

const (
	stepNone    cardStep = iota
	stepReason           // why it is denied
	stepRule             // which rule is written
	stepConfirm          // whether that rule is written
	stepCode             // a code, which proves that a person is there
	stepRest             // whether the others like it are approved as well
	stepMenu             // how far an approval reaches
	stepBlind            // whether parts that the card leaves out are approved as well
)

// An approval holds the questions that wait for the person.
type approval struct {
	*base

	openTask    func(s umpire.Session, wider string) tea.Cmd // nil: there are no tasks
	list        []umpire.Pending
	sessions    map[umpire.SessionID]umpire.Session
	at          int // the index of the shown question
	card        *view.Card
	diff        []string // of the card, safe to show; nil until it is worked out
	folded      []fold.Line
	cutDiff     bool     // part of it is left out
	edited      []string // the fields that the diff shows
	shown       time.Time
	state       cardState
	step        cardStep
	scope       umpire.Scope // of the rule that is being written
	rule        string
	chosenWidth umpire.Width // of the approval in progress
	input       textinput.Model
	hint        string // the prompt of the input
	complaint   string // why the last answer did not count
	coded       codedAnswer
	held        string // the key of an answer that counts if no other key follows
	heldAt      time.Time
	focused     bool     // keys are for the card, not for a message
	explains    bool     // the explanation is shown
	fields      bool     // the card also shows the fields that the diff shows
	why         []string // the explanation, once loaded
	whyAt       int      // the line of the card at which it begins
	raw         bool
	answered    map[umpire.RequestID]bool // from here

	form  cardForm // of the rows that were drawn last
	drawn cardRows

	readings  readings
	comparing bool // the diff is being worked out
	read      bool // all bound lines of the card have been on the screen
	opened    bool // folds are open
	blind     bool // the person has seen the list of parts that the card leaves out
	// rulesSeen and readRules are the same for the rules to confirm.
	rulesSeen seenLines
	readRules bool
}

func (a *approval) isOpen() bool { return len(a.list) > 0 }

// current returns the question of the card on the screen, so an answer always refers to the card that was read.
func (a *approval) current() *umpire.Pending {
	if a.card == nil {
		return nil
	}
	return &a.card.Pending
}

// takePending updates the list of open questions. The current card stays as long as its question
// is open. While the person writes, a new card does not take the keys.
func (a *approval) takePending(
	list []umpire.Pending, sessions map[umpire.SessionID]umpire.Session, writing bool,
) tea.Cmd {
	was, wasOpen := umpire.Pending{}, a.isOpen()
	if p := a.current(); p != nil {
		was = *p
	}
	list = slices.DeleteFunc(list, func(p umpire.Pending) bool { return a.answered[p.Request] })
	a.list, a.sessions = list, sessions
	a.readings.keep(list)
	if at := slices.IndexFunc(list, func(p umpire.Pending) bool { return p.Request == was.Request }); at >= 0 {
		if a.at = at; idOf(&list[at]) == idOf(&was) {
			return nil
		}
		return a.show() // it shows something else now
	}
	a.at = max(0, min(a.at, len(list)-1))
	if !wasOpen {
		a.at = 0
		a.focused = !writing
	}
	return a.show()
}

// show creates a card for the current question.
func (a *approval) show() tea.Cmd {
	a.read, a.comparing, a.opened, a.blind = false, false, false, false
	a.step, a.state, a.complaint, a.held, a.card = stepNone, cardIdle, "", "", nil
	a.coded = codedAnswer{}
	a.explains, a.raw, a.fields, a.diff, a.edited, a.why = false, false, false, nil, nil, nil
	a.cutDiff, a.folded = false, nil
	if a.at >= len(a.list) {
		a.focused, a.anchored, a.scroll = false, false, 0
		return nil
	}
	p := &a.list[a.at]
	session, known := a.sessions[p.Session]
	if !known {
		session = a.session
	}
	now := a.conf.Now()
	a.card, a.shown = view.NewWhole(*p, session, a.conf.Home, a.conf.Text, now, host.MeanwhileIn(&session)...), now
	a.showTop()
	return tea.Batch(a.settle(), a.loadDiff(*p, session), loadCoverage(a.base, a.card))
}

// A settledMsg says that a card has been visible for settleTime.
type settledMsg struct{}

// settle has the card drawn again when its keys begin to count.
func (a *approval) settle() tea.Cmd { return a.redraw(settleTime) }

// settled reports whether the card has been there long enough to be answered.
func (a *approval) settled() bool { return a.conf.Now().Sub(a.shown) >= settleTime }

// press takes a key while the card has the focus.
func (a *approval) press(k tea.KeyPressMsg) tea.Cmd {
	switch {
	case a.held != "" && k.String() == "esc":
		a.held = ""
		return nil
	case a.step == stepMenu && a.typing(k): // a word does not answer
		a.held, a.step = "", stepNone
		return nil
	case !a.settled(), a.state == cardLoading, a.held != "":
		return nil
	}
	switch a.step {
	case stepReason, stepRule, stepCode:
		return a.pressField(k)
	case stepConfirm:
		return a.confirmRule(k)
	case stepRest:
		return a.confirmRest(k)
	case stepMenu:
		return a.pressMenu(k.String())
	case stepBlind:
		return a.confirmBlind(k.String())
	case stepNone:
	}
	return a.pressChoice(k.String())
}

// pressChoice takes a key that chooses.
func (a *approval) pressChoice(key string) tea.Cmd {
	a.complaint = ""
	if mayApprove(key, a.current().TrialOffer) && !a.read {
		a.complaint = cardView{a}.sayUnread()
		return nil
	}
	switch key {
	case "j", "down":
		return a.move(1)
	case "k", "up":
		return a.move(-1)
	case "n": // the reason is typed right behind it
		return a.choose(key)
	case "tab":
		a.focused = false
	case "esc":
		a.explains, a.raw = false, false
		a.showTop()
	default:
		if strings.Contains(cardKeys, key) {
			return a.hold(key)
		}
	}
	return nil
}

// choose performs the action of a card's key.
func (a *approval) choose(key string) tea.Cmd {
	switch key {
	case "y":
		return a.sendAnswer(umpire.Answer{Choice: umpire.Approve})
	case "s": // only the menu shows its reach, so it needs a confirmation
		return a.always(umpire.ScopeSession)
	case "a":
		return a.openMenu()
	case "p":
		return a.always(umpire.ScopeProject)
	case "g":
		return a.always(umpire.ScopeGlobal)
	case "w":
		return a.widen(umpire.ScopeSession)
	case "n":
		return a.edit(stepReason, "", a.text("reason for denying (optional)"))
	case "c":
		return a.sendAnswer(umpire.Answer{Choice: umpire.Cancel})
	case "v":
		a.raw = !a.raw
	case "o":
		a.opened = !a.opened
	case "d":
		a.fields = !a.fields
		if len(a.diff) == 0 {
			a.complaint = a.text("no change of a file is shown for this call")
		}
	case "t":
		return a.try()
	case "Y":
		return a.askRest()
	}
	return nil
}

// try has the call tried before it is answered.
func (a *approval) try() tea.Cmd {
	p := *a.current()
	switch p.TrialOffer {
	case umpire.NoTrial:
		a.complaint = a.text("this call cannot be tried first")
		return nil
	case umpire.TrialAgain: // its agent tries it again once it is approved
		return a.choose("y")
	case umpire.TrialOffered, umpire.TrialFirst, umpire.TrialNetwork:
	}
	a.complaint = a.text("it is being tried; its changes will appear here")
	return a.do(func(ctx context.Context) tea.Msg {
		_, err := a.conf.Gate.Resolve(ctx, umpire.Answer{
			Request: p.Request, Version: p.Version, ArgsHash: p.ArgsHash, ShownDigest: p.ShownDigest,
			Choice: umpire.Try,
		})
		if err == nil {
			return nil
		}
		return updateMsg(func() { a.complaint = a.problem(err) })
	})
}

// move shows another question of those that wait.
func (a *approval) move(by int) tea.Cmd {
	if next := a.at + by; next >= 0 && next < len(a.list) {
		a.at = next
		return a.show()
	}
	return nil
}

// always approves for longer than once: for the session at once, and for other scopes
// after the person has seen the rule and could change it.
func (a *approval) always(scope umpire.Scope) tea.Cmd {
	a.chosenWidth, a.rule = umpire.WidthDefault, ""
	narrowest := umpire.Answer{Choice: umpire.Approve, Scope: scope}
	reaches, wider := len(a.card.Reach(narrowest)) > 0, len(a.card.Widths(scope)) > 0
	refused := view.CheckReach(a.card, &narrowest)
	switch {
	case a.card.Hidden():
		a.complaint = a.text("It contains hidden characters, shown here as escapes. It can be approved once only.")
	case !reaches && !wider && refused != nil:
		a.complaint = a.problem(refused)
	case !reaches && !wider || len(a.card.ScopeKeys()) == 1:
		a.complaint = a.text("no rule can cover this call")
	case !reaches:
		return a.widen(scope)
	case scope == umpire.ScopeSession, len(a.current().Rules) > 1: // such rules cannot be edited
		a.askRules(scope, "")
	default:
		a.scope = scope
		return a.edit(stepRule, a.current().Rules[0], "")
	}
	return nil
}

// widen switches to the next width of an approval, and from the widest to the
// narrowest. It does not approve: the person sees the width, and confirms it or not.
func (a *approval) widen(scope umpire.Scope) tea.Cmd {
	if len(a.card.ScopeKeys()) == 1 {
		a.complaint = a.text("no rule can cover this call")
		return nil
	}
	if a.step == stepNone {
		a.chosenWidth = umpire.WidthDefault
	}
	widths := a.card.Widths(scope)
	next := slices.Index(widths, a.chosenWidth) + 1
	switch {
	case len(widths) == 0:
		a.complaint = a.text("there is nothing wider to allow")
		return nil
	case next < len(widths):
		a.chosenWidth = widths[next]
		a.askRules(scope, "")
		return nil
	case scope == umpire.ScopeSession || len(a.card.Reach(umpire.Answer{Scope: scope})) == 0:
		a.chosenWidth = widths[0]
		a.askRules(scope, "")
		return nil
	}
	return a.always(scope)
}

// edit has the person write something on the card.
func (a *approval) edit(step cardStep, value, hint string) tea.Cmd {
	a.step = step
	a.input, a.hint = newField(value), hint
	return nil
}

// newField is a line to write on.
func newField(value string) textinput.Model {
	field := textinput.New()
	field.Prompt = ""
	field.KeyMap.Paste.SetEnabled(false) // terminals paste by themselves; this would start a program
	styles := field.Styles()
	styles.Cursor.Blink = false
	field.SetStyles(styles)
	field.SetVirtualCursor(true)
	field.SetValue(value)
	field.CursorEnd()
	field.Focus()
	return field
}

func (a *approval) paste(msg tea.PasteMsg) tea.Cmd {
	if a.step != stepReason && a.step != stepRule {
		return nil
	}
	var cmd tea.Cmd
	a.input, cmd = a.input.Update(msg)
	return cmd
}

// pressField handles a key in the card's input field.
func (a *approval) pressField(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "esc":
		a.step, a.complaint = stepNone, ""
		return nil
	case "tab":
		if a.step == stepRule {
			return a.widen(a.scope)
		}
	case "enter":
		switch a.step {
		case stepCode:
			return a.confirmCode()
		case stepReason:
			return a.sendAnswer(umpire.Answer{Choice: umpire.Refuse, Reason: trimTyped(a.input.Value())})
		case stepNone, stepRule, stepConfirm, stepRest, stepMenu, stepBlind:
		}
		return a.readRule()
	}
	var cmd tea.Cmd
	a.input, cmd = a.input.Update(k)
	return cmd
}

// readRule takes the rule that was written, and asks whether it is meant.
func (a *approval) readRule() tea.Cmd {
	rule, err := policy.ParseShort(trimTyped(a.input.Value()))
	if err != nil {
		a.complaint = a.problem(err)
		return nil
	}
	if view.Hides(a.input.Value()) {
		a.complaint = a.text("the rule contains hidden characters")
		return nil
	}
	a.chosenWidth = umpire.WidthDefault
	a.askRules(a.scope, policy.FormatShort(rule))
	return nil
}

// askRules shows the rules that a lasting approval would write, and asks for confirmation.
func (a *approval) askRules(scope umpire.Scope, rule string) {
	a.scope, a.rule, a.step, a.complaint, a.readRules = scope, rule, stepConfirm, "", false
	a.rulesSeen = seenLines{}
	a.showTop()
}

// chosen returns the approval in progress. The card shows its coverage, and the answer is
// the same value, so the gate approves exactly the shown coverage.
func (a *approval) chosen() umpire.Answer {
	return umpire.Answer{Choice: umpire.Approve, Scope: a.scope, Rule: a.rule, Width: a.chosenWidth}
}

// confirmRule handles the key that confirms writing a rule.
func (a *approval) confirmRule(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "y":
		if !a.readRules {
			a.complaint = cardView{a}.sayUnread()
			return nil
		}
		return a.sendAnswer(a.chosen())
	case "tab":
		return a.widen(a.scope)
	case "esc", "n":
		a.step, a.anchored = stepNone, true
	}
	return nil
}

// An answeredMsg is the result of sending answers: the accepted ones, and the error of
// the last one if it did not count.
type answeredMsg struct {
	answer umpire.Answer
	given  []umpire.Pending
	err    error
}

// sendAnswer hands in the answer to the question that is shown.
func (a *approval) sendAnswer(answer umpire.Answer) tea.Cmd {
	return a.answerAll(answer, []umpire.Pending{*a.current()})
}

// answerAll hands in the same answer to several questions, once the code was typed that it needs.
func (a *approval) answerAll(answer umpire.Answer, list []umpire.Pending) tea.Cmd {
	if answer.Choice == umpire.Approve && a.asksBlind(answer, list) {
		return nil
	}
	if code := a.codeFor(&answer, list); code != "" {
		a.coded = codedAnswer{code, answer, list}
		return a.edit(stepCode, "", "")
	}
	return a.hand(answer, list)
}

// hand sends the same answer to several questions, each bound to its shown content.
func (a *approval) hand(answer umpire.Answer, list []umpire.Pending) tea.Cmd {
	a.state, a.step = cardLoading, stepNone
	return a.do(func(ctx context.Context) tea.Msg {
		msg := answeredMsg{answer: answer}
		for _, p := range list {
			bound := answer
			bound.Request, bound.Version = p.Request, p.Version
			bound.ArgsHash, bound.ShownDigest = p.ArgsHash, p.ShownDigest
			if _, err := a.conf.Gate.Resolve(ctx, bound); err != nil {
				msg.err = err
				return msg
			}
			msg.given = append(msg.given, p)
		}
		return msg
	})
}

// drop takes a question that has its answer off the list.
func (a *approval) drop(id umpire.RequestID) {
	if a.answered == nil {
		a.answered = map[umpire.RequestID]bool{}
	}
	a.answered[id] = true
	a.list = slices.DeleteFunc(slices.Clone(a.list), func(p umpire.Pending) bool { return p.Request == id })
}

// stateOf is the state in which an answer leaves its card.
func stateOf(answer *umpire.Answer) cardState {
	switch {
	case answer.Choice != umpire.Approve:
		return cardDenied
	case answer.Scope == umpire.ScopeOnce:
		return cardApproved
	}
	return cardApprovedAll
}

// sayAnswer reports an answer in the transcript.
func (a *approval) sayAnswer(answer *umpire.Answer, p *umpire.Pending) {
	var line string
	switch stateOf(answer) {
	case cardApproved:
		line = a.textf("Allowed tool: %s", p.Tool)
	case cardApprovedAll:
		line = view.Bracketed(a.textf("Allowed tool: %s", p.Tool), a.text(answer.Scope.String()))
	case cardDenied:
		line = a.textf("Denied tool: %s", p.Tool)
		if answer.Choice == umpire.Cancel {
			line = a.textf("Cancelled: %s", p.Tool)
		}
		if answer.Reason != "" {
			line = view.Joined(line, ": ", answer.Reason)
		}
	case cardIdle, cardLoading:
		return
	}
	a.log.say(noteEntry, line)
}

// answeredElsewhere reports another person's answer.
func (a *approval) answeredElsewhere(e *umpire.Event) {
	at := slices.IndexFunc(a.list, func(p umpire.Pending) bool { return p.Request == e.Request })
	if at < 0 || a.answered[e.Request] || a.state == cardLoading {
		return
	}
	choice := umpire.Approve
	switch {
	case e.Code == umpire.CodeCancelled:
		choice = umpire.Cancel
	case e.Kind == umpire.EventPermissionRejected:
		choice = umpire.Refuse
	}
	line := a.textf("answered elsewhere: %s", a.text(view.Answered(choice)))
	if e.Actor != "" {
		line += " " + a.textf("by %s", e.Actor)
	}
	a.log.say(noteEntry, view.Joined(line, ": ", titleOf(a, &a.list[at])))
}

// rest returns the questions of the same message with the same risk whose cards have been read, without any
// that hide or leave out text or carry a warning.
func (a *approval) rest() []umpire.Pending {
	var rest []umpire.Pending
	for _, p := range a.list {
		session := a.sessions[p.Session]
		card := view.NewWhole(p, session, a.conf.Home, a.conf.Text, a.shown)
		plain := !p.Warning && !p.Consequence.AtLeast(umpire.Outward) && !p.Indeterminate &&
			!card.Hidden() && len(view.LeftOut(card)) == 0 && a.readings.of(&p).read
		if plain && p.Batch == a.current().Batch && p.Session == a.current().Session && p.Risk == a.current().Risk {
			rest = append(rest, p)
		}
	}
	return rest
}

// askRest asks whether to approve all questions like the current one.
func (a *approval) askRest() tea.Cmd {
	if len(a.rest()) == 0 {
		a.complaint = a.text("Read each card before you allow them together (j/k)")
		return nil
	}
	a.step = stepRest
	return nil
}

// confirmRest handles the key that confirms this.
func (a *approval) confirmRest(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "Y", "y":
		return a.answerAll(umpire.Answer{Choice: umpire.Approve}, a.rest())
	case "esc", "n":
		a.step = stepNone
	}
	return nil
}
