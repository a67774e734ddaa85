package config

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/umpirehq/umpire/internal/mcp"
)

// decodeServers reads mcp_servers, and refuses what could not be one.
func decodeServers(c *Config, n *yaml.Node) error {
	if err := knownKeys(n, mcp.Keys...); err != nil {
		return err
	}
	c.Servers = nil // a map is shared with the configuration before
	if err := decode(n, &c.Servers); err != nil {
		return err
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i]
		server := c.Servers[name.Value]
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
