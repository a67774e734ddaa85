package host

import (
	"context"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/files/gitdir"
	"github.com/umpirehq/umpire/shell"
)

// A Rewriter makes umpire run a host's command lines instead of the host, each by a ticket. Its
// methods may inspect this machine.
type Rewriter interface {
	// Command returns the first words of the line that runs a command by a ticket: the absolute
	// path of umpire and its arguments.
	Command() []string
	// Allows reports whether a line may be replaced: it can be tried in this folder, all of the
	// host's own rules are known, and none of them denies it or asks about it. The host compares
	// its rules only with the new line.
	Allows(ctx context.Context, q *Question, project string, call *umpire.Call) bool
	// Issue makes a ticket.
	Issue(ctx context.Context, q *Question, t umpire.Ticket) (secret string, err error)
	// Answer opens a gate for one question if no gate is running, to record the trial.
	Answer(ctx context.Context, q *Question) (Output, error)
	// End reports that the host has stopped waiting for the line of a ticket.
	End(ctx context.Context, q *Question, secret string) error
}

// A rewriting describes how umpire runs a line instead of the host.
type rewriting struct {
	shell.FolderSplit

	Action umpire.TicketAction
}

// planRewriting returns how umpire runs a call instead of the host, if it does: a command line that
// is to be tried first, or an allowed one that would write files whose changes can be undone. A
// reply that leaves the question to the host's own check stays.
func planRewriting(e *Event, d *umpire.Decision, reply Reply, undo bool) (rewriting, bool) {
	action := rewritingAction(e, d, reply, undo)
	if action == "" {
		return rewriting{}, false
	}
	line, ok := CommandLine(e)
	if !ok {
		return rewriting{}, false
	}
	split, ok := shell.SplitFolder(line)
	return rewriting{split, action}, ok
}

func rewritingAction(e *Event, d *umpire.Decision, reply Reply, undo bool) umpire.TicketAction {
	mode := e.permission()
	switch mode {
	case Default, AcceptEdits, Auto, Bypass:
	case Unknown, Plan, DontAsk:
		return ""
	}
	runs := reply == Allow || reply == Silent && mode == Bypass
	switch {
	case e.Kind != BeforeTool, !e.Host.Replaced(), e.Call.Tool != "Bash", e.Session == "", e.Call.Background:
		return ""
	case d.Verdict == umpire.Ask && d.Trial == umpire.TrialFirst && reply != Deny:
		return umpire.TicketTrial
	case d.Verdict == umpire.Allow && undo && runs && canUndo(d):
		return umpire.TicketUndo
	}
	return ""
}

// canUndo reports whether an allowed call only changes files of the project, and reads. A git
// command counts only if package gitdir can tell its changes. A program that a person has let run
// may want the network, which no trial has.
func canUndo(d *umpire.Decision) bool {
	changes := false
	for i := range d.Accesses {
		a := &d.Accesses[i]
		switch {
		case a.Code, a.Doubt != "", a.Consequence.AtLeast(umpire.Outward) && !a.Paths(),
			a.Program == "git" && !gitdir.MovesFiles(a.Words):
			return false
		case a.Kind == umpire.KindExec:
			if !knownHarmless(d, i) {
				return false
			}
		case a.Kind == umpire.KindRead:
		case !a.Paths():
			return false
		case a.Place == umpire.PlaceInside:
			changes = true
		case a.Place != umpire.PlaceHarmless:
			return false
		}
	}
	return changes
}

// knownHarmless reports whether an access was allowed because umpire knows it to be safe, and not
// by a rule or an approval.
func knownHarmless(d *umpire.Decision, access int) bool {
	code := codeOf(d, access)
	return code == umpire.CodeSafe || code == umpire.CodeAutonomy
}

// CommandLine returns the command line of a call that runs one.
func CommandLine(e *Event) (string, bool) {
	line, err := e.input.RequiredText("command")
	return line, err == nil && utf8.ValidString(line) && !strings.Contains(line, "\x00")
}

