package egress

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// Messages of the agent protocol.
const (
	agentList   = 11
	agentSign   = 13
	agentSigned = 14
	agentExtend = 27
)

// keyAttacks are ways to get a signature of the person's key for something else than signing in at the listed server.
var keyAttacks = map[string]func(){
	"no session": func() { signFor(dialAgent(), authFor(make([]byte, 32), "publickey")) },
	"session of nobody": func() {
		conn, session := dialAgent(), make([]byte, 32)
		bindTo(conn, madeBinding(session, false))
		signFor(conn, authFor(session, "publickey"))
	},
	"false signature": func() { atServer(func(genuine []byte) { replay(changed(genuine, -2)) }) },
	"other session": func() {
		atServer(func(genuine []byte) { signFor(dialBound(genuine), authFor(make([]byte, 32), "publickey")) })
	},
	"other key in the binding": func() {
		atServer(func(genuine []byte) { replay(withHostKey(genuine)) })
	},
	"forwarded session": func() { atServer(func(genuine []byte) { replay(changed(genuine, -1)) }) },
	"other host in the data": func() {
		atServer(func(genuine []byte) { signFor(dialBound(genuine), authFor(sessionOf(genuine), "hostbound")) })
	},
	"other method": func() {
		atServer(func(genuine []byte) { signFor(dialBound(genuine), authFor(sessionOf(genuine), "hostbased")) })
	},
	"commit": func() {
		atServer(func(genuine []byte) {
			signFor(dialBound(genuine), []byte("SSHSIG\x00\x00\x00\x03git\x00\x00\x00\x00\x00\x00\x00\x06sha512\x00\x00\x00\x00"))
		})
	},
	"second session": func() {
		atServer(func(genuine []byte) {
			conn, session := dialBound(genuine), make([]byte, 32)
			bindTo(conn, madeBinding(session, false))
			signFor(conn, authFor(session, "publickey"))
		})
	},
	"after a refusal": func() {
		atServer(func(genuine []byte) {
			conn := dialAgent()
			bindTo(conn, changed(genuine, -1))
			bindTo(conn, genuine)
			signFor(conn, authFor(sessionOf(genuine), "publickey"))
		})
	},
	"after the session": func() {
		var kept []byte
		atServer(func(genuine []byte) { kept = genuine })
		time.Sleep(time.Second) // the proxy notices the end of the connection
		replay(kept)
	},
	"signed file": func() { // ssh-keygen asks for no signature, because the agent shows it no key
		bindTo(dialAgent(), []byte{agentExtend})
		_ = os.WriteFile("key.pub", ssh.MarshalAuthorizedKey(personKey()), 0o600)
		for _, kind := range []string{"git", "file"} {
			cmd := exec.Command("ssh-keygen", "-Y", "sign", "-n", kind, "-f", "key.pub")
			cmd.Stdin = strings.NewReader("text")
			if out, err := cmd.CombinedOutput(); err == nil {
				fmt.Printf("got a signature: %s\n", out)
			}
		}
	},
	"other requests": func() {
		for kind := range 256 {
			if kind != agentList {
				conn := dialAgent()
				if answer := tell(conn, append([]byte{byte(kind)}, make([]byte, 40)...)); answer[0] != 5 {
					fmt.Println("got a signature or more:", answer)
				}
			}
		}
	},
	"long messages": func() {
		conn := dialAgent()
		_, _ = conn.Write([]byte{0xff, 0xff, 0xff, 0xff, agentSign})
		_, _ = io.Copy(io.Discard, conn)
		signFor(dialAgent(), make([]byte, 200<<10))
	},
	"many clients": func() {
		var all []net.Conn
		for range 300 {
			if conn, err := net.Dial("unix", os.Getenv("SSH_AUTH_SOCK")); err == nil {
				all = append(all, conn)
			}
		}
		for _, conn := range all {
			conn.Close()
		}
		time.Sleep(time.Second)
		signFor(dialAgent(), nil)
	},
}

// binding is the extension that binds a connection to a session.
type binding struct {
	Name      string `sshtype:"27"`
	HostKey   []byte
	Session   []byte
	Signature []byte
	Forwarded bool
}

func dialAgent() net.Conn {
	conn, err := net.Dial("unix", os.Getenv("SSH_AUTH_SOCK"))
	if err != nil {
		fmt.Println("could not reach the agent:", err)
		os.Exit(1)
	}
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	return conn
}

// tell sends a message to an agent, and returns the answer.
func tell(conn net.Conn, message []byte) []byte {
	_, _ = conn.Write(ssh.Marshal(struct{ M []byte }{message}))
	answer, err := hear(conn)
	if err != nil {
		return []byte{5}
	}
	return answer
}

