package egress

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/umpirehq/umpire"
)

// Messages of the agent protocol, draft-ietf-sshm-ssh-agent, and of OpenSSH's PROTOCOL.agent.
const (
	agentFailure = 5
	agentSuccess = 6
	agentList    = 11
	agentSign    = 13
	agentSigned  = 14
	agentBind    = "session-bind@openssh.com"

	signIn      = 50 // SSH_MSG_USERAUTH_REQUEST, RFC 4252
	signInFor   = "ssh-connection"
	byKey       = "publickey"
	byKeyToHost = "publickey-hostbound-v00@openssh.com"
)

// The limits of a command's agent.
const (
	maxAgentMessage = 256 << 10 // as in OpenSSH
	maxAgentClients = 64        // at once
	minSession      = 20        // bytes of the hash that identifies a session
	maxSession      = 64
	maxUser         = 64 // bytes of a user's name that are recorded
)

// A binding says that a session belongs to a host, whose key has signed that.
type binding struct {
	Extension string `sshtype:"27"`
	HostKey   []byte
	Session   []byte
	Signature []byte
	Forwarded bool
}

type signRequest struct {
	Key   []byte `sshtype:"13"`
	Data  []byte
	Flags uint32
}

// An authRequest is the data that a client signs to sign in.
type authRequest struct {
	Session   []byte
	Type      byte
	User      string
	Service   string
	Method    string
	Signed    bool
	Algorithm string
	Key       []byte
	Rest      []byte `ssh:"rest"` // the key of the host, for some methods
}

type identities struct {
	Count uint32 `sshtype:"12"`
	Rest  []byte `ssh:"rest"`
}

type identity struct {
	Key     []byte
	Comment string
	Rest    []byte `ssh:"rest"`
}

// accept serves the clients of an agent until its listener is closed.
func (k *keyring) accept(ctx context.Context, listener net.Listener) {
	places := make(chan struct{}, maxAgentClients)
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		select {
		case places <- struct{}{}:
		default:
			_ = conn.Close() // one client too many
			continue
		}
		k.serving.Go(func() {
			k.serveClient(ctx, conn)
			<-places
		})
	}
}

// An agentClient is a connection of the command to its agent. It is bound to one session at most.
type agentClient struct {
	keys    *keyring
	agent   net.Conn // the person's, once it is needed
	hangUp  func()   // closes it
	to      Destination
	host    ssh.PublicKey // of the destination; nil without a session
	session []byte
	spoiled bool // a binding was refused, and no other is accepted
}

// serveClient answers a client until it hangs up, or ctx ends.
func (k *keyring) serveClient(ctx context.Context, conn net.Conn) {
	c := &agentClient{keys: k}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	defer func() {
		_ = conn.Close() // all answers are written
		if c.agent != nil {
			c.hangUp()
		}
	}()
	for {
		request, err := readMessage(conn)
		if err != nil {
			return
		}
		if writeMessage(conn, c.respond(ctx, request)) != nil {
			return
		}
	}
}

var errLongMessage = errors.New("long-message")

// readMessage reads a message of the agent protocol. It is never empty.
func readMessage(from io.Reader) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(from, size[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n == 0 || n > maxAgentMessage {
		return nil, errLongMessage
	}
	message := make([]byte, n)
	_, err := io.ReadFull(from, message)
	return message, err
}

func writeMessage(to io.Writer, message []byte) error {
	_, err := to.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message...))
	return err
}

// respond answers a request. It refuses and records all but listing keys, binding a session, and signing in.
func (c *agentClient) respond(ctx context.Context, request []byte) []byte {
	var (
		bind binding
		sign signRequest
	)
	switch {
	case len(request) == 1 && request[0] == agentList:
		return c.listKeys(ctx)
	case ssh.Unmarshal(request, &bind) == nil && bind.Extension == agentBind:
		if c.bind(&bind) {
			_, _ = c.ask(ctx, ssh.Marshal(bind)) // an agent that knows no sessions refuses, and signs all the same
			return []byte{agentSuccess}
		}
		c.host, c.spoiled = nil, true
	case ssh.Unmarshal(request, &sign) == nil:
		if answer := c.sign(ctx, &sign); answer != nil {
			return answer
		}
		c.refuseRequest(keyName + fingerprint(sign.Key))
		return []byte{agentFailure}
	}
	c.refuseRequest(agentWord)
	return []byte{agentFailure}
}

// refuseRequest records a request that is refused: one for a signature by the name of the key.
func (c *agentClient) refuseRequest(name string) {
	c.keys.record(Connection{Destination: c.to, Began: time.Now(), Reason: MisplacedSecret, Misplaced: name})
}

