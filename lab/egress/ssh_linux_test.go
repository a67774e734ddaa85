package egress

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/sys/unix"
)

// Servers of SSH: the listed one, a listed one that knows no host-bound signatures, one whose key is pinned but which is
// not listed, one with another key than the pinned one, and one without a pinned key.
const (
	listedServer  = "ssh.example.org"
	plainServer   = "plain.example.org"
	pinnedServer  = "other.example.org"
	falseServer   = "fake.example.org"
	unknownServer = "new.example.org"
)

// servers runs ssh and git in trials that may reach one server with the key of a person's agent.
func servers(t *testing.T, n *internet) {
	for _, program := range []string{"/usr/sbin/sshd", "ssh", "ssh-agent", "ssh-add", "ssh-keygen"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("there is no %s; install openssh-server and openssh-client", program)
		}
	}
	must(t, unix.Mount("tmpfs", "/run", "tmpfs", 0, "mode=0755"))
	t.Cleanup(func() { must(t, unix.Unmount("/run", unix.MNT_DETACH)) })
	must(t, os.Mkdir("/run/sshd", 0o755)) // sshd gives up its rights there
	repository := makeRepository(t, "shell.git")
	p := newPerson(t, n, listedServer+":22, "+plainServer+":22, "+falseServer+":22, "+unknownServer+":22")
	signed := p.keepKeys(t)
	keys := filepath.Join(p.home, ".ssh")
	known := ""
	for i, name := range []string{listedServer, pinnedServer, falseServer, unknownServer} {
		address := fmt.Sprintf("151.101.0.%d", 20+i)
		n.host(name, address, nil)
		kind := []string{"rsa", "ecdsa", "ed25519", "ed25519"}[i]
		public := n.serveShells(t, address, kind, filepath.Join(keys, "id_ed25519.pub"))
		switch name {
		case falseServer:
			known += name + " " + readText(t, filepath.Join(keys, "id_ed25519.pub"))
		case listedServer, pinnedServer:
			known += name + " " + public
		}
	}
	n.host(plainServer, "151.101.0.30", nil)
	known += plainServer + " " + n.servePlainly(t, "151.101.0.30", readText(t, filepath.Join(keys, "id_ed25519.pub")))
	must(t, os.WriteFile(filepath.Join(keys, "known_hosts"), []byte(known), 0o600))
	runIn(t, keys, "ssh-keygen", "-q", "-H", "-f", "known_hosts")
	t.Run("without an approval", func(t *testing.T) {
		n.forget()
		out, code := p.run(t, "try", "--discard", "--", "ssh root@"+listedServer+" true")
		if code != 255 || !strings.Contains(out, "It wants "+listedServer+":22") || signed.Load() > 0 {
			t.Errorf("exit code %d\n%s", code, out)
		}
		n.quiet(t)
	})
	replaceIn(t, filepath.Join(p.home, ".umpire", "config.yaml"), "network: once", "network: listed")
	url := "root@" + listedServer + ":" + repository
	for _, tt := range []struct {
		line    string
		code    int
		signs   int
		reaches []string
		says    string
	}{
		{"ssh root@" + listedServer + " echo from the server", 0, 1, []string{listedServer}, "from the server"},
		{"ssh me@" + plainServer + " x", 0, 1, []string{plainServer}, "welcome me"},
		{"git clone -q " + url + " cloned && git -C cloned log --oneline", 0, 1, []string{listedServer}, "SSH key SHA256:"},
		{
			"git clone -q " + url + " cloned && cd cloned && git -c user.name=a -c user.email=a@example.com commit -q " +
				"--allow-empty -m two && git push -q origin main", 0, 2, []string{listedServer}, "SSH key SHA256:",
		},
		{"scp -q root@" + listedServer + ":" + repository + "/HEAD head && cat head", 0, 1, []string{listedServer}, "refs/heads/main"},
		{"ssh-add -l", 1, 0, nil, "no identities"},
		{"ls -a ~/.ssh ~root/.ssh", 2, 0, nil, ""},
		{"cat ~/.ssh/id_ed25519 ~/.ssh/known_hosts", 1, 0, nil, ""},
		{"ssh root@" + unknownServer + " true", 255, 0, nil, "Refused: " + unknownServer + ":22 (your known_hosts files have no key of it"},
		{"ssh root@" + falseServer + " true", 255, 0, []string{falseServer}, "Host key verification failed"},
		{
			"ssh -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null root@" + falseServer + " true", 255, 0,
			[]string{falseServer}, "Refused: SSH agent",
		},
		{"ssh root@" + pinnedServer + " true", 255, 0, nil, "It wants " + pinnedServer + ":22"},
		// The listed server may pass a connection on, but gets no signature for another one.
		{
			"ssh -o StrictHostKeyChecking=no -J root@" + listedServer + " root@" + pinnedServer + " true", 255, 1,
			[]string{listedServer, pinnedServer}, "",
		},
		{
			"ssh -A root@" + listedServer + " 'ssh-add -L; ssh -o StrictHostKeyChecking=no root@" + pinnedServer + " true'", 255, 1,
			[]string{listedServer, pinnedServer}, "Refused: SSH agent (",
		},
		{"ssh-add -D; ssh-add -x </dev/null; ssh-keygen -q -N '' -t ed25519 -f k && ssh-add k", 1, 0, nil, "Refused: SSH agent"},
	} {
		t.Run(tt.line, func(t *testing.T) {
			n.forget()
			signed.Store(0)
			out, code := p.run(t, "try", "--discard", "--", tt.line)
			if code != tt.code || !strings.Contains(out, tt.says) || int(signed.Load()) != tt.signs {
				t.Errorf("exit code %d, want %d; %d signatures, want %d\n%s", code, tt.code, signed.Load(), tt.signs, out)
			}
			n.quiet(t, tt.reaches...)
		})
	}
	if log, err := exec.CommandContext(t.Context(), "git", "-C", repository, "log", "--oneline").Output(); err != nil ||
		!strings.Contains(string(log), "two") {
		t.Errorf("nothing was pushed: %s, %v", log, err)
	}
	// The changes of a command that asked for something else are not kept unasked.
	out, _ := p.run(t, "try", "--json", "--", "ssh-add -D; touch left")
	if decision := out[strings.Index(out, `"decision"`):]; !strings.Contains(out, `"kind":"secret"`) ||
		!strings.Contains(decision, `"verdict":"ask"`) {
		t.Error(out)
	}
	p.attackKeys(t, signed)
}

