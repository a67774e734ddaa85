package egress

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/umpirehq/umpire"
)

func newSigner(tb testing.TB) ssh.Signer {
	tb.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		tb.Fatal(err)
	}
	return signer
}

// certify returns a host key with a certificate for a name.
func certify(tb testing.TB, host, by ssh.Signer, name string) ssh.Signer {
	tb.Helper()
	c := &ssh.Certificate{
		Key: host.PublicKey(), CertType: ssh.HostCert, ValidPrincipals: []string{name}, ValidBefore: ssh.CertTimeInfinity,
	}
	if err := c.SignCert(rand.Reader, by); err != nil {
		tb.Fatal(err)
	}
	certified, err := ssh.NewCertSigner(c, host)
	if err != nil {
		tb.Fatal(err)
	}
	return certified
}

// A willing agent signs everything, and notes the data.
type willing struct {
	socket string
	key    []byte

	mu     sync.Mutex
	listed int
	signed [][]byte
	after  func() // called after a signature, unless it is nil
}

func newWilling(tb testing.TB) *willing {
	tb.Helper()
	w := &willing{socket: shortSocket(tb), key: newSigner(tb).PublicKey().Marshal()}
	listener, err := net.Listen("unix", w.socket)
	if err != nil {
		tb.Fatal(err)
	}
	var all sync.WaitGroup
	tb.Cleanup(func() { listener.Close(); all.Wait() })
	all.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() { w.serve(conn) })
		}
	})
	return w
}

// shortSocket returns a name that fits into the address of a socket.
func shortSocket(tb testing.TB) string {
	tb.Helper()
	dir, err := os.MkdirTemp("", "agent") //nolint:usetesting // its names are too long
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}

func (w *willing) serve(conn net.Conn) {
	defer conn.Close()
	for {
		request, err := readMessage(conn)
		if err != nil {
			return
		}
		answer := []byte{agentFailure}
		var sign signRequest
		switch {
		case request[0] == agentList:
			w.mu.Lock()
			w.listed++
			w.mu.Unlock()
			answer = ssh.Marshal(identities{Count: 1, Rest: ssh.Marshal(identity{Key: w.key, Comment: "person@laptop"})})
		case ssh.Unmarshal(request, &sign) == nil:
			w.mu.Lock()
			w.signed = append(w.signed, sign.Data)
			w.mu.Unlock()
			answer = []byte{agentSigned, 0, 0, 0, 0}
			if w.after != nil {
				w.after()
			}
		}
		if writeMessage(conn, answer) != nil {
			return
		}
	}
}

func (w *willing) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.signed)
}

// A session is one between a command and a server, with an agent in between.
type session struct {
	agent  *willing
	keys   *keyring
	visit  *visit
	server ssh.Signer
	id     []byte

	mu      sync.Mutex
	refused []Connection
}

var gitServer = Destination{"git.example", portSSH}

func newSession(tb testing.TB) *session {
	tb.Helper()
	s := &session{agent: newWilling(tb), server: newSigner(tb), id: bytes.Repeat([]byte{7}, 32)}
	s.keys = &keyring{
		agent: s.agent.socket, known: []knownHost{{"", []string{"git.example"}, s.server.PublicKey()}},
		record: func(c Connection) { s.mu.Lock(); s.refused = append(s.refused, c); s.mu.Unlock() },
	}
	var reason Reason
	if s.visit, reason = s.keys.visitHost(gitServer); reason != 0 || s.visit == nil {
		tb.Fatal(reason)
	}
	return s
}

// bind returns a binding to the session by a host.
func (s *session) bind(host ssh.Signer) binding {
	signature, err := host.Sign(rand.Reader, s.id)
	if err != nil {
		panic(err)
	}
	return binding{agentBind, host.PublicKey().Marshal(), s.id, ssh.Marshal(signature), false}
}

// auth returns the data to sign in.
func (s *session) auth() authRequest {
	return authRequest{s.id, signIn, "git", signInFor, byKey, true, "ssh-ed25519", s.agent.key, nil}
}

