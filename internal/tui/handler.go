package tui

import (
	"sync"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/llm"
)

// A TurnHandler hears what happens in a turn and passes it on to the screen. Pieces of what is
// being said are put together, so that a fast model does not make a slow screen slower.
// It is safe for concurrent use.
type TurnHandler struct {
	send func(message any) // must not be called with mu held

	mu      sync.Mutex
	saying  string
	pending bool // a sayingMsg is on its way
}

// The messages that an ear sends.
type (
	sayingMsg struct{} // there is more of what is being said
	againMsg  struct{} // what was being said broke off, and begins anew
	saidMsg   struct{ text string }
	endedMsg  struct {
		call   umpire.BatchCall
		result umpire.Result
	}
	outputMsg struct {
		call umpire.CallID
		text string
	}
	queuedMsg struct{ prompted umpire.Prompted }
	eventMsg  struct{ event umpire.Event }
)

// Event hears of an event of the session. The screen watches for itself; plain mode writes
// it.
func (e *TurnHandler) Event(event umpire.Event) { e.send(eventMsg{event}) }

// Saying hears a piece of what the assistant is saying.
func (e *TurnHandler) Saying(piece llm.Delta) {
	e.mu.Lock()
	if piece.Again {
		e.saying = ""
	}
	e.saying = clipLong(e.saying + piece.Text)
	wake := !e.pending && piece.Text != ""
	e.pending = e.pending || wake
	e.mu.Unlock()
	if piece.Again {
		e.send(againMsg{})
	}
	if wake {
		e.send(sayingMsg{})
	}
}

// currentReply returns what has been said of a reply so far.
func (e *TurnHandler) currentReply() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pending = false
	return e.saying
}

// Said hears what the assistant said, once it is stored.
func (e *TurnHandler) Said(text string) {
	e.dropReply()
	e.send(saidMsg{text})
}

// dropReply drops a reply that has come in, or that has broken off.
func (e *TurnHandler) dropReply() {
	e.mu.Lock()
	e.saying = ""
	e.mu.Unlock()
}

// Ended hears that a call has its result.
func (e *TurnHandler) Ended(call umpire.BatchCall, r umpire.Result) { e.send(endedMsg{call, r}) }

// Output hears what a call that runs has written so far.
func (e *TurnHandler) Output(call umpire.CallID, text string) { e.send(outputMsg{call, text}) }

// Waiting hears how many questions wait. The screen asks the gate for them itself.
func (e *TurnHandler) Waiting(int) {}

// Queued hears that a message waits until questions are answered.
func (e *TurnHandler) Queued(prompted umpire.Prompted) { e.send(queuedMsg{prompted}) }
