package egress

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/sys/unix"
)

// inside marks the process in the namespaces of the test, and attacker the name of the program that attacks.
const (
	inside   = "UMPIRE_LAB_EGRESS"
	attacker = "attack"
)

// TestMain runs the tests in a network and mount namespace of their own.
func TestMain(m *testing.M) {
	switch {
	case filepath.Base(os.Args[0]) == attacker:
		attack(os.Args[1])
	case os.Getenv(inside) != "":
		code := m.Run()
		if builtIn != "" {
			_ = os.RemoveAll(builtIn) // the system tidies it otherwise
		}
		os.Exit(code)
	default:
		os.Exit(enter())
	}
}

func enter() int {
	if _, err := exec.LookPath("ip"); err != nil {
		fmt.Println("skipped: there is no ip to make a network with; install iproute2")
		return 0
	}
	if err := installManagers(); err != nil {
		fmt.Println("pnpm and Yarn are skipped:", err)
	}
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Env = append(os.Environ(), inside+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	err := cmd.Run()
	if cmd.ProcessState == nil {
		fmt.Println("skipped: this machine makes no namespaces:", err)
		return 0
	}
	return cmd.ProcessState.ExitCode()
}

// managers are package managers that npm installs into a folder that stays.
var managers = []string{"pnpm@10.34.9", "yarn@1.22.22"}

func managersFolder() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	return filepath.Join(cache, "umpire-egress", strings.Join(managers, "+"))
}