func (s *session) ask(auth authRequest) []byte {
	return ssh.Marshal(signRequest{Key: s.agent.key, Data: ssh.Marshal(auth)})
}

// tell sends messages to the agent of the command over one connection, and returns the kinds of the answers.
func (s *session) tell(tb testing.TB, messages ...[]byte) (kinds []byte) {
	tb.Helper()
	ours, theirs := net.Pipe()
	var served sync.WaitGroup
	served.Go(func() { s.keys.serveClient(tb.Context(), theirs) })
	defer served.Wait()
	defer ours.Close()
	for _, message := range messages {
		if writeMessage(ours, message) != nil {
			return kinds
		}
		answer, err := readMessage(ours)
		if err != nil {
			return kinds
		}
		kinds = append(kinds, answer[0])
	}
	return kinds
}

func TestAgentSignsOnlyToSignIn(t *testing.T) {
	t.Parallel()
	stranger := newSigner(t)
	for name, change := range map[string]func(s *session, b *binding, a *authRequest){
		"": func(*session, *binding, *authRequest) {},
		"host": func(s *session, _ *binding, a *authRequest) {
			a.Method, a.Rest = byKeyToHost, hostPart(s.server.PublicKey())
		},
		"other host in the data": func(_ *session, _ *binding, a *authRequest) {
			a.Method, a.Rest = byKeyToHost, hostPart(stranger.PublicKey())
		},
		"no host in the data":   func(_ *session, _ *binding, a *authRequest) { a.Method = byKeyToHost },
		"more data":             func(_ *session, _ *binding, a *authRequest) { a.Rest = []byte{0} },
		"other session in data": func(_ *session, _ *binding, a *authRequest) { a.Session = make([]byte, 32) },
		"longer session":        func(s *session, _ *binding, a *authRequest) { a.Session = append(slices.Clone(s.id), 0) },
		"no session":            func(_ *session, _ *binding, a *authRequest) { a.Session = nil },
		"other message":         func(_ *session, _ *binding, a *authRequest) { a.Type = 51 },
		"other service":         func(_ *session, _ *binding, a *authRequest) { a.Service = "ssh-userauth" },
		"password":              func(_ *session, _ *binding, a *authRequest) { a.Method = "password" },
		"host based":            func(_ *session, _ *binding, a *authRequest) { a.Method = "hostbased" },
		"not signed":            func(_ *session, _ *binding, a *authRequest) { a.Signed = false },
		"other key in the data": func(_ *session, _ *binding, a *authRequest) { a.Key = stranger.PublicKey().Marshal() },
		"forwarded":             func(_ *session, b *binding, _ *authRequest) { b.Forwarded = true },
		"other extension":       func(_ *session, b *binding, _ *authRequest) { b.Extension = "query" },
		"binding by a stranger": func(s *session, b *binding, _ *authRequest) { *b = s.bind(stranger) },
		"stolen signature":      func(_ *session, b *binding, _ *authRequest) { b.HostKey = stranger.PublicKey().Marshal() },
		"signed by a stranger":  func(s *session, b *binding, _ *authRequest) { b.Signature = s.bind(stranger).Signature },
		"no signature":          func(_ *session, b *binding, _ *authRequest) { b.Signature = nil },
		"no key":                func(_ *session, b *binding, _ *authRequest) { b.HostKey = nil },
		"other session":         func(_ *session, b *binding, _ *authRequest) { b.Session = make([]byte, 32) },
		"session that is text": func(s *session, b *binding, a *authRequest) { // such as a proof of another key of the host
			s.id = bytes.Repeat([]byte("x"), maxSession+1)
			*b, a.Session = s.bind(s.server), s.id
		},
		"short session": func(s *session, b *binding, a *authRequest) {
			s.id = s.id[:minSession-1]
			*b, a.Session = s.bind(s.server), s.id
		},
		"no visit": func(s *session, _ *binding, _ *authRequest) { s.keys.leaveHost(s.visit) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			bind, auth := s.bind(s.server), s.auth()
			change(s, &bind, &auth)
			kinds := s.tell(t, ssh.Marshal(bind), s.ask(auth))
			if want := name == "" || name == "host"; want != (kinds[1] == agentSigned) || want != (s.agent.count() == 1) ||
				want == (len(s.refused) > 0) {
				t.Errorf("answers %v, %d signatures, refused %v", kinds, s.agent.count(), s.refused)
			}
		})
	}
}

