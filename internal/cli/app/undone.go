package app

import (
	"fmt"
	"strings"

	"github.com/umpirehq/umpire/internal/gate/history"
	"github.com/umpirehq/umpire/internal/hold/trial"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/shell"
)

// maxUndoneShown is the maximum number of paths that an undo names.
const maxUndoneShown = 20

// undoWords describe the undo of a path.
var undoWords = map[trial.Kind]string{
	trial.Created: "restored", trial.Deleted: "removed", trial.Changed: "changed back",
	trial.Attributes: "changed back", trial.Moved: "moved back",
}

// FindUndone returns the calls whose changes were undone.
func FindUndone(stateDir string) (map[history.Name]bool, error) {
	records, err := trial.Records(stateDir)
	if err != nil {
		return nil, Failed(err)
	}
	undone := map[history.Name]bool{}
	for i := range records {
		if records[i].Undone != "" && records[i].Call != "" {
			undone[history.Name{Session: records[i].Session, Call: records[i].Call}] = true
		}
	}
	return undone, nil
}

// UndoneTitle says which change was undone.
func UndoneTitle(lang *catalogue.Language, k *trial.Kept) string {
	if len(k.Changes) == 0 {
		return lang.Of("Nothing was left to undo.")
	}
	text := lang.Count(len(k.Changes), "Undid %d change", "Undid %d changes")
	if k.Command != "" {
		text = view.Joined(text, ": ", Clip(view.Visible(k.Command)))
	}
	return text
}

// UndoneLines name the paths that an undo changed, those that it left, and those that it could not bring back.
func UndoneLines(a *App, k *trial.Kept) []string {
	var lines []string
	for i := range k.Changes[:min(len(k.Changes), maxUndoneShown)] {
		e := &k.Changes[i]
		word := view.Padded(a.Text.Of(undoWords[e.Kind]), len("changed back"))
		lines = append(lines, word+"  "+view.Visible(strings.TrimPrefix(e.Path, a.Dir+"/")))
	}
	if more := len(k.Changes) - maxUndoneShown; more > 0 {
		lines = append(lines, "… "+a.Text.Count(more, "and %d more", "and %d more"))
	}
	for _, path := range k.Left {
		lines = append(lines,
			fmt.Sprintf(a.Text.Of("left in place, because other files are in it: %s"), view.Visible(path)))
	}
	for i := range k.Lost {
		lines = append(lines, fmt.Sprintf(a.Text.Of("not restored: %s (%s)"),
			view.Visible(strings.TrimPrefix(k.Lost[i].Path, a.Dir+"/")), a.Text.Error(k.Lost[i].Reason.Err())))
	}
	return lines
}

// UnfinishedText says which folder's record cannot be finished, and why.
const UnfinishedText = "a change in %s can no longer be undone: %s"

// ForgetCommand is the command that removes a record that cannot be finished.
func ForgetCommand(u *trial.Unfinished) string { return "umpire undo --forget " + shell.Quote(u.ID) }
