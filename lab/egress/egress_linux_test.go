package egress

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestEgress runs its parts one after the other, because they share the addresses of the internet.
func TestEgress(t *testing.T) {
	n := newInternet(t)
	n.host(registry, "151.101.0.3", packages(registry))
	n.host(evil, "151.101.9.9", func(http.ResponseWriter, *http.Request) {})
	n.host(rebound, "127.0.0.1", nil)
	n.host(metadata, "169.254.169.254", nil)
	n.host("proxy.golang.org", "151.101.0.4", modules())
	n.host("pypi.org", "151.101.0.5", wheels())
	t.Run("attackers", func(t *testing.T) { attackers(t, n) })
	n.host(files, "151.101.0.6", served)
	n.host(yarnRegistry, "151.101.0.8", packages(yarnRegistry))
	n.host(crateIndex, "151.101.0.9", crates())
	n.host(crateFiles, "151.101.0.10", crates())
	n.host(debian, "151.101.0.11", debs())
	n.host(manuals, "151.101.0.12", served)
	n.host(github, "151.101.0.13", gitBackend(filepath.Dir(filepath.Dir(makeRepository(t, "public.git")))))
	t.Run("installers", func(t *testing.T) { installers(t, n) })
	t.Run("projects", func(t *testing.T) { projects(t, n) })
	t.Run("approvals", func(t *testing.T) { approvals(t, n) })
	t.Run("leases", func(t *testing.T) { leases(t, n) })
	t.Run("servers", func(t *testing.T) { servers(t, n) })
}

// attackers runs every attack in a trial that may fetch from npm's registry. Nothing but fetches from it may leave.
func attackers(t *testing.T, n *internet) {
	p := newPerson(t, n, "npm")
	program, err := os.ReadFile("/proc/self/exe")
	must(t, err)
	must(t, os.WriteFile(filepath.Join(p.project, attacker), program, 0o755))
	for _, name := range slices.Sorted(maps.Keys(attacks)) {
		t.Run(name, func(t *testing.T) {
			n.forget()
			out, code := p.run(t, "try", "--discard", "--", "./"+attacker+" '"+name+"'")
			if code != 0 || !strings.Contains(out, "attacked") || strings.Contains(out, "inherited") ||
				strings.Contains(out, "another's") || strings.Contains(out, "no redirect") {
				t.Errorf("exit code %d\n%s", code, out)
			}
			n.quiet(t, registry, rebound, metadata)
			for _, to := range []string{"127.0.0.1", "169.254.169.254"} {
				for at := range n.opened {
					if strings.HasPrefix(at, to+":") {
						t.Errorf("a connection reached %s", at)
					}
				}
			}
		})
	}
	// What such a command leaves behind is not kept unasked.
	out, _ := p.run(t, "try", "--json", "--", "./"+attacker+" publish; touch left")
	var r struct {
		Refused []struct {
			Kind string `json:"kind"`
		} `json:"refused"`
		Decision struct {
			Verdict string `json:"verdict"`
		} `json:"decision"`
	}
	if json.Unmarshal([]byte(out[strings.Index(out, "{"):]), &r) != nil || r.Decision.Verdict != "ask" ||
		len(r.Refused) != 1 || r.Refused[0].Kind != "send" {
		t.Errorf("%s", out)
	}
	t.Logf("figure: egress: %d attacks, 0 bytes beyond fetches from the listed registry: %t", len(attacks), !t.Failed())
}