// installManagers installs them from npm's registry, once.
func installManagers() error {
	dir := managersFolder()
	if _, err := os.Stat(filepath.Join(dir, "package.json")); err == nil {
		return nil // npm writes it last
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	args := []string{"install", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=0", "--prefix", dir}
	args = append(args, managers...)
	if out, err := exec.CommandContext(ctx, "npm", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// An internet is every address there is. It notes all that reaches it.
type internet struct {
	roots string // the file with its authority

	mu       sync.Mutex
	pages    map[string]http.HandlerFunc // by host
	names    map[string]string           // addresses by name
	asked    []string                    // names that were resolved
	requests []string                    // METHOD host/path with the size of a body
	opened   map[string]int              // connections by destination
	packets  int
}

// nameServer answers for all names.
const nameServer = "9.9.9.9"

func newInternet(t *testing.T) *internet {
	t.Helper()
	n := &internet{
		roots: filepath.Join(t.TempDir(), "roots.pem"), opened: map[string]int{}, pages: map[string]http.HandlerFunc{},
		names: map[string]string{},
	}
	must(t, unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	for _, args := range []string{
		"link set lo up", "route add local 0.0.0.0/0 dev lo", "-6 route add local ::/0 dev lo",
	} {
		if out, err := exec.CommandContext(t.Context(), "ip", strings.Fields(args)...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v\n%s", args, err, out)
		}
	}
	own, err := os.Hostname()
	must(t, err)
	for name, text := range map[string]string{
		"/etc/resolv.conf": "nameserver " + nameServer + "\n", "/etc/hosts": "127.0.0.1 localhost " + own + "\n",
	} {
		file := filepath.Join(t.TempDir(), filepath.Base(name))
		must(t, os.WriteFile(file, []byte(text), 0o644))
		replace(t, name, file)
	}
	n.serveNames(t)
	certificate := n.makeRoots(t)
	for _, name := range systemRoots {
		if _, err := os.Stat(name); err == nil {
			replace(t, name, n.roots)
		}
	}
	n.serve(t, "80", nil)
	n.serve(t, "443", &tls.Config{GetCertificate: certificate})
	for _, port := range []string{"22", "53", "853", "8080"} {
		n.serve(t, port, nil)
	}
	for _, port := range []string{"443", "123"} {
		socket, err := net.ListenPacket("udp", ":"+port)
		must(t, err)
		t.Cleanup(func() { socket.Close() })
		go func() {
			for buffer := make([]byte, 2048); ; {
				if _, _, err := socket.ReadFrom(buffer); err != nil {
					return
				}
				n.note(func() { n.packets++ })
			}
		}()
	}
	return n
}

// systemRoots are files with the authorities that a machine trusts.
var systemRoots = []string{
	"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem",
}

// replace makes a name of the system show another file, in the test's mount namespace.
func replace(t *testing.T, name, file string) {
	t.Helper()
	at, err := filepath.EvalSymlinks(name)
	must(t, err)
	must(t, unix.Mount(file, at, "", unix.MS_BIND, ""))
	t.Cleanup(func() { must(t, unix.Unmount(at, unix.MNT_DETACH)) })
}

func (n *internet) note(change func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change()
}

// host makes a name with an address.
func (n *internet) host(name, address string, page http.HandlerFunc) {
	n.note(func() { n.names[name], n.pages[name] = address, page })
}

// forget forgets all that was noted.
func (n *internet) forget() {
	n.note(func() { n.asked, n.requests, n.packets = nil, nil, 0; clear(n.opened) })
}

func (n *internet) serveNames(t *testing.T) {
	t.Helper()
	socket, err := net.ListenPacket("udp", ":53") // packets to other servers arrive here too
	must(t, err)
	t.Cleanup(func() { socket.Close() })
	go func() {
		for buffer := make([]byte, 2048); ; {
			size, from, err := socket.ReadFrom(buffer)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buffer[:size]) != nil || len(m.Questions) != 1 {
				continue
			}
			q := m.Questions[0]
			name := strings.TrimSuffix(q.Name.String(), ".")
			address := ""
			n.note(func() { n.asked, address = append(n.asked, name), n.names[name] })
			m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
			if ip := net.ParseIP(address).To4(); ip == nil {
				m.RCode = dnsmessage.RCodeNameError
			} else if q.Type == dnsmessage.TypeA {
				m.Answers = []dnsmessage.Resource{{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 60},
					Body:   &dnsmessage.AResource{A: [4]byte(ip)},
				}}
			}
			if answer, err := m.Pack(); err == nil {
				_, _ = socket.WriteTo(answer, from)
			}
		}
	}()
}

// serve serves the pages on a port of every address.
func (n *internet) serve(t *testing.T, port string, secure *tls.Config) {
	t.Helper()
	listener := listen(t, ":"+port)
	server := &http.Server{
		Handler: http.HandlerFunc(n.page), ErrorLog: nil, TLSConfig: secure,
		ConnState: func(conn net.Conn, state http.ConnState) {
			if state == http.StateNew {
				n.note(func() { n.opened[conn.LocalAddr().String()]++ })
			}
		},
	}
	t.Cleanup(func() { server.Close() })
	go func() {
		if secure != nil {
			listener = tls.NewListener(listener, secure)
		}
		_ = server.Serve(listener)
	}()
}

// listen listens on an address; one without a host leaves room for those with one.
func listen(t *testing.T, address string) net.Listener {
	t.Helper()
	shared := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) (err error) {
		return errors.Join(raw.Control(func(fd uintptr) {
			err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
		}), err)
	}}
	listener, err := shared.Listen(t.Context(), "tcp", address)
	must(t, err)
	return listener
}

func (n *internet) page(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	host, _, _ := strings.Cut(r.Host, ":")
	var page http.HandlerFunc
	n.note(func() {
		n.requests = append(n.requests, fmt.Sprintf("%s %s%s %d", r.Method, r.Host, r.URL.Path, len(body)))
		page = n.pages[host]
	})
	if page == nil {
		http.NotFound(w, r)
		return
	}
	page(w, r)
}

// makeRoots makes the authority of this internet.
func (n *internet) makeRoots(t *testing.T) func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "the internet"}, IsCA: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	raw, err := x509.CreateCertificate(rand.Reader, root, root, key.Public(), key)
	must(t, err)
	must(t, os.WriteFile(n.roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), 0o644))
	return func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		leaf := &x509.Certificate{
			SerialNumber: big.NewInt(2), DNSNames: []string{hello.ServerName}, NotBefore: root.NotBefore,
			NotAfter: root.NotAfter, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		}
		raw, err := x509.CreateCertificate(rand.Reader, leaf, root, key.Public(), key)
		return &tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}, err
	}
}

// A person has a home with a configuration and a project.
type person struct {
	internet      *internet
	program, home string
	project       string
	agent         string // the socket of an SSH agent, or ""
}