// Names in records: of the agent, and of a key, before its fingerprint.
const (
	agentWord = "SSH agent"
	keyName   = "SSH key "
)

// fingerprint returns that of a key, or of the key that a certificate is about.
func fingerprint(raw []byte) string {
	key, err := ssh.ParsePublicKey(raw)
	if err != nil {
		return unknownTarget
	}
	if certificate, is := key.(*ssh.Certificate); is {
		key = certificate.Key
	}
	return ssh.FingerprintSHA256(key)
}

// bind reports whether a host that the command is connected to has proved that the session is its own.
func (c *agentClient) bind(b *binding) bool {
	if c.spoiled || c.host != nil || b.Forwarded || len(b.Session) < minSession || len(b.Session) > maxSession {
		return false
	}
	host, err := ssh.ParsePublicKey(b.HostKey)
	var signature ssh.Signature
	if err != nil || ssh.Unmarshal(b.Signature, &signature) != nil || host.Verify(b.Session, &signature) != nil {
		return false
	}
	v := c.keys.visitTo(host)
	if v == nil {
		return false
	}
	c.to, c.host, c.session = v.to, host, b.Session
	return true
}

// listKeys returns the keys of the person's agent, without their comments, to a client that is bound to a session. Any
// other sees none.
func (c *agentClient) listKeys(ctx context.Context) []byte {
	var listed identities
	if c.host != nil {
		if answer, err := c.ask(ctx, []byte{agentList}); err == nil && ssh.Unmarshal(answer, &listed) != nil {
			listed = identities{}
		}
	}
	var plain []byte
	rest := listed.Rest
	for range listed.Count {
		var one identity
		if ssh.Unmarshal(rest, &one) != nil {
			return []byte{agentFailure}
		}
		plain, rest = append(plain, ssh.Marshal(identity{Key: one.Key})...), one.Rest
	}
	return ssh.Marshal(identities{Count: listed.Count, Rest: plain})
}

// sign returns the agent's answer to a request, or nil if it is not about signing in to the session of the client.
func (c *agentClient) sign(ctx context.Context, s *signRequest) []byte {
	if c.host == nil {
		return nil
	}
	auth, good := readAuth(s.Data, c.host.Marshal())
	v := c.keys.visitTo(c.host)
	if !good || v == nil || !bytes.Equal(auth.Session, c.session) || !bytes.Equal(auth.Key, s.Key) {
		return nil
	}
	answer, err := c.ask(ctx, ssh.Marshal(s))
	if err != nil || answer[0] != agentSigned {
		return []byte{agentFailure}
	}
	if !c.keys.note(v, umpire.SecretUse{
		Name: keyName + fingerprint(s.Key), Request: "sign in as " + auth.User[:min(len(auth.User), maxUser)], Times: 1,
	}) {
		return nil
	}
	return answer
}

// readAuth reads a request to sign in by a key, and reports whether the data is that and nothing else. A method that
// names the key of the host has to name the given one.
func readAuth(data, host []byte) (auth authRequest, good bool) {
	if ssh.Unmarshal(data, &auth) != nil || !bytes.Equal(ssh.Marshal(auth), data) {
		return auth, false
	}
	var rest []byte
	switch auth.Method {
	case byKey:
	case byKeyToHost:
		rest = ssh.Marshal(struct{ HostKey []byte }{host})
	default:
		return auth, false
	}
	return auth, auth.Type == signIn && auth.Service == signInFor && auth.Signed && bytes.Equal(auth.Rest, rest)
}

// ask sends a message to the person's agent.
func (c *agentClient) ask(ctx context.Context, message []byte) ([]byte, error) {
	if c.agent == nil {
		agent, err := new(net.Dialer).DialContext(ctx, "unix", c.keys.agent)
		if err != nil {
			return nil, err
		}
		stop := context.AfterFunc(ctx, func() { _ = agent.Close() }) // it ends the wait for an answer
		c.agent, c.hangUp = agent, func() {
			stop()
			_ = agent.Close() // nothing waits for it any more
		}
	}
	if err := writeMessage(c.agent, message); err != nil {
		return nil, err
	}
	return readMessage(c.agent)
}

// visitTo returns the last visit to a host with a key, or nil.
func (k *keyring) visitTo(key ssh.PublicKey) *visit {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, v := range slices.Backward(k.visited) {
		if v.trusts(key) {
			return v
		}
	}
	return nil
}

// note adds a use to a visit, and reports whether the visit lasts.
func (k *keyring) note(v *visit, u umpire.SecretUse) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	v.uses = addUse(v.uses, u)
	return slices.Contains(k.visited, v)
}
