package view

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// Outcome returns the result of an event whose kind says only that it happened: how a
// call ended, how far an approval reaches, or the new mode. It is safe to show, and
// empty if there is nothing to add.
func Outcome(e *umpire.Event, text *catalogue.Language) string {
	var told struct {
		Status  umpire.ResultStatus `json:"status"`
		From    string              `json:"from"`
		Mode    string              `json:"mode"`
		Rule    string              `json:"rule"`
		Crossed bool                `json:"cross_project"`
		Project umpire.ProjectID    `json:"from_project"`
		tried
	}
	// Missing and malformed fields are not shown.
	_ = json.Unmarshal(e.Data, &told)
	var words []string
	if e.Scope != nil {
		words = append(words, text.Word("scope", e.Scope.String()))
	}
	switch {
	case e.Kind == umpire.EventCallRanRefused:
		words = append(words, text.Of(Refusal(e)))
	case told.Trial != "":
		words = append(words, told.outcome(text))
	case told.Status != "":
		ended := []string{text.Word("status", string(told.Status))}
		words = append(words, List(append(ended, told.traffic(text)...), ", "))
	case len(told.Reached)+len(told.Refused) > 0:
		words = append(words, List(told.traffic(text), ", "))
	case told.From != "" && told.Mode != "":
		words = append(words, told.From+" → "+told.Mode)
	case told.Rule != "":
		words = append(words, told.Rule)
	case told.Crossed:
		words = append(words, fmt.Sprintf(text.Of("from project %s"), told.Project.Short()))
	}
	return Visible(strings.Join(words, " "))
}

// Refusal names the refusal of a call that its host has run anyway.
func Refusal(e *umpire.Event) string {
	switch {
	case e.Code == umpire.CodeTimeout:
		return "timed out"
	case e.Code == umpire.CodeCancelled:
		return "cancelled"
	case e.Verdict != nil && *e.Verdict == umpire.Ask:
		return "not answered"
	}
	return "denied"
}

// tried holds an event's fields about a trial.
type tried struct {
	Trial   umpire.TrialID            `json:"trial_id"`
	Exit    *int                      `json:"exit"`
	Counts  map[umpire.EffectKind]int `json:"counts"`
	Paths   []string                  `json:"paths"`
	Refused []string                  `json:"refused"`
	Reached []umpire.TrialReach       `json:"reached"`
}

// outcome names the trial and, once it has ended, says what it did.
func (t *tried) outcome(text *catalogue.Language) string {
	parts := []string{string(t.Trial)}
	if t.Exit != nil && *t.Exit != 0 {
		parts = append(parts, fmt.Sprintf(text.Of("exit code %d"), *t.Exit))
	}
	done := CountEffects(t.Counts, text)
	if t.Exit != nil && len(done) == 0 {
		done = []string{text.Of("It changed nothing.")}
	}
	parts = append(parts, done...)
	if len(t.Counts) == 0 && len(t.Paths) > 0 { // in conflict
		parts = append(parts, strings.Join(t.Paths, " "))
	}
	return List(append(parts, t.traffic(text)...), ", ")
}

// traffic names the destinations that a command reached, and those that it was refused.
func (t *tried) traffic(text *catalogue.Language) (parts []string) {
	for i := range t.Reached {
		parts = append(parts, Joined(text.Of("Reached"), ": ", TrafficText(&t.Reached[i], text)))
	}
	if len(t.Refused) > 0 {
		parts = append(parts, Joined(text.Of("Refused"), ": ", strings.Join(t.Refused, " ")))
	}
	return parts
}
