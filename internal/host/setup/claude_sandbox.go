package setup

import (
	"slices"
	"strconv"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/docedit"
)

// proxyPorts are the settings by which Claude Code's sandbox connects through a proxy on this machine. It then leaves
// the choice of hosts to the proxy.
var proxyPorts = []string{"httpProxyPort", "socksProxyPort"}

// sandboxNetwork is the object of those settings.
var sandboxNetwork = []string{"sandbox", "network"}

// A SandboxPort is such a setting in a file, with its value as written.
type SandboxPort struct {
	Key, Port string
	Line      int
}

// ClaudeSandbox reports whether a settings file of Claude Code turns its sandbox on, and returns the ports of its
// proxies. One that cannot be read does neither.
func ClaudeSandbox(settings []byte) (on bool, ports []SandboxPort) {
	d, err := openJSON(settings)
	if err != nil {
		return false, nil
	}
	network := d.Root.At(sandboxNetwork...)
	for _, name := range proxyPorts {
		if v := network.At(name); v.Parent != nil {
			ports = append(ports, SandboxPort{"sandbox.network." + name, v.Text, v.Line})
		}
	}
	return isTrue(d.Root.At("sandbox", "enabled")), ports
}

// WithProxy returns the settings of Claude Code in which its sandbox connects through a port besides. Install never
// replaces another value, and Uninstall removes only this one.
func (s Settings) WithProxy(port string) Settings {
	if hooks, is := s.format.(hookList); is {
		s.format = proxied{hooks, port}
	}
	return s
}

// A proxied file has the ports of a proxy besides the hooks.
type proxied struct {
	hookList

	port string
}

func (p proxied) install(text []byte, hostName string, h Hook) ([]byte, error) {
	text, err := p.hookList.install(text, hostName, h)
	if err != nil {
		return nil, err
	}
	d, err := openJSON(text)
	for _, name := range proxyPorts {
		if err == nil {
			d, err = p.add(d, append(slices.Clone(sandboxNetwork), name))
		}
	}
	if err != nil {
		return nil, err
	}
	return d.Bytes(), nil
}

// add adds the port at a path, with the objects that are missing.
func (p proxied) add(d *docedit.Doc, path []string) (*docedit.Doc, error) {
	number, err := strconv.ParseUint(p.port, 10, 16)
	if err != nil {
		return nil, err
	}
	var value any = number
	at := d.Root
	for i, key := range path {
		next, err := at.Member(key)
		switch {
		case err != nil:
			return nil, err
		case next == nil:
			for _, inner := range slices.Backward(path[i+1:]) {
				value = map[string]any{inner: value}
			}
			return d.Append(at, key, value)
		case i < len(path)-1:
			if err := next.Want(docedit.Object); err != nil {
				return nil, next.Fault(umpire.Errorf("%s: %w", key, err))
			}
		case next.Kind != docedit.Number || next.Text != p.port:
			return nil, next.Fault(umpire.Errorf("%s is %s already, which umpire does not replace", key, next.Text))
		}
		at = next
	}
	return d, nil
}

func (p proxied) uninstall(text []byte, hostName string) ([]byte, error) {
	text, err := p.hookList.uninstall(text, hostName)
	if err != nil {
		return nil, err
	}
	for _, name := range proxyPorts {
		d, err := openJSON(text)
		if err != nil {
			return nil, err
		}
		at := d.Root.At(append(slices.Clone(sandboxNetwork), name)...)
		if at.Kind != docedit.Number || at.Text != p.port {
			continue
		}
		for of := at.Parent; of.Parent != nil && len(of.Items) == 1; of = of.Parent {
			at = of
		}
		if d, err = d.Delete(at); err != nil {
			return nil, err
		}
		text = d.Bytes()
	}
	return text, nil
}
