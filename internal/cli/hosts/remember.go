package hosts

import (
	"context"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
	"github.com/umpirehq/umpire/internal/hold/trial"
	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/judge"
)

// rememberWrites stores files of a project for umpire undo, before an agent writes them with a tool
// or with a command line that autonomy lets run unchanged. It ignores files elsewhere, and a call
// runs even if its files cannot be stored.
func rememberWrites(a *app.App) func(context.Context, *host.Question, *host.Event, *umpire.Decision) {
	if a.Home() == "" {
		return nil
	}
	vault := app.NewVault(a)
	return func(ctx context.Context, q *host.Question, e *host.Event, d *umpire.Decision) {
		if e.Kind != host.BeforeTool {
			if !e.RunsOn() {
				_ = trial.SealCall(ctx, a.StateDir(), e.Call.Session, e.Call.ID) // undo seals it otherwise
			}
			return
		}
		if d != nil {
			ledger := sandbox.NewScratchLedger(a.StateDir(), a.Now)
			_ = ledger.Claim(e.Call.Session, judge.WrittenOutside(d)) // without a claim the next write asks
		}
		folder, err := host.ProjectOf(q, e)
		if err != nil {
			return
		}
		project, err := files.Canonical(folder)
		if err != nil {
			return
		}
		spec := trial.RecordSpec{
			State: a.StateDir(), Roots: []string{project}, Later: true, Vault: vault,
			Call: e.Call.ID, Session: e.Call.Session,
		}
		w, writes := host.WriteOf(e, folder)
		if writes {
			planWrite(&spec, w)
		} else if d != nil && e.Call.Tool == "Bash" {
			spec.Paths = judge.EditedFiles(d, spec.Roots)
			spec.Command, _ = host.CommandLine(e)
		}
		if len(spec.Paths) == 0 {
			return
		}
		r, err := trial.Record(ctx, spec)
		if err != nil {
			return
		}
		defer r.Leave()
		if !writes {
			return
		}
		if content, known := w.Expect(r.Text(spec.Paths[0])); known {
			_ = r.Expect(spec.Paths[0], content) // without it later changes of others count as the call's
		}
	}
}

// planWrite adds the file of a write to the record, if it is in the project.
func planWrite(spec *trial.RecordSpec, w *host.Write) {
	project := spec.Roots[0]
	path, err := files.Canonical(w.Path)
	if err == nil && path != project && files.Within(project, path) {
		spec.Paths, spec.Command = []string{path}, w.Call.Tool+" "+strings.TrimPrefix(path, project+"/")
	}
}