func hostPart(key ssh.PublicKey) []byte { return ssh.Marshal(struct{ K []byte }{key.Marshal()}) }

func TestAgentConnectionHasOneSession(t *testing.T) {
	t.Parallel()
	for name, messages := range map[string]func(s *session) [][]byte{
		"unbound": func(s *session) [][]byte { return [][]byte{s.ask(s.auth())} },
		"bound twice": func(s *session) [][]byte {
			bind := ssh.Marshal(s.bind(s.server))
			return [][]byte{bind, bind, s.ask(s.auth())}
		},
		"bound after a refusal": func(s *session) [][]byte {
			forwarded := s.bind(s.server)
			forwarded.Forwarded = true
			return [][]byte{ssh.Marshal(forwarded), ssh.Marshal(s.bind(s.server)), s.ask(s.auth())}
		},
		"with an odd flag": func(s *session) [][]byte {
			data := ssh.Marshal(s.auth())
			flag := bytes.Index(data, []byte(byKey+"\x01")) + len(byKey)
			data[flag] = 2
			return [][]byte{ssh.Marshal(s.bind(s.server)), ssh.Marshal(signRequest{Key: s.agent.key, Data: data})}
		},
		"with more": func(s *session) [][]byte {
			return [][]byte{append(ssh.Marshal(s.bind(s.server)), 0), append(s.ask(s.auth()), 0)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			kinds := s.tell(t, messages(s)...)
			if slices.Contains(kinds, agentSigned) || s.agent.count() > 0 || len(s.refused) == 0 {
				t.Errorf("answers %v, %d signatures, refused %v", kinds, s.agent.count(), s.refused)
			}
		})
	}
}

func TestAgentRefusesOtherRequests(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	messages := [][]byte{ssh.Marshal(s.bind(s.server))}
	for kind := range 256 {
		for _, more := range []int{0, 1, 40} {
			if message := append([]byte{byte(kind)}, make([]byte, more)...); kind != agentList || more > 0 {
				messages = append(messages, message)
			}
		}
	}
	kinds := s.tell(t, messages...)
	if len(kinds) != len(messages) || slices.ContainsFunc(kinds[1:], func(k byte) bool { return k != agentFailure }) ||
		len(s.refused) != len(messages)-1 || s.agent.count() > 0 {
		t.Errorf("answers %v to %d messages, %d refused", kinds, len(messages), len(s.refused))
	}
	if got := s.refused[0]; got.Destination != gitServer || got.Reason != MisplacedSecret || got.Misplaced != agentWord {
		t.Errorf("recorded %v", got)
	}
}

func TestAgentShowsKeysInASession(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	c := &agentClient{keys: s.keys}
	list := func() identities {
		var listed identities
		if err := ssh.Unmarshal(c.respond(t.Context(), []byte{agentList}), &listed); err != nil {
			t.Fatal(err)
		}
		return listed
	}
	if got := list(); got.Count != 0 || len(got.Rest) > 0 {
		t.Errorf("a client without a session sees %v", got)
	}
	c.respond(t.Context(), ssh.Marshal(s.bind(s.server)))
	want := ssh.Marshal(identity{Key: s.agent.key})
	if got := list(); got.Count != 1 || !bytes.Equal(got.Rest, want) {
		t.Errorf("a client in a session sees %q, want %q", got.Rest, want)
	}
	c.hangUp()
}

