package notice

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// A Report describes the state of a gate's notices. It contains no secrets.
type Report struct {
	PID     int            `json:"pid"`
	Targets []TargetReport `json:"targets"`
	// Refused counts the messages on the topic of replies that were not accepted as answers.
	Refused map[Refusal]int `json:"refused,omitempty"`
}

// A TargetReport describes the state of the notices to one target.
type TargetReport struct {
	Name    string `json:"name"`
	Sent    int    `json:"sent"`
	Failed  int    `json:"failed"`
	Dropped int    `json:"dropped"`
	// Problem is the reason why the last try failed, or "" if it succeeded.
	Problem string    `json:"problem,omitempty"`
	At      time.Time `json:"at,omitzero"` // of the last try
	// Listens means that answers come back through this target.
	Listens bool `json:"listens,omitempty"`
}

// maxReport bounds the file of a report.
const maxReport = 64 << 10

// ReadReport reads the report of the gate that ran last.
func ReadReport(path string) (Report, error) {
	var r Report
	data, err := files.ReadSmall(path, maxReport)
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	return r, err
}

// reportPause is the minimum time between two writes of the report.
const reportPause = 200 * time.Millisecond

// A reporter counts events, and writes the report after changes.
type reporter struct {
	path  string // "" disables writing
	now   func() time.Time
	warn  func(error)
	dirty chan struct{}

	mu      sync.Mutex
	targets map[string]*TargetReport
	refused map[Refusal]int
}

func newReporter(path string, now func() time.Time, warn func(error)) *reporter {
	return &reporter{
		path: path, now: now, warn: warn, dirty: make(chan struct{}, 1),
		targets: map[string]*TargetReport{}, refused: map[Refusal]int{},
	}
}

// change changes the report of a target.
func (r *reporter) change(name string, how func(t *TargetReport)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.targets[name] == nil {
		r.targets[name] = &TargetReport{Name: name}
	}
	how(r.targets[name])
	r.markDirty()
}

// forget removes a target that is gone.
func (r *reporter) forget(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.targets, name)
	r.markDirty()
}

// markDirty schedules writing the report; mu is held.
func (r *reporter) markDirty() {
	select {
	case r.dirty <- struct{}{}:
	default:
	}
}

// countRefusal counts a message that was not accepted as an answer.
func (r *reporter) countRefusal(why Refusal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refused[why]++
	r.markDirty()
}

// noteListening records a problem with the way back, or its recovery if err is nil.
func (r *reporter) noteListening(name string, err error) {
	r.change(name, func(t *TargetReport) {
		t.Listens, t.Problem, t.At = err == nil, "", r.now()
		if err != nil {
			t.Problem = problemText(err)
		}
	})
}

// countDrop counts a notice that was dropped because the queue was full.
func (r *reporter) countDrop(name string) { r.change(name, func(t *TargetReport) { t.Dropped++ }) }

// note records the result of a try, and whether it was the last one.
func (r *reporter) note(name string, err error, last bool) {
	r.change(name, func(t *TargetReport) {
		t.Problem, t.At = "", r.now()
		switch {
		case err == nil:
			t.Sent++
		case last:
			t.Failed++
		}
		if err != nil {
			t.Problem = problemText(err)
		}
	})
}

// writeChanges writes the report after changes, until ctx ends.
func (r *reporter) writeChanges(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-r.dirty:
			r.writeReport()
		}
		select {
		case <-ctx.Done():
		case <-time.After(reportPause):
		}
	}
	r.writeReport()
}

func (r *reporter) writeReport() {
	if r.path == "" {
		return
	}
	data, err := json.Marshal(r.current())
	if err == nil {
		err = files.Replace(r.path, data, 0o600)
	}
	if err != nil {
		r.warn(umpire.Errorf("notify: %w", err))
	}
}

// current returns the current report.
func (r *reporter) current() Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	report := Report{PID: os.Getpid(), Refused: maps.Clone(r.refused)}
	for _, name := range slices.Sorted(maps.Keys(r.targets)) {
		report.Targets = append(report.Targets, *r.targets[name])
	}
	return report
}

// Describe describes the state of the notices in a line.
func (r *Report) Describe(text *catalogue.Language) string {
	var parts []string
	for _, t := range r.Targets {
		counts := fmt.Sprintf(text.Of("%d sent, %d failed"), t.Sent, t.Failed+t.Dropped)
		if t.Listens {
			counts = text.Of("listening")
		}
		if t.Problem != "" {
			counts += " (" + t.Problem + ")"
		}
		parts = append(parts, view.Joined(t.Name, ": ", counts))
	}
	refused := 0
	for _, count := range r.Refused {
		refused += count
	}
	if refused > 0 {
		parts = append(parts, fmt.Sprintf(text.Of("%d replies matched no question"), refused))
	}
	return strings.Join(parts, "; ")
}
