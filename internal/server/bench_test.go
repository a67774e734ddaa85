package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/umpirehq/umpire"
	umpirev1 "github.com/umpirehq/umpire/internal/api/umpire/v1"
	"github.com/umpirehq/umpire/internal/server"
)

// benchServers serve events in their own processes, to exclude the memory of the readers.
// Each returns a function that publishes an event.
var benchServers = map[string]func(l net.Listener) (publish func()){
	"umpire": umpireEvents, "handler": handlerEvents,
}

var pad = strings.Repeat("x", 300)

// stamped returns an event with its time of publication.
func stamped() umpire.Event {
	data := fmt.Sprintf(`{"t":%d,"pad":%q}`, time.Now().UnixNano(), pad)
	return umpire.Event{Kind: umpire.EventNotice, Session: "s1", Data: json.RawMessage(data)}
}

func umpireEvents(l net.Listener) func() {
	gate := newFake()
	gate.tell(stamped())
	limits := server.Limits{PerSecond: 100_000_000, InFlight: 1 << 20, Watchers: 1 << 20, Idle: 1 << 20}
	s := server.New(server.Config{Gate: gate, Credentials: credentials, Limits: limits})
	go s.Serve(context.Background(), l)
	return func() { gate.tell(stamped()) }
}

// handlerEvents is the obvious server: a handler, a channel and a flush for each watcher.
func handlerEvents(l net.Listener) func() {
	var mu sync.Mutex
	watchers := map[chan []byte]bool{}
	go (&http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		events := make(chan []byte, 16)
		mu.Lock()
		watchers[events] = true
		mu.Unlock()
		_, _ = io.WriteString(w, "id: 3\ndata: {}\n\n")
		_ = http.NewResponseController(w).Flush()
		for {
			select {
			case e := <-events:
				_, _ = w.Write(e)
				_ = http.NewResponseController(w).Flush()
			case <-r.Context().Done():
				return
			}
		}
	})}).Serve(l)
	return func() {
		data, _ := json.Marshal(stamped())
		event := fmt.Appendf(nil, "id: 1\nevent: Notice\ndata: %s\n\n", data)
		mu.Lock()
		defer mu.Unlock()
		for c := range watchers {
			c <- event
		}
	}
}

// serveBench is the child: it reads commands from its standard input.
func serveBench(kind string) int {
	path := os.Getenv("UMPIRE_TEST_GATE")
	l, err := net.Listen("unix", path)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	publish := benchServers[kind](l)
	fmt.Println("ready")
	for commands := bufio.NewScanner(os.Stdin); commands.Scan(); {
		switch commands.Text() {
		case "publish":
			publish()
		case "memory":
			runtime.GC()
			debug.FreeOSMemory()
			fmt.Println(residentKB())
		}
	}
	return 0
}

func residentKB() int {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if kb, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, _ := strconv.Atoi(strings.Fields(kb)[0])
			return n
		}
	}
	return 0
}

// A crowd is a server in its own process, with watchers.
type crowd struct {
	in      io.Writer
	out     *bufio.Scanner
	arrived chan time.Duration
	n       int
	each    float64 // KB of server memory per watcher
}

func gather(b *testing.B, kind string, n int) *crowd {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), "/proc/self/exe")
	path := filepath.Join(shortDir(b), "gate.sock")
	cmd.Env = append(os.Environ(), "UMPIRE_TEST_CHILD=bench-"+kind, "UMPIRE_TEST_GATE="+path)
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	c := &crowd{in: in, out: bufio.NewScanner(out), arrived: make(chan time.Duration, n), n: n}
	b.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	if c.out.Scan(); c.out.Text() != "ready" {
		b.Fatalf("the server says %q", c.out.Text())
	}
	before := c.memory(b)
	var ready sync.WaitGroup
	for range n {
		ready.Add(1)
		c.join(b, path, ready.Done)
	}
	ready.Wait()
	c.each = float64(c.memory(b)-before) / float64(n)
	return c
}

func (c *crowd) memory(b *testing.B) int {
	b.Helper()
	fmt.Fprintln(c.in, "memory")
	if !c.out.Scan() {
		b.Fatal("the server is gone")
	}
	kb, _ := strconv.Atoi(c.out.Text())
	return kb
}

// join adds a watcher, which is ready after its first event.
func (c *crowd) join(b *testing.B, path string, ready func()) {
	conn, err := net.Dial("unix", path)
	for err != nil && strings.Contains(err.Error(), "temporarily") { // the backlog is full
		runtime.Gosched()
		conn, err = net.Dial("unix", path)
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "GET /v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", credentials.Person)
	go func() {
		lines := bufio.NewReaderSize(conn, 1024)
		for {
			line, err := lines.ReadSlice('\n')
			if err != nil && ready != nil {
				b.Errorf("a watcher was refused: %v", err)
				ready()
			}
			if err != nil {
				return
			}
			if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
				if ready != nil {
					ready()
					ready = nil
					continue
				}
				c.arrived <- time.Since(publishedAt(data))
			}
		}
	}()
}