func TestAgentHidesItselfWithoutASession(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	kinds := s.tell(t, ssh.Marshal(s.bind(newSigner(t))), []byte{agentList})
	if want := []byte{agentFailure, 12}; !bytes.Equal(kinds, want) || s.agent.listed > 0 {
		t.Errorf("answers %v, want %v; %d lists", kinds, want, s.agent.listed)
	}
}

// TestSignatureAfterTheConnection: the person's agent may take long.
func TestSignatureAfterTheConnection(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.agent.after = func() { s.keys.leaveHost(s.visit) }
	if kinds := s.tell(t, ssh.Marshal(s.bind(s.server)), s.ask(s.auth())); kinds[1] == agentSigned {
		t.Error("the command gets a signature that no record has")
	}
}

func TestAgentWithoutAPersons(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.keys.agent = ""
	kinds := s.tell(t, ssh.Marshal(s.bind(s.server)), []byte{agentList}, s.ask(s.auth()))
	if want := []byte{agentSuccess, 12, agentFailure}; !bytes.Equal(kinds, want) {
		t.Errorf("answers %v, want %v", kinds, want)
	}
}

// TestAgentLimits also tries the socket of the command.
func TestAgentLimits(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("trials need Linux")
	}
	s := newSession(t)
	ctx, cancel := context.WithCancel(t.Context())
	folder := filepath.Join(t.TempDir(), strings.Repeat("long", 40))
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := s.keys.furnish(ctx, folder, "/tmp/.umpire"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); s.keys.serving.Wait() })
	link := shortSocket(t)
	if err := os.Symlink(folder, link); err != nil {
		t.Fatal(err)
	}
	var clients []net.Conn
	for range maxAgentClients + 10 {
		conn, err := net.Dial("unix", filepath.Join(link, agentName))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
		clients = append(clients, conn)
	}
	served := 0
	for _, conn := range clients {
		_ = writeMessage(conn, []byte{agentList})
		if answer, err := readMessage(conn); err == nil && answer[0] == 12 {
			served++
		}
	}
	if served != maxAgentClients {
		t.Errorf("%d clients are served at once, want %d", served, maxAgentClients)
	}
	for _, size := range [][]byte{{0, 0, 0, 0}, {0, 4, 0, 1}, {255, 255, 255, 255}} {
		conn := clients[size[1]&3] // one of the first
		_, _ = conn.Write(size)
		if n, err := conn.Read(make([]byte, 1)); n > 0 || err == nil {
			t.Errorf("an answer to a message of %v bytes", size)
		}
	}
}

func FuzzAgent(f *testing.F) {
	s := newSession(f)
	f.Add(ssh.Marshal(s.auth()), s.id)
	bound := s.auth()
	bound.Method, bound.Rest = byKeyToHost, hostPart(s.server.PublicKey())
	f.Add(ssh.Marshal(bound), s.id)
	f.Add([]byte("SSHSIG\x00\x00\x00\x03git"), s.id)
	f.Fuzz(func(t *testing.T, data, id []byte) {
		c := &agentClient{keys: s.keys, to: gitServer, host: s.server.PublicKey(), session: s.id}
		defer func() {
			if c.agent != nil {
				c.hangUp()
			}
		}()
		before := s.agent.count()
		answer := c.respond(t.Context(), ssh.Marshal(signRequest{Key: s.agent.key, Data: data}))
		begin := append([]byte{0, 0, 0, 32}, append(slices.Clone(s.id), signIn)...)
		if signed := s.agent.count() > before; signed != (answer[0] == agentSigned) ||
			signed && (!bytes.HasPrefix(data, begin) || !bytes.Contains(data, []byte(signInFor+"\x00\x00\x00")) ||
				!bytes.Contains(data, s.agent.key)) {
			t.Errorf("signed %q", data)
		}
		// Any message at all, with the identifier of a session in it.
		if answer := c.respond(t.Context(), append(data, id...)); len(answer) == 0 {
			t.Error("no answer")
		}
		if bytes.Equal(id, s.id) {
			return
		}
		other := &agentClient{keys: s.keys, to: gitServer, host: s.server.PublicKey(), session: id}
		if other.respond(t.Context(), s.ask(s.auth()))[0] != agentFailure {
			t.Errorf("signed for the session %q", id)
		}
	})
}