// dir returns the folder in which the line starts, given that of the shell, with links resolved. A
// shell removes .. from a path before it resolves links.
func (r *rewriting) dir(from string) (string, error) {
	for _, dir := range r.Dirs {
		from = filepath.Clean(files.AbsoluteFrom(from, dir))
	}
	return files.Canonical(from)
}

const (
	// maxRewritten bounds a line in the form in which the host hands it to its shell. The system
	// takes 128 KiB, and the host adds a few lines.
	maxRewritten = 96 << 10
	// quoteCost is the number of extra bytes for a single quote in that form: '"'"' for '.
	quoteCost = 4
	// maxFirstLine bounds the shown part of a line that the gate keeps.
	maxFirstLine = 200
)

// TicketMark begins the name of a ticket on a command line.
const TicketMark = "ticket-"

// command returns the line that the host runs. large reports that the original is too long for it;
// the gate must then keep it.
func (r *rewriting) command(words []string, ticket string) (line string, large bool) {
	var quoted []string
	for _, word := range words {
		quoted = append(quoted, shell.Quote(word))
	}
	run := strings.Join(quoted, " ") + " " + TicketMark + ticket + " -- "
	line = r.Before + run + quote(r.Line) + stays + r.After
	if len(line)+quoteCost*strings.Count(line, "'") < maxRewritten {
		return line, false
	}
	first, _, _ := strings.Cut(r.Line, "\n")
	return r.Before + run + quote(files.ClipTo(first, maxFirstLine, "")+" …") + stays + r.After, true
}

// stays keeps the shell from replacing itself with the command, because the shell's process tells
// how the line runs. It does not change the exit code.
const stays = " && :"

// quote puts a word in single quotes, which bash and zsh parse alike under any settings.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// rewrite answers a question with the line by which umpire runs the call. recorded is the batch in
// which the gate has recorded it. If rewrite fails, the call is left unchanged.
func (c *hookCase) rewrite(
	ctx context.Context, by Rewriter, r *rewriting, recorded umpire.BatchID,
) (Output, bool) {
	dir, err := r.dir(c.event.Call.Dir)
	if err != nil {
		return Output{}, false
	}
	_, large := r.command(by.Command(), strings.Repeat("0", ticketDigits))
	secret, err := by.Issue(ctx, c.question, umpire.Ticket{
		Session: c.event.Session, Batch: recorded, Call: c.event.Call.ID, Action: r.Action, Line: r.Line, Large: large,
		Dir: dir,
	})
	if err != nil {
		return Output{}, false
	}
	line, _ := r.command(by.Command(), secret)
	return c.event.rewriteInput(line), true
}

// ticketDigits is the length of a ticket.
const ticketDigits = 32

// ticketOnLine returns the ticket on a rewritten command line, or "".
func ticketOnLine(line string) string {
	_, rest, found := strings.Cut(line, " "+TicketMark)
	if !found || len(rest) < ticketDigits || strings.Trim(rest[:ticketDigits], "0123456789abcdef") != "" {
		return ""
	}
	return rest[:ticketDigits]
}

// endedTicket returns the ticket of a call that the host moved to the background, or "": the host
// reports it as finished while it still runs.
func endedTicket(e *Event) string {
	if e.Kind != AfterTool || e.Call.Tool != "Bash" || !e.RunsOn() {
		return ""
	}
	line, _ := CommandLine(e)
	return ticketOnLine(line)
}

// endTicket makes the line's effects wait from now on, if the host does not wait for it.
func (p *Responder) endTicket(ctx context.Context, q *Question, e *Event) error {
	secret := endedTicket(e)
	switch {
	case secret == "":
		return nil
	case p.Rewriter != nil:
		return p.Rewriter.End(ctx, q, secret)
	case p.HandOver != nil:
		p.HandOver(q)
	}
	return nil
}
