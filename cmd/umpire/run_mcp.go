package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/mcp"
	"github.com/umpirehq/umpire/policy"
)

// decodeServers reads mcp_servers, and refuses what could not be one.
func decodeServers(c *config, n *yaml.Node) error {
	if err := knownKeys(n, mcp.Keys...); err != nil {
		return err
	}
	c.servers = nil // a map is shared with the configuration before
	if err := decode(n, &c.servers); err != nil {
		return err
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i]
		server := c.servers[name.Value]
		if err := server.Check(name.Value); err != nil {
			return fmt.Errorf("line %d: %q: %w", name.Line, name.Value, err)
		}
	}
	return nil
}

// shownServers are the servers without what tends to be secret.
func shownServers(servers map[string]mcp.Server) map[string]mcp.Server {
	shown := map[string]mcp.Server{}
	for name, server := range servers {
		shown[name] = server.Masked()
	}
	return shown
}

// mcpServers starts the servers of which the session's profile may have a tool.
func (s *stay) mcpServers(ctx context.Context, session *umpire.Session) *mcp.Set {
	listed := s.profileOf(session).Tools
	wanted := map[string]mcp.Server{}
	for name, server := range s.conf.servers {
		if listed == nil || slices.ContainsFunc(listed, func(pattern string) bool { return mayName(pattern, "mcp__"+name+"__") }) {
			wanted[name] = server
		}
	}
	return mcp.Open(ctx, wanted, mcp.Options{
		Root: session.Root, Home: s.userHome(), Env: os.Environ(), Version: thisVersion().Version,
		Notice: func(format string, args ...any) { s.remark(fmt.Sprintf(s.text.of(format), args...)) },
	})
}

// mayName reports whether a profile's pattern may name a tool that begins so.
func mayName(pattern, beginning string) bool {
	if i := strings.IndexAny(pattern, "*?[{"); i >= 0 {
		return strings.HasPrefix(beginning, pattern[:i]) || strings.HasPrefix(pattern[:i], beginning)
	}
	return strings.HasPrefix(pattern+"__", beginning)
}

// listedIn is whether a session's profile lists a tool, so that the model is told of it.
// The gate refuses the others whatever the model is told.
func (s *stay) listedIn(session *umpire.Session) func(tool string) bool {
	profile := policy.Profile{Tools: s.profileOf(session).Tools}
	return profile.Lists
}
