package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/internal/gate/history"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// modeFlags are the flags of `umpire sessions mode`.
type modeFlags struct {
	session   string
	leavePlan bool
	allowAll  string
	json      bool
}

// newModeCommand is `umpire sessions mode`.
func newModeCommand(a *app.App) *cobra.Command {
	var f modeFlags
	cmd := &cobra.Command{
		Use: "mode [MODE]", Args: app.WantAtMostOneWord, ValidArgs: app.ModeNames(),
		Short:   "Show or switch a session's mode, or leave plan mode",
		Long:    modeLong,
		Example: modeExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runMode(cmd.Context(), a, &f, strings.Join(args, ""))
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.session, "session", "", "the session `ID` (default: the latest of this worktree)")
	flags.BoolVar(&f.leavePlan, "leave-plan", false, "return to the previous mode, and allow changes to the "+
		"planned files")
	flags.StringVar(&f.allowAll, "allow-all", "",
		"`on` or off: allow every call that no rule or guard asks about, in this workspace")
	app.CompleteWords(cmd, "allow-all", "on", "off")
	flags.BoolVar(&f.json, "json", false, "write JSON")
	app.CompleteWith(cmd, "session", completeSessions(a))
	return cmd
}

// runMode shows the mode of a session, or switches it.
func runMode(ctx context.Context, a *app.App, f *modeFlags, word string) error {
	change := umpire.ModeChange{LeavePlan: f.leavePlan}
	switch {
	case word != "" && f.leavePlan:
		return app.Usage("umpire sessions mode --help", "--leave-plan returns to the previous mode: it takes no MODE")
	case word != "":
		change.Mode = new(umpire.Mode)
		if err := change.Mode.UnmarshalText([]byte(word)); err != nil {
			return app.Usage("umpire help modes", "%w", err)
		}
	}
	if f.allowAll != "" {
		if f.allowAll != "on" && f.allowAll != "off" || f.leavePlan {
			return app.Usage("umpire sessions mode --help",
				"--allow-all %q: want on or off, without --leave-plan", f.allowAll)
		}
		change.AllowAll = new(f.allowAll == "on")
	}
	switches := word != "" || f.leavePlan || f.allowAll != ""
	return a.WithGate(ctx, app.PersonCredential, func(gate umpire.Gate) (err error) {
		if change.Session, err = chosenSession(ctx, a, gate, f.session); err != nil {
			return err
		}
		if switches {
			if _, err := gate.Sessions().SetMode(ctx, change); err != nil {
				return err
			}
		}
		shown, err := readMode(ctx, a, gate, change.Session)
		if err != nil {
			return err
		}
		return a.Show(f.json, shown, func() error { return showMode(a.Stdout, a.Text, shown, switches) })
	})
}

// chosenSession returns the named session, or the one that umpire run --continue would take.
func chosenSession(ctx context.Context, a *app.App, gate umpire.Gate, id string) (umpire.SessionID, error) {
	if id != "" {
		return findSession(ctx, a, gate, id)
	}
	latest, err := gate.Sessions().Latest(ctx, umpire.LatestQuery{Dir: a.Dir, Agent: app.AgentName})
	return latest.ID, app.SessionError(err)
}

// A modeShown is a session's mode with the related facts.
type modeShown struct {
	Session umpire.SessionID `json:"session_id"`
	Mode    umpire.Mode      `json:"mode"`
	Before  *umpire.Mode     `json:"mode_before_plan,omitempty"`
	Planned []umpire.Planned `json:"planned,omitempty"`
	// AutoAvailable is false once so much was refused that auto mode asks.
	AutoAvailable   bool `json:"auto_available"`
	BypassAvailable bool `json:"bypass_available"`
	modeEffects
}

// modeEffects are the effects of the latest change of the mode.
type modeEffects struct {
	Stripped []string `json:"stripped,omitempty"` // allow rules that do not speak in auto mode
	Restored []string `json:"restored,omitempty"` // ... and that do again
	Granted  []string `json:"granted,omitempty"`  // planned files that may be changed
	Changed  []string `json:"changed,omitempty"`  // planned files that were changed meanwhile
}

// readMode reads it from the session's events.
func readMode(ctx context.Context, a *app.App, from umpire.Gate, id umpire.SessionID) (modeShown, error) {
	s, err := from.Sessions().Get(ctx, id)
	if err != nil {
		return modeShown{}, err
	}
	events, err := from.Events(ctx, umpire.Filter{Session: id})
	if err != nil {
		return modeShown{}, err
	}
	plan := history.ReadSessionPlan(events)
	conf, err := a.LoadConfig(s.Root)
	if err != nil {
		return modeShown{}, err
	}
	settings := conf.Settings
	shown := modeShown{
		Session: id, Mode: s.Mode, Before: plan.Before, Planned: plan.Calls,
		AutoAvailable: gate.AutoAvailable(&s, &settings), BypassAvailable: s.AllowBypass,
	}
	for _, e := range slices.Backward(events) {
		if e.Kind == umpire.EventModeChanged || e.Kind == umpire.EventSessionOpened {
			err := json.Unmarshal(e.Data, &shown.modeEffects)
			return shown, err
		}
	}
	return shown, nil
}

func showMode(out io.Writer, lang *catalogue.Language, m modeShown, switched bool) error {
	var text strings.Builder
	head := "session %s is in mode %s\n"
	if switched {
		head = "session %s is in mode %s now\n"
	}
	fmt.Fprintf(&text, lang.Of(head), view.Visible(string(m.Session)), m.Mode)
	if m.Before != nil {
		fmt.Fprintf(&text, lang.Of("the previous mode was %s\n"), *m.Before)
	}
	writeList(lang, &text, "planned", plannedLines(lang, m.Planned))
	writeList(lang, &text, "may be changed without a further question", m.Granted)
	writeList(lang, &text, "was changed since it was planned, and asks", m.Changed)
	writeList(lang, &text, "too broad for auto mode, so ignored in it", m.Stripped)
	writeList(lang, &text, "in force again", m.Restored)
	_, err := fmt.Fprint(out, text.String())
	return err
}

func writeList(lang *catalogue.Language, text *strings.Builder, head string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(text, "%s:\n", lang.Of(head))
	for _, line := range lines {
		fmt.Fprintf(text, "  %s\n", view.Visible(line))
	}
}

func plannedLines(text *catalogue.Language, planned []umpire.Planned) []string {
	var lines []string
	for i := range planned {
		for k := range planned[i].Accesses {
			lines = append(lines, planned[i].Tool+": "+view.AccessText(&planned[i].Accesses[k], text))
		}
	}
	return lines
}
