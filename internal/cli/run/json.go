package run

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/hold/trial"
)

// A report is a trial in JSON.
type report struct {
	ID       string          `json:"trial_id,omitempty"`
	Outcome  outcome         `json:"outcome"`
	Command  string          `json:"command,omitempty"`
	Exit     *int            `json:"exit_code,omitempty"` // nil if nothing ran
	Network  bool            `json:"network,omitempty"`   // it had the machine's
	Duration int64           `json:"duration_ms,omitempty"`
	Effects  []effect        `json:"effects"`
	Refused  []trial.Attempt `json:"refused,omitempty"`
	// Reached are the destinations that the command reached, as the person had listed them.
	Reached []umpire.TrialReach `json:"reached,omitempty"`
	// Limit and Differs say why a trial cannot be kept.
	Limit   string             `json:"limit,omitempty"`
	Differs []trial.Difference `json:"differs,omitempty"`
	Kept    bool               `json:"kept"`
	// Decision says whether the person's rules allow keeping the effects; absent without effects.
	Decision *umpire.Decision `json:"decision,omitempty"`
}

// An effect is one changed path in JSON.
type effect struct {
	Path   string `json:"path"` // from the project's root
	From   string `json:"from,omitempty"`
	Change string `json:"change"` // created, changed, deleted, moved, mode or link
	Size   int64  `json:"size"`   // of a deleted file before the deletion
	Mode   string `json:"mode,omitempty"`
	Digest string `json:"digest,omitempty"`
	Link   string `json:"link,omitempty"`
	Diff   string `json:"diff,omitempty"`
}

// showUntried writes as JSON that nothing ran.
func showUntried(a *app.App, o outcome) error {
	return app.Failed(a.ShowJSON(report{Outcome: o, Effects: []effect{}}))
}

// report is a trial that waits in JSON.
func (s *sheet) report() report {
	h := s.held
	r := report{
		ID: h.ID, Outcome: outcomeWaiting, Command: h.Command, Exit: &h.Exit, Network: h.Network,
		Effects: make([]effect, 0, len(h.Effects.List)), Refused: h.Effects.Refused, Reached: h.Effects.Reached,
		Limit: h.Effects.Limit, Differs: h.Effects.Differs,
	}
	if s.decided {
		r.Decision = &s.decision
	}
	for i := range h.Effects.List {
		r.Effects = append(r.Effects, s.effectOf(&h.Effects.List[i]))
	}
	return r
}

func (s *sheet) effectOf(e *trial.Effect) effect {
	entry := e.After
	if !entry.Exists() {
		entry = e.Before
	}
	shown := effect{
		Path: s.relative(e.Path), Change: changeOf(e), Size: entry.Size, Mode: fmt.Sprintf("%04o", entry.Type.Perm()),
		Digest: entry.Digest, Link: entry.Link, Diff: s.comparedDiff(e),
	}
	if e.From != "" {
		shown.From = s.relative(e.From)
	}
	if entry.Digest != "" && !strings.Contains(entry.Digest, "-") {
		shown.Digest = "sha256:" + entry.Digest
	}
	return shown
}

// changeOf is the word for a change in JSON.
func changeOf(e *trial.Effect) string {
	switch {
	case e.Kind == trial.Attributes:
		return "mode"
	case e.Kind == trial.Changed && e.After.Type&fs.ModeSymlink != 0:
		return "link"
	}
	return string(e.Kind)
}
