// Package tui is the conversation with the built-in agent on a terminal: messages, calls
// with their results, questions, and a status line.
//
//	chat := tui.New(config)
//	err := chat.Run(ctx)        // on the whole screen
//	err := chat.RunPlain(ctx)   // line by line, for screen readers and poor terminals
//
// It decides nothing and runs nothing: it reads the gate's timeline, submits the person's
// answers, and runs turns with a function from the caller. Text of models, calls and files
// passes through internal/view first, so only its own escapes reach the terminal.
//
// State changes in update, work is done by commands, and views only draw. One screen is
// one file.
package tui

import (
	"context"
	"io"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate/task"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// A Host runs turns, and switches between sessions, which the terminal itself cannot
// do. Its methods are called one at a time.
type Host interface {
	// Turn runs the agent in the session until it has nothing more to do, first on the open
	// work, then on the task if there is one. It reports events to the handler. The note
	// says how the turn ended if it was unusual; ctx ends the turn.
	Turn(ctx context.Context, s umpire.Session, task string, handler *TurnHandler) (note string, err error)
	// Resume resumes a session of this project; "" is the latest.
	Resume(ctx context.Context, id umpire.SessionID) (umpire.Session, error)
	// Fork begins a session with the conversation of another.
	Fork(ctx context.Context, id umpire.SessionID) (umpire.Session, error)
	// Profiles are the agents of the configuration, the main one first.
	Profiles() ([]Profile, error)
	// LimitEdits stores the suffixes that an agent may edit, normalised, in the person's
	// configuration. No suffixes means no limit. It returns the resulting profile.
	LimitEdits(profile string, suffixes []string) (Profile, error)
}

// A Profile is one agent of the configuration.
type Profile struct {
	Name     string
	Tools    []string // nil: all
	Suffixes []string // that its edit tools may change, normalised; empty means no limit
}

// A Change is the effect of a call on files. The zero value means no change.
type Change struct {
	Diff  string   // of any origin
	Shown []string // the input fields that the diff shows completely
	Cut   bool     // part of the change is not shown anywhere on the card
}

// A Config configures a chat. Gate, Host and Session are required.
type Config struct {
	Gate    umpire.Gate // acts for the person at the terminal
	Host    Host
	Session umpire.Session
	Resumed bool   // the session existed before; its open work continues
	Task    string // the first message, if any
	Once    bool   // after the first turn, Enter on an empty line leaves the chat
	Model   string // the model's name in the status line
	Home    string // the person's home directory, by which paths are shortened
	Text    *catalogue.Language
	Now     func() time.Time
	// Change computes a call's changes to files for its card; if nil, cards show no
	// changes. It may be called by several goroutines.
	Change func(ctx context.Context, p umpire.Pending, s umpire.Session) Change
	// Code returns a code that the person has to type back before an approval counts, or
	// "" if the approval needs no code. A nil Code never asks for codes.
	Code func(answer *umpire.Answer, p *umpire.Pending) string
	// Tasks opens the desk that drafts tasks for a session, and TaskCode makes the code that approves a risky
	// one. Without them there are no tasks.
	Tasks    func(ctx context.Context, s *umpire.Session) (task.Desk, error)
	TaskCode func() string
	// Suggest lists the rules that would have saved the most questions of a project since a time. It may be nil.
	Suggest func(ctx context.Context, root string, since time.Time) (string, error)
	// Inbox shows the questions of all sessions, without a conversation. Only the project of
	// Session counts then; "" means all projects.
	Inbox bool
	// Serving says that a gate is running that other agents send questions to. Only the inbox uses it.
	Serving bool
	// Address is the gate's listening address. Since returns its start time; if nil or zero, it is unknown.
	Address string
	Since   func() time.Time
	// Silent keeps the terminal from ringing for a new question.
	Silent bool
	// Notify is the escape that sends a new question to the desktop, with %s for the text;
	// "" only rings the bell.
	Notify string
	// Undo undoes changes of calls; if nil, undo is not available.
	Undo Undoer

	In       io.Reader // the terminal
	Out      io.Writer
	Env      []string  // describes the terminal's abilities
	NoColour bool      // for the whole screen; plain mode never has colours
	Events   io.Writer // of plain mode: gets the session's events as lines of JSON; may be nil
}