func TestKnownHosts(t *testing.T) {
	t.Parallel()
	host, authority, other := newSigner(t), newSigner(t), newSigner(t)
	key := func(s ssh.Signer) string { return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(s.PublicKey()))) }
	certified := certify(t, host, authority, "git.example")
	for _, tt := range []struct {
		name, lines string
		d           Destination
		key         ssh.Signer
		found, good bool
	}{
		{"plain", "git.example " + key(host), gitServer, host, true, true},
		{"several", "a.example,git.example,192.0.2.1 " + key(host) + " a comment", gitServer, host, true, true},
		{"other key", "git.example " + key(host), gitServer, other, true, false},
		{"other host", "a.git.example,git.example.org " + key(host), gitServer, host, false, false},
		{"hashed", knownhosts.HashHostname("git.example") + " " + key(host), gitServer, host, true, true},
		{"hashed other", knownhosts.HashHostname("got.example") + " " + key(host), gitServer, host, false, false},
		{"bad hash", "|1|!|! " + key(host), gitServer, host, false, false},
		{"wildcard", "*.example " + key(host), gitServer, host, true, true},
		{"one character", "g?t.EXAMPLE " + key(host), gitServer, host, true, true},
		{"negated", "!git.example,*.example " + key(host), gitServer, host, false, false},
		{"port", "[git.example]:2222 " + key(host), Destination{"git.example", 2222}, host, true, true},
		{"hashed port", knownhosts.HashHostname("[git.example]:2222") + " " + key(host), Destination{"git.example", 2222}, host, true, true},
		{"other port", "[git.example]:2222 " + key(host), gitServer, host, false, false},
		{"no port", "git.example " + key(host), Destination{"git.example", 2222}, host, false, false},
		{"address", "192.0.2.1 " + key(host), Destination{"192.0.2.1", 22}, host, true, true},
		{"revoked", "git.example " + key(host) + "\n@revoked * " + key(host), gitServer, host, true, false},
		{"only revoked", "@revoked git.example " + key(host), gitServer, host, false, false},
		{"bad lines", "git.example\n# no\n\n@what git.example x\ngit.example ssh-rsa AAAA\ngit.example " + key(host), gitServer, host, true, true},
		{"authority", "@cert-authority *.example " + key(authority), gitServer, certified, true, true},
		{"other authority", "@cert-authority *.example " + key(other), gitServer, certified, true, false},
		{"authority of another name", "@cert-authority * " + key(authority), Destination{"got.example", 22}, certified, true, false},
		{"authority without a certificate", "@cert-authority * " + key(authority), gitServer, authority, true, false},
		{"key of a certificate", "git.example " + key(host), gitServer, certified, true, true},
		{"revoked authority", "@cert-authority * " + key(authority) + "\n@revoked * " + key(authority), gitServer, certified, true, false},
		{"revoked key of a certificate", "@cert-authority * " + key(authority) + "\n@revoked * " + key(host), gitServer, certified, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			name := filepath.Join(t.TempDir(), "known_hosts")
			if err := os.WriteFile(name, []byte(tt.lines), 0o600); err != nil {
				t.Fatal(err)
			}
			p, found := pin(readKnownHosts([]string{name + ".missing", name}), tt.d)
			if good := p.trusts(tt.key.PublicKey()); found != tt.found || good != tt.good {
				t.Errorf("found %t, want %t; trusted %t, want %t", found, tt.found, good, tt.good)
			}
			// What the command sees says the same.
			if err := os.WriteFile(name, p.knownHosts(), 0o600); err != nil {
				t.Fatal(err)
			}
			if shown, _ := pin(readKnownHosts([]string{name}), tt.d); shown.trusts(tt.key.PublicKey()) != tt.good {
				t.Errorf("the command is shown %q", p.knownHosts())
			}
		})
	}
}

