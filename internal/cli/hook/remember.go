package hook

import (
	"context"
	"strings"

	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/trial"
)

// rememberWrites remembers what files of a project held before an agent writes them, so that
// umpire undo can take it back. Files elsewhere are none of its business, and where nothing
// can be remembered the call runs as it would without umpire.
func rememberWrites(a *app.App) func(context.Context, string, *host.Event) {
	if a.Home() == "" {
		return nil
	}
	vault := app.NewVault(a)
	return func(ctx context.Context, dir string, e *host.Event) {
		w, writes := host.WriteOf(e, dir)
		if !writes {
			return
		}
		if w.Done {
			_ = trial.SealCall(ctx, a.StateDir(), w.Call.Session, w.Call.ID) // undo seals it otherwise
			return
		}
		project, err := files.Canonical(w.Project)
		if err != nil {
			return
		}
		path, err := files.Canonical(w.Path)
		if err != nil || path == project || !files.Within(project, path) {
			return
		}
		r, err := trial.Record(ctx, trial.RecordSpec{
			State: a.StateDir(), Roots: []string{project}, Paths: []string{path}, Later: true, Vault: vault,
			Call: w.Call.ID, Session: w.Call.Session,
			Command: w.Call.Tool + " " + strings.TrimPrefix(path, project+"/"),
		})
		if err != nil {
			return
		}
		defer r.Leave()
		if content, known := w.Expect(r.Text(path)); known {
			_ = r.Expect(path, content) // without it later changes of others count as the call's
		}
	}
}
