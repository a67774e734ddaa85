package run

import (
	"fmt"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/view"
	phrases "github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/policy"
)

// A runView shows a run: the assistant's words on standard output and a line for each
// call on standard error, or only the events, as JSON.
type runView struct {
	*app.App

	session umpire.SessionID // calls of other sessions are a sub-agent's

	json  bool
	quiet bool // questions are asked here, and need not be announced

	unattended []umpire.BatchCall // denied because no person could be asked

	line string // the unfinished line of a running command's output
	live livePieces
}

// Event writes an event as a line of JSON.
func (v *runView) Event(e umpire.Event) {
	if !v.json {
		return
	}
	if err := app.WriteLine(v.Stdout, &e); err != nil {
		v.RemarkError(err)
	}
}

// Said writes the assistant's words, unless they were already shown. On a terminal
// it escapes control sequences.
func (v *runView) Said(text string) {
	if v.json || v.settle(text) {
		return
	}
	if v.ToTerminal {
		text = visibleText(text)
	}
	fmt.Fprintln(v.Stdout, text)
}

// visibleText makes a text of several lines safe to show.
func visibleText(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = view.Visible(strings.ReplaceAll(strings.TrimSuffix(line, "\r"), "\t", "    "))
	}
	return strings.Join(lines, "\n")
}

// Ended writes a line for a call, and why when it did not go well.
func (v *runView) Ended(call umpire.BatchCall, r umpire.Result) {
	if call.Reason.Is(policy.NobodyConfirms) {
		v.unattended = append(v.unattended, call)
	}
	if v.json {
		return
	}
	if v.line != "" {
		v.liveLine(v.line)
		v.line = ""
	}
	if r.Session != v.session && r.Session != "" {
		fmt.Fprint(v.Stderr, "  ") // a sub-agent's; its parent's call comes after it
	}
	subject := " " + view.SubjectOf(call.Input)
	if call.Tool == "TodoWrite" {
		subject = "" // its list follows
	}
	fmt.Fprintf(v.Stderr, "[%s] %s\n", v.Text.Word("status", string(r.Status)),
		app.Clip(view.Visible(call.Tool+subject)))
	switch {
	case call.Reason.Is(policy.NobodyConfirms):
		fmt.Fprintln(v.Stderr, view.Visible(phrases.English.Text(call.Reason)))
	case r.Status == umpire.ResultDenied || r.Status == umpire.ResultCancelled:
		if call.Reason != "" {
			fmt.Fprintf(v.Stderr, "  %s\n", app.Clip(view.Visible(v.Text.Reason(call.Reason))))
		}
	case call.Tool == "TodoWrite" && r.Status == umpire.ResultOK:
		for line := range strings.Lines(r.Output) {
			fmt.Fprintf(v.Stderr, "  %s\n", app.Clip(view.Visible(strings.TrimSuffix(line, "\n"))))
		}
	case r.IsError():
		first, _, _ := strings.Cut(r.Output, "\n")
		fmt.Fprintf(v.Stderr, "  %s\n", app.Clip(view.Visible(first)))
	}
}

// maxLiveLine bounds a line that a running command does not end.
const maxLiveLine = 4 << 10

// Output shows a command's output to a person at the terminal, line by line. Of a line
// that overwrites itself, it shows the last version.
func (v *runView) Output(_ umpire.CallID, text string) {
	if v.json || !v.ToTerminal {
		return
	}
	lines := strings.Split(v.line+text, "\n")
	for _, line := range lines[:len(lines)-1] {
		v.liveLine(line)
	}
	v.line = lines[len(lines)-1]
	v.line = v.line[max(0, len(v.line)-maxLiveLine):]
}

func (v *runView) liveLine(line string) {
	line = strings.TrimSuffix(line, "\r")
	line = line[strings.LastIndexByte(line, '\r')+1:]
	fmt.Fprintf(v.Stderr, "  | %s\n", app.Clip(visibleText(line)))
}

// Waiting says that calls wait, unless they are asked about right here.
func (v *runView) Waiting(n int) {
	if v.quiet || n == 0 {
		return
	}
	v.Remark(fmt.Sprintf(v.Text.Of("waiting for answers (umpire pending): %d"), n))
}

// Queued says that the task has to wait for open questions.
func (v *runView) Queued(p umpire.Prompted) {
	v.Remark(fmt.Sprintf(v.Text.Of("the task is queued; waiting for answers first: %d"), p.Waiting))
}
