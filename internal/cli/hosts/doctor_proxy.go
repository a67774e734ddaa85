package hosts

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/umpirehq/umpire/internal/hold/egress"
	"github.com/umpirehq/umpire/internal/host/setup"
)

// checkSandboxProxy says where Claude Code's own sandbox connects, if its settings name a proxy.
func checkSandboxProxy(ctx context.Context, d *doctor) {
	c, err := d.ReadUserConfig()
	if err != nil {
		return // it has been reported
	}
	_, ours, _ := net.SplitHostPort(c.NetworkProxy)
	for _, file := range claudeFiles(d.App) {
		text, _, err := readSettings(file.Path)
		if err != nil {
			continue // as above
		}
		_, ports := setup.ClaudeSandbox(text)
		for _, p := range ports {
			switch {
			case p.Port != ours:
				d.warn("sandbox", "remove it, then umpire setup claude --sandbox-proxy",
					"%s:%d: %s is %s, which isn't umpire's proxy", file.Path, p.Line, p.Key, p.Port)
			case !isProxy(ctx, c.NetworkProxy):
				d.warn("sandbox", "umpire serve",
					"%s:%d: no gate serves port %s, so Claude Code's own sandbox reaches nothing",
					file.Path, p.Line, p.Port)
			default:
				d.ok("sandbox", "%s:%d: %s is umpire's proxy", file.Path, p.Line, p.Key)
			}
		}
	}
}

// isProxy reports whether a gate's proxy answers at an address, as it answers a request that names no destination.
func isProxy(ctx context.Context, address string) bool {
	const patience = 2 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/", http.NoBody)
	if err != nil {
		return false
	}
	transport := &http.Transport{DisableKeepAlives: true} // and no proxy of the environment
	answer, err := transport.RoundTrip(request)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	const enough = 1 << 10
	text, err := io.ReadAll(io.LimitReader(answer.Body, enough))
	want := egress.BadDemand.Say(egress.Destination{}).String()
	return err == nil && answer.StatusCode == http.StatusBadRequest && strings.TrimSpace(string(text)) == want
}
