package cli

import (
	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/process"
	"github.com/umpirehq/umpire/internal/tool"
)

// previewCall is what a call that is asked about would change in files, as they are now;
// nothing for one that changes none, or none of this machine.
func previewCall(a *App, p *umpire.Pending, s *umpire.Session) tool.Preview {
	if _, here := process.Alive(s.Runner); !here {
		return tool.Preview{} // files of the same name may be others
	}
	files := tool.New(tool.Options{Root: s.Root, AddDirs: s.AddDirs, Home: a.userHome()})
	defer files.Close()
	seen, err := files.Preview(umpire.Call{Tool: p.Tool, Input: p.Input, Dir: s.Dir, Session: s.ID}, p.Accesses)
	if err != nil {
		return tool.Preview{} // the call itself says what is wrong with it
	}
	return seen
}

// describeChanges shows what a call that is asked about would change.
func describeChanges(a *App, p *umpire.Pending, s *umpire.Session) string {
	text := previewCall(a, p, s).Diff
	if text == "" {
		return ""
	}
	return a.text.Of("It would change:") + "\n" + visibleDiff(text) + "\n"
}
