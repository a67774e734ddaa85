package app

import (
	"context"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/tool"
	"github.com/umpirehq/umpire/internal/hold/process"
)

// PreviewCall shows the changes that a pending call would make to the current files. It
// is empty for a call that changes no files, or whose files are on another machine.
func PreviewCall(ctx context.Context, a *App, g umpire.Gate, p *umpire.Pending, s *umpire.Session) tool.Preview {
	if _, here := process.Alive(s.Runner); !here {
		return tool.Preview{} // files of the same name may be others
	}
	input, err := umpire.WholeInput(ctx, g, p)
	if err != nil {
		return tool.Preview{} // parts of an input change something else
	}
	files := tool.New(tool.Options{Root: s.Root, AddDirs: s.AddDirs, Home: a.UserHome()})
	defer files.Close()
	seen, err := files.Preview(umpire.Call{Tool: p.Tool, Input: input, Dir: s.Dir, Session: s.ID}, p.Accesses)
	if err != nil {
		return tool.Preview{} // the call itself reports the error
	}
	return seen
}
