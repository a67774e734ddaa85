package hosts

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/host/drive"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// caseLimit bounds one case; most take a few seconds.
const caseLimit = 2 * time.Minute

// A caseResult is the outcome of a case.
type caseResult struct {
	Outcome drive.Outcome `json:"outcome"`
	Trouble trouble       `json:"trouble"` // empty if the case was played
}

// checkLive runs an installed agent behind umpire, in a temporary home and project, on a scripted model.
func checkLive(ctx context.Context, d *doctor, h *host.Host, found hostProgram) {
	agent := drive.FindAgent(h.Name)
	switch {
	case agent == nil:
		d.ok("live", "%s is not run: umpire cannot script it", h.Title)
		return
	case found.Path == "" || runtime.GOOS == "windows": // the scripts need a Unix shell
		return
	case !d.asJSON:
		d.Remark(fmt.Sprintf(
			d.Text.Of("%s now runs on a scripted model in a temporary home; this takes up to a minute"), h.Title))
	}
	subject := &drive.Subject{Agent: agent, Program: found.Path, Umpire: d.Executable}
	results, err := playIsolated(ctx, d.App, subject)
	if err != nil && ctx.Err() == nil {
		d.Remark(fmt.Sprintf("%s: %s", d.Text.Of("no private network, so the agent could reach the real one"),
			d.Text.Error(err)))
		results = playCases(ctx, d.Text, subject)
	}
	for i, r := range results {
		r.report(d, &drive.Cases[i])
	}
}

// report adds the result to the checkups. A call that ran against a promise counts even if something went
// wrong later.
func (r caseResult) report(d *doctor, c *drive.Case) {
	ran := r.Outcome == drive.Runs || r.Outcome == drive.HeldRuns
	switch {
	case r.Outcome == c.Want && r.Trouble == trouble{}:
		d.ok("live", outcomeTexts[r.Outcome], names{c.Name})
	case r.Trouble == trouble{} || ran && c.Want != drive.Runs:
		d.fail("live", "do not rely on this release: use the one that umpire was tested with",
			outcomeTexts[r.Outcome], names{c.Name})
	default:
		d.warn("live", "", "%s: not tried: %s", names{c.Name}, r.Trouble)
	}
}

// outcomeTexts describe the outcomes of calls.
var outcomeTexts = map[drive.Outcome]string{
	drive.Runs: "%s: it ran", drive.Blocked: "%s: it did not run",
	drive.HeldRuns: "%s: it was held, and ran", drive.HeldBlocked: "%s: it was held, and did not run",
}

// A trouble is an error in English and in the person's language. It crosses from one process to another.
type trouble struct {
	English string `json:"english"`
	Said    string `json:"said"`
}

// String returns the error in English.
func (t trouble) String() string { return t.English }

// envProgram makes `umpire doctor AGENT` play the cases with this program, and print their results.
const envProgram = "UMPIRE_DOCTOR_PLAYS"

// playIsolated plays the cases in a process with only the loopback network.
func playIsolated(ctx context.Context, a *app.App, s *drive.Subject) ([]caseResult, error) {
	cmd := exec.CommandContext(ctx, a.Executable, "doctor", s.Agent.Name)
	if err := drive.Isolate(cmd); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it ends the agents first
	cmd.WaitDelay = time.Minute
	cmd.Env = append(os.Environ(), envProgram+"="+s.Program)
	cmd.Stdout, cmd.Stderr = &out, a.Stderr
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	var results []caseResult
	err := json.Unmarshal(out.Bytes(), &results)
	return results[:min(len(results), len(drive.Cases))], err
}

// playInside is the process that playIsolated starts.
func playInside(ctx context.Context, a *app.App, name, program string) error {
	if err := drive.RaiseLoopback(); err != nil {
		return app.Failed(err)
	}
	s := &drive.Subject{Agent: drive.FindAgent(name), Program: program, Umpire: a.Executable}
	if err := json.NewEncoder(a.Stdout).Encode(playCases(ctx, a.Text, s)); err != nil {
		return app.Failed(err)
	}
	return nil
}

// playCases returns the results of the cases. If the agent cannot play the first one, there are no others.
func playCases(ctx context.Context, text *catalogue.Language, s *drive.Subject) []caseResult {
	results := make([]caseResult, len(drive.Cases))
	play := func(i int) {
		limited, cancel := context.WithTimeout(ctx, caseLimit)
		defer cancel()
		outcome, err := s.Try(limited, &drive.Cases[i])
		results[i].Outcome = outcome
		if err != nil {
			results[i].Trouble = trouble{err.Error(), app.Clip(text.Error(err))}
		}
	}
	if play(0); results[0].Trouble != (trouble{}) {
		return results[:1]
	}
	var wait sync.WaitGroup
	for i := 1; i < len(results); i++ {
		wait.Go(func() { play(i) })
	}
	wait.Wait()
	return results
}
