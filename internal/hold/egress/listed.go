package egress

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
)

// NewProxy returns a proxy for the destinations that a person listed or leased a secret for, within the person's answer
// about the network and their rules. It returns nil without destinations. A lease approves its requests. Groups that
// only serve files need no approval. Any other entry is reached under NetworkListed, or after it was approved in the
// session. decide judges a call of the session, like umpire check. An error is one of ParseList.
func NewProxy(
	listed []string, network policy.NetworkAnswer, leases []Lease,
	decide func(context.Context, umpire.Call) (umpire.Decision, error),
) (*Proxy, error) {
	if network == policy.NetworkAsk {
		listed = nil
	}
	if len(listed)+len(leases) == 0 {
		return nil, nil //nolint:nilnil // a command without a way out is usual
	}
	list, err := ParseList(listed)
	if err != nil {
		return nil, err
	}
	return &Proxy{List: list, leases: activate(leases), Permit: func(ctx context.Context, d Destination, e Entry) bool {
		tool, key, value := "WebFetch", "url", d.url()
		if network == policy.NetworkOnce && !e.leased && (e.Group == "" || e.Unread) {
			tool, key, value = "Bash", "command", "curl "+d.url()
		}
		input, err := json.Marshal(map[string]string{key: value})
		if err != nil {
			return false
		}
		decision, err := decide(ctx, umpire.Call{Tool: tool, Input: input})
		_, byAddress := d.address() // which asks unless it is listed itself
		unruled := decision.Verdict == umpire.Ask && decision.Rule == nil
		return err == nil && (decision.Verdict == umpire.Allow ||
			unruled && (e.leased || byAddress && network == policy.NetworkListed))
	}}, nil
}

// url returns the address of a page at the destination.
func (d Destination) url() string {
	if d.Port == portHTTP {
		return "http://" + d.String() + "/"
	}
	return "https://" + d.String() + "/"
}

// Hosts returns the hosts on ports of the web that entries stand for, as [policy.Settings] lists them, and the programs
// that find what they fetch at them. Entries that ParseList refuses, and addresses, are left out.
func Hosts(listed []string) (hosts, programs []string) {
	for _, text := range listed {
		group, found := findGroup(text)
		if found {
			hosts, programs = append(hosts, group.Hosts...), append(programs, group.Programs...)
			continue
		}
		if e, err := parseEntry(text); err == nil && e.host != "" && slices.Contains([]uint16{0, portHTTPS}, e.port) {
			name := e.host
			if e.below {
				name = "*." + name
			}
			hosts = append(hosts, name)
		}
	}
	return hosts, programs
}

// bundleVariables name a file of authorities to trust: alone, or besides a program's own.
var bundleVariables = []string{
	"SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "PIP_CERT", "GIT_SSL_CAINFO", "CARGO_HTTP_CAINFO",
	"NODE_EXTRA_CA_CERTS", "npm_config_cafile",
}

// Variables are those of the environment by which programs find the proxy at [ProxyAddress], and trust the authorities
// in a file, or "". npm's audit is off, because it sends a list of packages.
func Variables(bundle string) (all []string) {
	for _, name := range []string{"http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		all = append(all, name+"=http://"+ProxyAddress)
	}
	all = append(all, "no_proxy=localhost,127.0.0.1,::1", "NO_PROXY=localhost,127.0.0.1,::1", "npm_config_audit=false")
	for _, name := range bundleVariables {
		if bundle != "" {
			all = append(all, name+"="+bundle)
		}
	}
	return all
}
