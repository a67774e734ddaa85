package egress

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/umpirehq/umpire"
)

// A Way is a person's standing answers about the connections of a command. The zero value leads nowhere.
type Way struct {
	// Listed are the entries that the person listed, and Network is their answer about the network.
	Listed  []string
	Network umpire.NetworkAnswer
	// Unread says that the command trusts no further authority. Groups are then passed on like any other entry.
	Unread bool
	// Approved are hosts and addresses that the person approved for this run alone. Unreadable ones are left out.
	Approved []string
	// Leases are secrets for requests to their hosts, which they approve.
	Leases []Lease
	// SSH is how the command signs in at servers among these entries. Without known hosts no entry with their port
	// counts, so they ask.
	SSH SSH
	// Decide judges a call of the session, like umpire check.
	Decide func(context.Context, umpire.Call) (umpire.Decision, error)
	// Ask asks the person about a destination, as [Proxy.Ask] does. nil says no.
	Ask func(context.Context, Destination, Reason) bool
}

// NewProxy returns a proxy for a command's way out, within the person's rules. It returns nil if the way leads nowhere.
// An error is one of ParseList about Listed.
func NewProxy(w Way) (*Proxy, error) {
	if w.Network == umpire.NetworkAsk {
		w.Listed, w.Ask = nil, nil
	}
	list, err := ParseList(w.Listed)
	if err != nil {
		return nil, err
	}
	list = w.withoutServers(list)
	for i := range list.entries {
		e := &list.entries[i]
		e.Unread = e.Unread || w.Unread
	}
	var approved List
	for _, text := range w.Approved {
		if e, err := parseEntry(text); err == nil { // the name of a group is not a host
			e.Quota, e.run = approvedQuota, true
			approved.entries = append(approved.entries, e)
		}
	}
	approved = w.withoutServers(approved)
	list.entries = append(list.entries, approved.entries...)
	if len(list.entries)+len(w.Leases) == 0 && w.Ask == nil {
		return nil, nil //nolint:nilnil // a command without a way out is usual
	}
	p := &Proxy{List: list, leases: activate(w.Leases), keys: newKeyring(w.SSH, list), Ask: w.Ask, Judge: func(
		ctx context.Context, d Destination, e Entry, why Reason,
	) umpire.Verdict {
		decision := w.judgeCall(ctx, umpire.ConnectTool, "url", d.URL())
		_, approved := approved.Finds(d)
		switch verdict := decision.Verdict; {
		case verdict == umpire.Ask && approved:
			return umpire.Allow
		case verdict == umpire.Ask && why == 0:
			return w.judgeListed(ctx, d, e)
		case verdict == umpire.Allow && why > NotListed && decision.Rule == nil: // by the entry, which does not suffice
			return umpire.Ask
		default:
			return verdict
		}
	}}
	if p.keys != nil {
		p.keys.record = p.record
	}
	return p, nil
}

// withoutServers returns the entries that count if the command can't sign in at servers.
func (w *Way) withoutServers(list List) List {
	if w.SSH.KnownHosts == nil {
		list.entries = slices.DeleteFunc(list.entries, func(e Entry) bool { return e.port == portSSH })
	}
	return list
}

// approvedQuota is the number of bytes that a command may send to a destination that was approved for its run.
const approvedQuota = 64 << 20

// judgeListed decides about a destination with an entry. A lease approves its requests, and groups that only serve
// files need no approval. Any other entry is reached under NetworkListed, or after it was approved in the session.
func (w *Way) judgeListed(ctx context.Context, d Destination, e Entry) umpire.Verdict {
	if w.Network == umpire.NetworkOnce && !e.leased && (e.Group == "" || e.Unread) {
		return w.judgeCall(ctx, "Bash", "command", "curl "+d.URL()).Verdict
	}
	decision := w.judgeCall(ctx, "WebFetch", "url", d.URL())
	_, byAddress := d.address() // which asks unless it is listed itself
	unruled := decision.Verdict == umpire.Ask && decision.Rule == nil
	if unruled && (e.leased || byAddress && w.Network == umpire.NetworkListed) {
		return umpire.Allow
	}
	return decision.Verdict
}

// judgeCall decides about a call of a tool. An error denies. A denial because no person can be asked asks: earlier
// answers may settle it.
func (w *Way) judgeCall(ctx context.Context, tool, field, value string) umpire.Decision {
	input, err := json.Marshal(map[string]string{field: value})
	if err != nil {
		return umpire.Decision{}
	}
	decision, err := w.Decide(ctx, umpire.Call{Tool: tool, Input: input})
	if err != nil {
		return umpire.Decision{}
	}
	if decision.ReasonCode == umpire.CodeAutoDeny {
		decision.Verdict = umpire.Ask
	}
	return decision
}

// URL returns the address of a page at the destination.
func (d Destination) URL() string {
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