func newPerson(t *testing.T, n *internet, destinations string) *person {
	t.Helper()
	cache, err := os.UserCacheDir()
	must(t, err)
	must(t, os.MkdirAll(cache, 0o700))
	home, err := os.MkdirTemp(cache, "umpire-egress-test-") //nolint:usetesting // the sandbox has a /tmp of its own
	must(t, err)
	t.Cleanup(func() {
		_ = exec.Command("chmod", "-R", "u+w", home).Run() // modules of Go are read-only
		must(t, os.RemoveAll(home))
	})
	p := &person{internet: n, program: buildUmpire(t), home: home, project: filepath.Join(home, "project")}
	must(t, os.MkdirAll(filepath.Join(home, ".umpire"), 0o700))
	must(t, os.Mkdir(p.project, 0o755))
	must(t, os.MkdirAll(filepath.Join(home, ".config", "go"), 0o755)) // the first go command of a person makes it
	must(t, os.WriteFile(filepath.Join(home, ".umpire", "config.yaml"), fmt.Appendf(nil, "autonomy: {outside_reads: run, "+
		"scratch: inside, edits: run, unknown_code: trial, deletes: trial, local_git: run, network: once, "+
		"destinations: [%s]}\n", destinations), 0o600))
	if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", p.project).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return p
}

// run runs umpire in the project, and returns all its output.
func (p *person) run(t *testing.T, args ...string) (out string, code int) {
	t.Helper()
	cmd := p.command(t, args...)
	var all bytes.Buffer
	cmd.Stdout, cmd.Stderr = &all, &all
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return all.String(), cmd.ProcessState.ExitCode()
}

// command is umpire in the project.
func (p *person) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), p.program, args...)
	cmd.Dir = p.project
	cmd.Env = []string{
		"HOME=" + p.home, "PATH=" + searchPath(), "LANG=C.UTF-8", "TERM=dumb", "SSL_CERT_FILE=" + p.internet.roots,
		"GOTOOLCHAIN=local", "GONOSUMDB=*", "GOFLAGS=-modcacherw", "PIP_NO_INPUT=1",
		"PIP_RETRIES=0", "CARGO_NET_RETRY=0", "npm_config_fetch_retries=0", // a refused host stays refused
		"SSH_AUTH_SOCK=" + p.agent,
	}
	if home, err := os.UserHomeDir(); err == nil {
		cmd.Env = append(cmd.Env, "RUSTUP_HOME="+filepath.Join(home, ".rustup")) // where rustup keeps its toolchains
	}
	if cache, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE").Output(); err == nil {
		cmd.Env = append(cmd.Env, "GOCACHE="+strings.TrimSpace(string(cache))) // compiling the standard library takes long
	}
	return cmd
}

// searchPath returns the PATH of all commands.
func searchPath() string {
	// The shims of pyenv write into the home after each installation.
	dirs := slices.DeleteFunc(filepath.SplitList(os.Getenv("PATH")), func(dir string) bool {
		return strings.Contains(dir, "/.pyenv/")
	})
	return strings.Join(append(dirs, filepath.Join(managersFolder(), "node_modules", ".bin")), ":")
}

// needs skips the test if a command that tells the version of a program fails.
func needs(t *testing.T, line string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Env = append(os.Environ(), "PATH="+searchPath())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("%s: %v\n%s", line, err, out)
	}
}

// builtIn is the folder of the program under test, or "".
var builtIn string

var build = sync.OnceValues(func() (string, error) {
	var err error
	if builtIn, err = os.MkdirTemp("", "umpire-egress-"); err != nil {
		return "", err
	}
	program := filepath.Join(builtIn, "umpire")
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, "./cmd/umpire")
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return program, nil
})

func buildUmpire(t *testing.T) string {
	t.Helper()
	program, err := build()
	must(t, err)
	return program
}

// quiet fails if anything reached the internet but fetches from the given hosts, and requests to github.
func (n *internet) quiet(t *testing.T, hosts ...string) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	listed := func(name string) bool { return slices.Contains(hosts, name) }
	for _, name := range n.asked {
		if !listed(name) {
			t.Errorf("the name %s was resolved", name)
		}
	}
	for to, times := range n.opened {
		host, _, _ := net.SplitHostPort(to)
		if !slices.ContainsFunc(hosts, func(name string) bool { return n.names[name] == host }) {
			t.Errorf("%d connections reached %s", times, to)
		}
	}
	for _, request := range n.requests {
		words := strings.Fields(request)
		host, _, _ := strings.Cut(words[1], "/")
		if host == github && listed(host) {
			continue // it takes what commands send
		}
		if (words[0] != http.MethodGet && words[0] != http.MethodHead) || !listed(host) || words[2] != "0" {
			t.Errorf("a server got %s", request)
		}
	}
	if n.packets > 0 {
		t.Errorf("%d packets reached the internet", n.packets)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