// attackKeys runs the attacks on the agent. Each may sign in once, and get no other signature.
func (p *person) attackKeys(t *testing.T, signed *atomic.Int32) {
	t.Helper()
	program, err := os.ReadFile("/proc/self/exe")
	must(t, err)
	must(t, os.WriteFile(filepath.Join(p.project, attacker), program, 0o755))
	for _, name := range slices.Sorted(maps.Keys(keyAttacks)) {
		t.Run(name, func(t *testing.T) {
			p.internet.forget()
			signed.Store(0)
			out, code := p.run(t, "try", "--discard", "--", "./"+attacker+" '"+name+"'")
			if code != 0 || !strings.Contains(out, "attacked") || !strings.Contains(out, "Refused: SSH ") ||
				strings.Contains(out, "got a signature") || strings.Contains(out, "could not") || strings.Contains(out, "wrong") || signed.Load() > 0 {
				t.Errorf("exit code %d, %d signatures\n%s", code, signed.Load(), out)
			}
			p.internet.quiet(t, listedServer)
		})
	}
	t.Logf("figure: egress: %d attacks on an SSH agent, 0 signatures: %t", len(keyAttacks), !t.Failed())
}

// keepKeys gives the person a key in an agent, and counts its signatures.
func (p *person) keepKeys(t *testing.T) (signed *atomic.Int32) {
	t.Helper()
	keys, sockets := filepath.Join(p.home, ".ssh"), t.TempDir()
	must(t, os.Mkdir(keys, 0o700))
	runIn(t, keys, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "person@laptop", "-f", "id_ed25519")
	agent := filepath.Join(sockets, "a")
	cmd := exec.Command("ssh-agent", "-D", "-a", agent)
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for { // until it listens
		add := exec.CommandContext(t.Context(), "ssh-add", "-q", filepath.Join(keys, "id_ed25519"))
		add.Env = append(os.Environ(), "SSH_AUTH_SOCK="+agent)
		if err := add.Run(); err == nil {
			break
		}
		must(t, t.Context().Err())
	}
	p.agent, signed = filepath.Join(sockets, "p"), new(atomic.Int32)
	listener, err := new(net.ListenConfig).Listen(t.Context(), "unix", p.agent)
	must(t, err)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			other, err := net.Dial("unix", agent)
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(other, client); other.Close() }()
			go func() { countSignatures(client, other, signed); client.Close() }()
		}
	}()
	return signed
}