func publishedAt(data []byte) time.Time {
	_, rest, _ := bytes.Cut(data, []byte(`"t":`))
	digits, _, _ := bytes.Cut(rest, []byte(","))
	nanos, _ := strconv.ParseInt(string(digits), 10, 64)
	return time.Unix(0, nanos)
}

// publish publishes an event and returns when the last watcher has received it.
func (c *crowd) publish() time.Duration {
	fmt.Fprintln(c.in, "publish")
	var last time.Duration
	for range c.n {
		last = max(last, <-c.arrived)
	}
	return last
}

// BenchmarkWatchers sends one event to many watchers, and compares with a plain net/http
// handler for each: the time until the last one has it, and the memory per watcher.
func BenchmarkWatchers(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			last := map[string]time.Duration{}
			each := map[string]float64{}
			for kind := range benchServers {
				b.Run(kind, func(b *testing.B) {
					c := gather(b, kind, n)
					var all []time.Duration
					for b.Loop() {
						all = append(all, c.publish())
					}
					slices.Sort(all)
					last[kind], each[kind] = all[len(all)/2], c.each
					b.ReportMetric(float64(last[kind].Microseconds())/1000, "last-ms")
					b.ReportMetric(c.each, "KB/watcher")
				})
			}
			if len(last) == len(benchServers) {
				b.Logf("%d watchers: last served %.2fx, memory %.2fx of a handler each",
					n, float64(last["umpire"])/float64(last["handler"]), each["umpire"]/each["handler"])
			}
		})
	}
}

// BenchmarkCheck requests one decision, and compares with the same bytes in a raw frame,
// to measure only the transport.
func BenchmarkCheck(b *testing.B) {
	w := serve(b, "unix", server.Config{Limits: server.Limits{PerSecond: 100_000_000}})
	call := umpire.Call{ID: "c1", Tool: "Bash", Dir: "/p", Input: json.RawMessage(`{"command":"git status --short && git log --oneline -5 | head -3"}`)}
	b.Run("raw frame", func(b *testing.B) {
		conn := echoFrames(b)
		body, answer := encoded(b, call), make([]byte, 64<<10)
		for b.Loop() {
			if err := frameTrip(conn, body, answer); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("client", func(b *testing.B) {
		c := w.client(b, credentials.Agent)
		for b.Loop() {
			if _, err := c.Check(b.Context(), call); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("client, dialing each time", func(b *testing.B) {
		for b.Loop() {
			c, err := server.Dial(w.address, credentials.Agent)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := c.Check(b.Context(), call); err != nil {
				b.Fatal(err)
			}
			c.Close()
		}
	})
	for name, options := range map[string][]connect.ClientOption{"grpc": {connect.WithGRPC()}, "connect, protobuf": nil} {
		b.Run(name, func(b *testing.B) {
			c := w.gateClient(b, credentials.Agent, options...)
			for b.Loop() {
				if _, err := c.Check(b.Context(), connect.NewRequest(&umpirev1.Call{Tool: "Bash", Cwd: "/p"})); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// echoFrames answers each frame with a decision, which it encodes each time like the
// server does.
func echoFrames(b *testing.B) net.Conn {
	b.Helper()
	l, err := net.Listen("unix", filepath.Join(shortDir(b), "raw.sock"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		buffer := make([]byte, 64<<10)
		for {
			n, err := readFrame(conn, buffer)
			if err != nil {
				return
			}
			var call umpire.Call
			if json.Unmarshal(buffer[:n], &call) != nil {
				return
			}
			answer, _ := json.Marshal(filled[umpire.Decision]())
			if writeFrame(conn, answer) != nil {
				return
			}
		}
	}()
	conn, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close() })
	return conn
}

func frameTrip(conn net.Conn, body, answer []byte) error {
	if err := writeFrame(conn, body); err != nil {
		return err
	}
	n, err := readFrame(conn, answer)
	if err != nil {
		return err
	}
	var decision umpire.Decision
	return json.Unmarshal(answer[:n], &decision)
}

func writeFrame(conn net.Conn, body []byte) error {
	_, err := conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...))
	return err
}

func readFrame(conn net.Conn, buffer []byte) (int, error) {
	if _, err := io.ReadFull(conn, buffer[:4]); err != nil {
		return 0, err
	}
	n := int(binary.BigEndian.Uint32(buffer))
	_, err := io.ReadFull(conn, buffer[:n])
	return n, err
}
