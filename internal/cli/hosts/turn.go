package hosts

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/hold/trial"
	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/host/relay"
)

// maxTurnMark is the age at which the mark of a session's last turn is removed.
const maxTurnMark = 30 * 24 * time.Hour

// turnLines returns a function that tells the user how many changes of a session's tried commands umpire has
// kept since the last turn, and how to undo them.
func turnLines(
	a *app.App, read func(dir string) (*config.Config, error),
) func(*host.Question, *host.Event) string {
	return func(q *host.Question, e *host.Event) string {
		if !relay.KeptSinceTurn(a.StateDir(), string(e.Session)) {
			return ""
		}
		mark := relay.TurnMark(a.StateDir(), string(e.Session))
		since := time.Time{}
		if info, err := os.Stat(mark); err == nil {
			since = info.ModTime()
		}
		if touchMark(mark, a.Now()) != nil {
			return "" // the same line would come again each turn
		}
		project, err := host.ProjectOf(q, e)
		if err != nil {
			return ""
		}
		conf, err := read(project)
		if err != nil || conf.Hook.NoTurnLine {
			return ""
		}
		records, err := trial.Records(a.StateDir())
		if err != nil {
			return ""
		}
		commands, changes, first := 0, 0, a.Now()
		for i := range records {
			k := &records[i]
			if k.Session != e.Session || k.Trial == "" || k.Undoes+k.Undone != "" || !k.Time.After(since) {
				continue
			}
			commands, changes = commands+1, changes+len(k.Changes)
			if k.Time.Before(first) {
				first = k.Time
			}
		}
		if changes == 0 {
			return ""
		}
		minutes := int(a.Now().Sub(first)/time.Minute) + 1
		return fmt.Sprintf(a.Text.Of("umpire: kept %s of %s. Undo: umpire undo --since %dm"),
			a.Text.Count(changes, "%d change", "%d changes"),
			a.Text.Count(commands, "%d command", "%d commands"), minutes)
	}
}

// touchMark sets the time of a mark, and removes marks of sessions that have ended long ago.
func touchMark(mark string, now time.Time) error {
	folder := filepath.Dir(mark)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	marks, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, m := range marks {
		if info, err := m.Info(); err == nil && now.Sub(info.ModTime()) > maxTurnMark {
			_ = os.Remove(filepath.Join(folder, m.Name())) // the next turn tries again
		}
	}
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		return err
	}
	return os.Chtimes(mark, now, now)
}