func hear(from io.Reader) ([]byte, error) {
	size := make([]byte, 4)
	if _, err := io.ReadFull(from, size); err != nil {
		return nil, err
	}
	message := make([]byte, int(size[1])<<16|int(size[2])<<8|int(size[3]))
	_, err := io.ReadFull(from, message)
	return message, err
}

// signFor asks for a signature by the person's key.
func signFor(conn net.Conn, data []byte) {
	answer := tell(conn, ssh.Marshal(struct {
		Key   []byte `sshtype:"13"`
		Data  []byte
		Flags uint32
	}{Key: personKey().Marshal(), Data: data}))
	if answer[0] == agentSigned {
		fmt.Println("got a signature")
	}
}

// bindTo reports whether an agent accepts a binding.
func bindTo(conn net.Conn, message []byte) bool { return tell(conn, message)[0] == 6 }

// dialBound connects to the agent with a binding that it has to accept.
func dialBound(genuine []byte) net.Conn {
	conn := dialAgent()
	if !bindTo(conn, genuine) {
		fmt.Println("could not bind")
	}
	return conn
}

// replay tries a binding that the agent must not accept, and asks for a signature to sign in to its session.
func replay(message []byte) {
	conn := dialAgent()
	if bindTo(conn, message) {
		fmt.Println("wrong: the agent accepts the binding")
	}
	signFor(conn, authFor(sessionOf(message), "publickey"))
}

// authFor is the data that a client signs to sign in. With the method "hostbound" it names another host.
func authFor(session []byte, method string) []byte {
	var rest []byte
	if method == "hostbound" {
		method, rest = "publickey-hostbound-v00@openssh.com", ssh.Marshal(struct{ K []byte }{newKey().PublicKey().Marshal()})
	}
	return ssh.Marshal(struct {
		Session               []byte
		Type                  byte
		User, Service, Method string
		Signed                bool
		Algorithm             string
		Key                   []byte
		Rest                  []byte `ssh:"rest"`
	}{session, 50, "root", "ssh-connection", method, true, "ssh-ed25519", personKey().Marshal(), rest})
}

func newKey() ssh.Signer {
	_, private, _ := ed25519.GenerateKey(rand.Reader)
	signer, _ := ssh.NewSignerFromKey(private)
	return signer
}

// madeBinding is one by a key of the attacker's.
func madeBinding(session []byte, forwarded bool) []byte {
	host := newKey()
	signature, _ := host.Sign(rand.Reader, session)
	return ssh.Marshal(binding{"session-bind@openssh.com", host.PublicKey().Marshal(), session, ssh.Marshal(signature), forwarded})
}

// changed changes a byte before the end of a message.
func changed(message []byte, at int) []byte {
	message = slices.Clone(message)
	message[len(message)+at] ^= 1
	return message
}

// withHostKey names another host in a binding.
func withHostKey(message []byte) []byte {
	var b binding
	_ = ssh.Unmarshal(message, &b)
	b.HostKey = newKey().PublicKey().Marshal()
	return ssh.Marshal(b)
}

func sessionOf(message []byte) []byte {
	var b binding
	_ = ssh.Unmarshal(message, &b)
	return b.Session
}

// personKey is the key of the person, of which an attacker may know the public half.
func personKey() ssh.PublicKey {
	var raw []byte
	atServer(func(genuine []byte) {
		conn := dialBound(genuine)
		var listed struct {
			Count uint32 `sshtype:"12"`
			Key   []byte
			Rest  []byte `ssh:"rest"`
		}
		if ssh.Unmarshal(tell(conn, []byte{agentList}), &listed) != nil {
			fmt.Println("could not list keys")
		}
		raw = listed.Key
	})
	key, err := ssh.ParsePublicKey(raw)
	if err != nil {
		fmt.Println("could not read the key:", err)
		os.Exit(1)
	}
	return key
}

// atServer has ssh connect to the listed server with an agent of the attacker's, and calls do with the binding that it
// gets while the connection lasts.
func atServer(do func(genuine []byte)) {
	name := fmt.Sprintf("/tmp/%x", sha256.Sum256(fmt.Append(nil, time.Now())))[:20]
	listener, err := net.Listen("unix", name)
	if err != nil {
		fmt.Println("could not listen:", err)
		os.Exit(1)
	}
	defer listener.Close()
	cmd := exec.Command("ssh", "-o", "IdentityAgent="+name, "root@"+listedServer, "true")
	if err := cmd.Start(); err != nil {
		fmt.Println("could not start ssh:", err)
		os.Exit(1)
	}
	defer func() { _ = cmd.Wait() }()
	conn, err := listener.Accept()
	if err != nil {
		return
	}
	defer conn.Close()
	genuine, err := hear(conn)
	if err != nil || genuine[0] != agentExtend {
		fmt.Println("could not get a binding:", err, genuine)
		return
	}
	do(genuine)
}