func FuzzKnownHosts(f *testing.F) {
	host := newSigner(f)
	key := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(host.PublicKey())))
	for _, names := range []string{"git.example", "*", "!a,*", "[git.example]:22", `\[`, "|1|YQ==|YQ==", "|1||", "[a-", ""} {
		f.Add(names, "git.example")
	}
	f.Fuzz(func(t *testing.T, names, name string) {
		line := []byte(names + " " + key + "\n")
		marker, patterns, read, _, _, err := ssh.ParseKnownHosts(line)
		if err != nil {
			return
		}
		h := knownHost{marker, patterns, read}
		if literalName := strings.ToLower(name); h.covers(literalName) && !strings.ContainsAny(names, "*?|") &&
			!strings.Contains(strings.ToLower(names), literalName) {
			t.Errorf("%q covers %q", names, name)
		}
	})
}

// sshOf has the lines in a file of known hosts.
func sshOf(t *testing.T, agent string, lines ...string) SSH {
	t.Helper()
	name := filepath.Join(t.TempDir(), "known_hosts")
	if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return SSH{Agent: agent, KnownHosts: []string{name}}
}

func TestServersNeedAPinnedKey(t *testing.T) {
	t.Parallel()
	host := newSigner(t)
	public := string(ssh.MarshalAuthorizedKey(host.PublicKey()))
	w := newWorld(t, "git.example:22", "new.example:22", "db.example:5432")
	w.proxy.keys = newKeyring(sshOf(t, "", "git.example "+public), w.proxy.List)
	w.host("git.example", "93.184.216.34", 22, echo(t, "SSH-2.0-x\r\n"))
	w.host("db.example", "93.184.216.35", 5432, echo(t, ""))
	if got := say(w.direct(t, "new.example", 22), "SSH-2.0-y\r\n"); got != "" {
		t.Errorf("a server without a pinned key answered %q", got)
	}
	c := w.refuses(NoHostKey)
	w.silent()
	for _, d := range []Destination{{"git.example", 22}, {"db.example", 5432}} {
		conn := w.direct(t, d.Host, d.Port)
		_, _ = io.WriteString(conn, "SSH-2.0-y\r\n")
		_ = conn.CloseWrite()
		if got, _ := io.ReadAll(conn); !strings.HasSuffix(string(got), "SSH-2.0-y\r\n") {
			t.Errorf("%s answered %q", d, got)
		}
		w.refuses(0)
	}
	var sum Traffic
	sum.Note(c)
	reached, refused := sum.Sum()
	want := []umpire.TrialAttempt{{Kind: umpire.AttemptHostKey, Target: "new.example:22"}}
	if len(reached) > 0 || !slices.Equal(refused, want) {
		t.Errorf("reached %v, refused %v, want %v", reached, refused, want)
	}
}

func TestOnlyListsWithServersHaveAKeyring(t *testing.T) {
	t.Parallel()
	public := string(ssh.MarshalAuthorizedKey(newSigner(t).PublicKey()))
	known := sshOf(t, "", "[git.example]:2222 "+public, "www.example "+public)
	for entry, want := range map[string]bool{
		"git.example:22": true, "*.example.com:22": true, "10.0.0.0/8:22": true, "git.example:2222": true,
		"db.example.com:5432": false, "github": false, "www.example.com": false,
	} {
		list, err := ParseList([]string{entry})
		if err != nil {
			t.Fatal(err)
		}
		if got := newKeyring(known, list) != nil; got != want {
			t.Errorf("%s: %t, want %t", entry, got, want)
		}
	}
}

