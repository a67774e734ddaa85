package app

import (
	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/process"
	"github.com/umpirehq/umpire/internal/tool"
)

// PreviewCall is what a call that is asked about would change in files, as they are now;
// nothing for one that changes none, or none of this machine.
func PreviewCall(a *App, p *umpire.Pending, s *umpire.Session) tool.Preview {
	if _, here := process.Alive(s.Runner); !here || p.InputSize > 0 {
		return tool.Preview{} // files of the same name may be others, and parts of an input change something else
	}
	files := tool.New(tool.Options{Root: s.Root, AddDirs: s.AddDirs, Home: a.UserHome()})
	defer files.Close()
	seen, err := files.Preview(umpire.Call{Tool: p.Tool, Input: p.Input, Dir: s.Dir, Session: s.ID}, p.Accesses)
	if err != nil {
		return tool.Preview{} // the call itself says what is wrong with it
	}
	return seen
}

// DescribeChanges shows what a call that is asked about would change.
func DescribeChanges(a *App, p *umpire.Pending, s *umpire.Session) string {
	text := PreviewCall(a, p, s).Diff
	if text == "" {
		return ""
	}
	return a.Text.Of("It would change:") + "\n" + VisibleDiff(text) + "\n"
}