// countSignatures passes the answers of an agent on.
func countSignatures(to io.Writer, from io.Reader, signed *atomic.Int32) {
	for {
		head := make([]byte, 4)
		if _, err := io.ReadFull(from, head); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(head))
		if _, err := io.ReadFull(from, body); err != nil {
			return
		}
		if body[0] == agentSigned {
			signed.Add(1)
		}
		if _, err := to.Write(slices.Concat(head, body)); err != nil {
			return
		}
	}
}

// serveShells serves SSH at an address to those with a key, and returns the key of the server.
func (n *internet) serveShells(t *testing.T, address, kind, authorized string) (public string) {
	t.Helper()
	dir := t.TempDir()
	runIn(t, dir, "ssh-keygen", "-q", "-t", kind, "-N", "", "-f", "host")
	settings := filepath.Join(dir, "sshd_config")
	must(t, os.WriteFile(settings, []byte("HostKey "+dir+"/host\nAuthorizedKeysFile "+authorized+"\nStrictModes no\n"+
		"PermitRootLogin yes\nUsePAM no\nPasswordAuthentication no\nSubsystem sftp internal-sftp\n"), 0o600))
	listener := listen(t, address+":22")
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			n.note(func() { n.opened[conn.LocalAddr().String()]++ })
			f, err := conn.(*net.TCPConn).File()
			conn.Close()
			if err != nil {
				return
			}
			cmd := exec.Command("/usr/sbin/sshd", "-i", "-f", settings, "-E", filepath.Join(dir, "log"))
			cmd.Stdin, cmd.Stdout = f, f
			go func() { _ = cmd.Run(); f.Close() }()
		}
	}()
	return readText(t, filepath.Join(dir, "host.pub"))
}

// servePlainly serves SSH at an address with the library of Go, like some forges, and returns the key of the server.
func (n *internet) servePlainly(t *testing.T, address, authorized string) (public string) {
	t.Helper()
	host, key := newKey(), strings.Fields(authorized)[1]
	config := &ssh.ServerConfig{PublicKeyCallback: func(_ ssh.ConnMetadata, k ssh.PublicKey) (*ssh.Permissions, error) {
		if base64.StdEncoding.EncodeToString(k.Marshal()) != key {
			return nil, errors.New("another key")
		}
		return nil, nil //nolint:nilnil // no permissions are limited
	}}
	config.AddHostKey(host)
	listener := listen(t, address+":22")
	t.Cleanup(func() { listener.Close() })
	welcome := func(conn net.Conn) {
		defer conn.Close()
		server, channels, requests, err := ssh.NewServerConn(conn, config)
		if err != nil {
			return
		}
		go ssh.DiscardRequests(requests)
		for asked := range channels {
			channel, requests, err := asked.Accept()
			if err != nil {
				return
			}
			for r := range requests {
				_ = r.Reply(r.Type == "exec", nil)
				if r.Type == "exec" {
					fmt.Fprintln(channel, "welcome", server.User())
					_, _ = channel.SendRequest("exit-status", false, make([]byte, 4))
					channel.Close()
				}
			}
		}
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			n.note(func() { n.opened[conn.LocalAddr().String()]++ })
			go welcome(conn)
		}
	}()
	return string(ssh.MarshalAuthorizedKey(host.PublicKey()))
}

func readText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	must(t, err)
	return string(text)
}

func replaceIn(t *testing.T, name, was, is string) {
	t.Helper()
	must(t, os.WriteFile(name, []byte(strings.Replace(readText(t, name), was, is, 1)), 0o600))
}

func runIn(t *testing.T, dir, program string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", program, args, err, out)
	}
}
