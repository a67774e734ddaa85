package tui

import (
	"sync"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/llm"
)

// A TurnHandler passes the events of a turn on to the screen. It joins the pieces of a reply,
// so a fast model does not slow down a slow screen. It is safe for concurrent use.
type TurnHandler struct {
	send func(message any) // must be called without mu

	mu      sync.Mutex
	saying  string
	pending bool // a sayingMsg is on its way
}

// The messages that a TurnHandler sends.
type (
	sayingMsg struct{} // the reply has grown
	againMsg  struct{} // the reply was interrupted and restarts
	saidMsg   struct{ text string }
	endedMsg  struct {
		call   umpire.BatchCall
		result umpire.Result
	}
	outputMsg struct {
		call umpire.CallID
		text string
	}
	eventMsg struct{ event umpire.Event }
)

// Event passes on an event of the session. The screen watches for itself; plain mode writes
// it.
func (e *TurnHandler) Event(event umpire.Event) { e.send(eventMsg{event}) }

// Saying adds a piece of the reply that is coming in.
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

// currentReply returns the reply so far.
func (e *TurnHandler) currentReply() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pending = false
	return e.saying
}

// Said forwards a reply, once it is stored.
func (e *TurnHandler) Said(text string) {
	e.dropReply()
	e.send(saidMsg{text})
}

// dropReply drops a complete or interrupted reply.
func (e *TurnHandler) dropReply() {
	e.mu.Lock()
	e.saying = ""
	e.mu.Unlock()
}

// Ended passes on the result of a call.
func (e *TurnHandler) Ended(call umpire.BatchCall, r umpire.Result) { e.send(endedMsg{call, r}) }

// Output forwards the output of a running call so far.
func (e *TurnHandler) Output(call umpire.CallID, text string) { e.send(outputMsg{call, text}) }

// Waiting does nothing: the screen asks the gate for the questions itself.
func (e *TurnHandler) Waiting(int) {}

// Queued does nothing: the cards that it would announce are on the screen.
func (e *TurnHandler) Queued(umpire.Prompted) {}