// TestWithoutKnownHostsServersAsk: a way that has none counts no entry with the port of SSH, approved ones neither.
func TestWithoutKnownHostsServersAsk(t *testing.T) {
	t.Parallel()
	way := Way{
		Listed: []string{"git.example:22", "db.example:5432"}, Network: umpire.NetworkListed,
		Approved: []string{"got.example:22"},
	}
	for _, want := range []bool{false, true} {
		p, err := NewProxy(way)
		if err != nil {
			t.Fatal(err)
		}
		for d, listed := range map[Destination]bool{{"git.example", 22}: want, {"got.example", 22}: want, {"db.example", 5432}: true} {
			if _, found := p.List.Finds(d); found != listed {
				t.Errorf("%s: listed %t, want %t", d, found, listed)
			}
		}
		way.SSH.KnownHosts = []string{}
	}
}

// TestSignaturesAreRecorded signs in during a connection, whose record has the signature.
func TestSignaturesAreRecorded(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.keys.leaveHost(s.visit)
	w := newWorld(t, "git.example:22")
	w.proxy.keys = s.keys
	w.host("git.example", "93.184.216.34", 22, echo(t, "SSH-2.0-x\r\n"))
	conn := w.direct(t, "git.example", 22)
	readUntil(t, conn, "\n")
	if kinds := s.tell(t, ssh.Marshal(s.bind(s.server)), s.ask(s.auth()), s.ask(s.auth())); kinds[2] != agentSigned {
		t.Errorf("answers %v", kinds)
	}
	conn.Close()
	key, err := ssh.ParsePublicKey(s.agent.key)
	if err != nil {
		t.Fatal(err)
	}
	want := []umpire.SecretUse{{Name: "SSH key " + ssh.FingerprintSHA256(key), Request: "sign in as git", Times: 2}}
	if got := w.record(); !slices.Equal(got.Uses, want) {
		t.Errorf("recorded %v, want %v", got.Uses, want)
	}
	if kinds := s.tell(t, ssh.Marshal(s.bind(s.server)), s.ask(s.auth())); kinds[1] == agentSigned {
		t.Error("signed after the connection")
	}
}

// TestServersAreShown connects twice, and looks at the known_hosts file of the command.
func TestServersAreShown(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("trials need Linux")
	}
	s := newSession(t)
	s.keys.leaveHost(s.visit)
	ctx, cancel := context.WithCancel(t.Context())
	p := &Proxy{keys: s.keys}
	folder := t.TempDir()
	env, err := p.Furnish(ctx, folder, "/tmp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); p.Wait() })
	if !slices.Contains(env, "SSH_AUTH_SOCK=/tmp/.umpire/agent") {
		t.Errorf("the command has %q", env)
	}
	if text := p.Exit(ctx).Texts[sshSettings]; !strings.Contains(text, "UserKnownHostsFile /tmp/.umpire/known_hosts\n") ||
		!strings.Contains(text, "StrictHostKeyChecking yes\n") {
		t.Errorf("ssh reads %q", text)
	}
	shown := filepath.Join(folder, furnishedFolder, knownHostsName)
	if text, err := os.ReadFile(shown); err != nil || len(text) > 0 {
		t.Errorf("before a connection: %q, %v", text, err)
	}
	// The command may replace the file, even by a link that leads out.
	mine := filepath.Join(t.TempDir(), "mine")
	for range 2 {
		if v, reason := s.keys.visitHost(gitServer); v == nil || reason != 0 {
			t.Fatal(reason)
		}
	}
	want := "git.example " + string(ssh.MarshalAuthorizedKey(s.server.PublicKey()))
	if text, err := os.ReadFile(shown); err != nil || string(text) != want {
		t.Errorf("after two connections: %q, %v", text, err)
	}
	s.keys.known = append(s.keys.known, knownHost{"", []string{"other.example"}, s.server.PublicKey()})
	if os.Remove(shown) != nil || os.Symlink(mine, shown) != nil {
		t.Fatal("the file stays")
	}
	s.keys.visitHost(Destination{"other.example", 22})
	if _, err := os.Stat(mine); err == nil {
		t.Error("a link leads out")
	}
}
