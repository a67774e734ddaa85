package run

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/mcp"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/policy"
)

// mcpServers starts the servers of which the session's profile may have a tool.
func (s *agentRun) mcpServers(ctx context.Context, session *umpire.Session) *mcp.Set {
	listed := s.profileOf(session).Tools
	wanted := map[string]config.Server{}
	for name, server := range s.conf.Servers {
		if listed == nil || slices.ContainsFunc(listed,
			func(pattern string) bool { return mayName(pattern, "mcp__"+name+"__") }) {
			wanted[name] = server
		}
	}
	return mcp.Open(ctx, wanted, mcp.Options{
		Ledger: filepath.Join(s.StateDir(), "mcp-tools.json"), Root: session.Root, Home: s.UserHome(),
		Env: os.Environ(), Version: app.ThisBuild().Version,
		Notice: func(format string, args ...any) { s.RemarkError(umpire.Errorf(format, args...)) },
	})
}

// mayName reports whether a profile's pattern may name a tool that begins so.
func mayName(pattern, beginning string) bool {
	if i := strings.IndexAny(pattern, "*?[{"); i >= 0 {
		return strings.HasPrefix(beginning, pattern[:i]) || strings.HasPrefix(pattern[:i], beginning)
	}
	return strings.HasPrefix(pattern+"__", beginning)
}

// listedIn reports whether a session's profile lists a tool. The model is only offered listed
// tools, and the gate refuses the others anyway.
func (s *agentRun) listedIn(session *umpire.Session) func(tool string) bool {
	profile := policy.Profile{Tools: s.profileOf(session).Tools}
	return profile.Lists
}
