package egress

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/umpirehq/umpire"
)

// SSH is how a person signs in at servers. Without known hosts no server is reached by SSH, and without an agent a
// command has no key for one.
type SSH struct {
	Agent      string   // the socket of the person's agent, or ""
	KnownHosts []string // files with the keys of hosts
}

// portSSH is the port of servers that are reached only if their key is pinned.
const portSSH = 22

// A keyring lets a command sign in at the servers that it is connected to, with the keys of the person's agent, which
// it never gets. It signs nothing else. A nil one lets no command sign in.
type keyring struct {
	agent  string
	known  []knownHost
	record func(Connection)

	serving sync.WaitGroup

	mu      sync.Mutex
	visited []*visit
	shown   *os.File // the known_hosts file of the command, to which the hosts that it reaches are added
	text    []string // of that file
	seenAs  string   // the folder in which the command finds its files
}

// A visit is a connection of the command to a server with pinned keys, while it lasts.
type visit struct {
	pinned

	uses []umpire.SecretUse
}

// newKeyring returns the keyring of a command, or nil if its list has no server.
func newKeyring(s SSH, list List) *keyring {
	var known []knownHost
	servers := false
	for _, e := range list.entries {
		if e.port == 0 || (Destination{Port: e.port}).web() {
			continue
		}
		if known == nil {
			known = readKnownHosts(s.KnownHosts)
		}
		_, found := pin(known, Destination{e.host, e.port})
		servers = servers || found || e.port == portSSH
	}
	if !servers {
		return nil
	}
	return &keyring{agent: s.Agent, known: known}
}

// visitHost begins a visit to a destination, before anything leaves for it, and shows the command the pinned keys. It
// returns nil for a destination of another kind, and refuses the port of SSH of a host without a pinned key.
func (k *keyring) visitHost(d Destination) (*visit, Reason) {
	if k == nil {
		return nil, 0
	}
	host, found := pin(k.known, d)
	if !found && d.Port == portSSH {
		return nil, NoHostKey
	}
	if !found || d.web() {
		return nil, 0
	}
	v := &visit{pinned: host}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.visited = append(k.visited, v)
	if text := string(host.knownHosts()); k.shown != nil && !slices.Contains(k.text, text) {
		k.text = append(k.text, text)
		_, _ = k.shown.WriteString(text) // without it, the command does not trust the host
	}
	return v, 0
}

// leaveHost ends a visit, and returns the signatures for it.
func (k *keyring) leaveHost(v *visit) []umpire.SecretUse {
	if k == nil || v == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.visited = slices.DeleteFunc(k.visited, func(other *visit) bool { return other == v })
	return v.uses
}

// Names of the files that a command finds in its folder.
const (
	furnishedFolder = ".umpire"
	authoritiesName = "authorities.pem"
	knownHostsName  = "known_hosts"
	agentName       = "agent"
)

// Furnish puts the files that the command needs on its way into a folder, which it sees as another. It returns the
// variables by which programs find them. An agent is served until ctx ends.
func (p *Proxy) Furnish(ctx context.Context, folder, seenAs string) (env []string, err error) {
	folder, seenAs = filepath.Join(folder, furnishedFolder), filepath.Join(seenAs, furnishedFolder)
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, err
	}
	bundle := ""
	authorities, err := p.Authorities()
	if err == nil && authorities != nil {
		bundle = filepath.Join(seenAs, authoritiesName)
		err = os.WriteFile(filepath.Join(folder, authoritiesName), authorities, 0o600)
	}
	if err != nil {
		return nil, err
	}
	env = append(Variables(bundle), p.Placeholders()...)
	if p.keys == nil {
		return env, nil
	}
	if err := p.keys.furnish(ctx, folder, seenAs); err != nil {
		return nil, err
	}
	return append(env, "SSH_AUTH_SOCK="+filepath.Join(seenAs, agentName)), nil
}

// furnish makes the known_hosts file of a command, and serves its agent until ctx ends.
func (k *keyring) furnish(ctx context.Context, folder, seenAs string) error {
	const made = os.O_CREATE | os.O_EXCL | os.O_APPEND | os.O_WRONLY
	shown, err := os.OpenFile(filepath.Join(folder, knownHostsName), made, 0o600)
	if err != nil {
		return err
	}
	at, err := os.Open(folder)
	if err != nil {
		return errors.Join(err, shown.Close())
	}
	// The name of a socket is short, and that of the folder may be long.
	name := filepath.Join("/proc/self/fd", strconv.Itoa(int(at.Fd())), agentName)
	listener, err := new(net.ListenConfig).Listen(ctx, "unix", name)
	if err != nil {
		return errors.Join(err, shown.Close(), at.Close())
	}
	k.mu.Lock()
	k.shown, k.text, k.seenAs = shown, nil, seenAs
	k.mu.Unlock()
	k.serving.Go(func() {
		<-ctx.Done()
		_ = errors.Join(listener.Close(), shown.Close(), at.Close()) // the command has ended
	})
	k.serving.Go(func() { k.accept(ctx, listener) })
	return nil
}

// sshSettings is the file of settings that all programs of OpenSSH read.
const sshSettings = "/etc/ssh/ssh_config"

// settings returns the text of sshSettings for the command. The machine's own settings are not part of it: ssh refuses
// files that they include, because these belong to another user in the command's namespace.
func (k *keyring) settings() string {
	const text = `StrictHostKeyChecking yes
GlobalKnownHostsFile /dev/null
CheckHostIP no
UpdateHostKeys no
`
	return text + "UserKnownHostsFile " + filepath.Join(k.seenAs, knownHostsName) + "\nIdentityAgent " +
		filepath.Join(k.seenAs, agentName) + "\n"
}
