package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/server"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// A Config configures a console. Gate and NewCode are required.
type Config struct {
	// Gate is the gate of this process. It notes who answers.
	Gate umpire.Gate
	// NewCode makes up a code that a terminal shows and a person types in the browser.
	NewCode func() string
	// Dir is the folder whose rules are shown while there is no session.
	Dir string
	// Attend says that a page is open on which a person sees questions, until leave is called; nil
	// tells nobody.
	Attend func() (leave func())
	// Changes is what a call would change, as a unified diff; nil shows none.
	Changes func(text *catalogue.Language, p *umpire.Pending, s *umpire.Session) string
	// Undoable lists the changes of calls that were kept and can be taken back; nil offers none.
	Undoable func() (map[umpire.CallID][]Undoable, error)
	// Undo takes back the changes with an id, and says what it did. It is required with Undoable.
	Undo func(ctx context.Context, text *catalogue.Language, id string) (string, error)
	// Log gets panics and the end of the listener; nil discards them.
	Log *slog.Logger
}

// anyPort is the address of any free port of this machine.
const anyPort = "127.0.0.1:0"

// A Console serves its pages after Listen or Open. It is safe for concurrent use.
type Console struct {
	config Config
	now    func() time.Time
	logins *logins
	codes  *codes
	tally  *tally
	routes *http.ServeMux
	ended  context.Context //nolint:containedctx // it ends with the listener, not with a request
	end    context.CancelFunc
	serves sync.WaitGroup
	// strangers holds a value for each request without a sign-in that sends a body.
	strangers chan struct{}

	mu        sync.Mutex
	address   string // "" until it listens
	server    *http.Server
	terminals map[chan string]bool // each takes lines
}

// New returns a console that does not listen yet. It ends with Close.
func New(c Config) *Console {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Attend == nil {
		c.Attend = func() func() { return func() {} }
	}
	if c.Changes == nil {
		c.Changes = func(*catalogue.Language, *umpire.Pending, *umpire.Session) string { return "" }
	}
	if c.Undoable == nil {
		c.Undoable = func() (map[umpire.CallID][]Undoable, error) { return nil, nil }
		c.Undo = func(context.Context, *catalogue.Language, string) (string, error) { return "", umpire.ErrNotFound }
	}
	console := &Console{
		config: c, now: time.Now, terminals: map[chan string]bool{}, strangers: make(chan struct{}, maxStrangers),
	}
	now := func() time.Time { return console.now() }
	console.logins, console.codes = newLogins(now), newCodes(now, c.NewCode)
	console.tally = &tally{
		read: func(ctx context.Context, before, size int64) ([]umpire.Event, int64, error) {
			return console.readWindow(ctx, &historyQuery{}, before, size)
		},
		list: c.Gate.Events, now: now,
	}
	console.ended, console.end = context.WithCancel(context.Background())
	console.addRoutes()
	return console
}

// Limits on connections.
const (
	headerTimeout = 10 * time.Second
	bodyTimeout   = 30 * time.Second
	idleTimeout   = 5 * time.Minute
	maxHeader     = 16 << 10
	// Anybody on the machine can connect, and takes no more than this of the gate's descriptors.
	maxBusy, maxIdle = 48, 16
	drainTime        = 2 * time.Second
)

// Listen makes the console listen on a loopback address; "" is any free port. It does
// nothing when the console listens already.
func (c *Console) Listen(ctx context.Context, address string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.address != "" {
		return nil
	}
	if c.ended.Err() != nil {
		return umpire.Errorf("the console has ended: %w", umpire.ErrState)
	}
	listener, err := server.Listen(ctx, cmp.Or(address, anyPort), false)
	if err != nil {
		return err
	}
	if _, isTCP := listener.Addr().(*net.TCPAddr); !isTCP {
		return errors.Join(umpire.Errorf("console %q: want HOST:PORT", address), listener.Close())
	}
	c.address = listener.Addr().String()
	c.server = &http.Server{
		Handler:           c,
		ReadHeaderTimeout: headerTimeout, ReadTimeout: bodyTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeader, ConnState: server.LimitConnections(maxBusy, maxIdle),
		ErrorLog:    log.New(io.Discard, "", 0),
		BaseContext: func(net.Listener) context.Context { return c.ended },
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return context.WithValue(ctx, browserKey{}, server.BrowserOf(conn))
		},
	}
	c.serves.Go(func() {
		if err := c.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			c.config.Log.Error("the console does not serve any more", "error", err)
		}
	})
	return nil
}

// Address returns where the console listens, "" before it does.
func (c *Console) Address() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.address
}

// Close stops the console, and waits a short time for requests that are being answered.
func (c *Console) Close() error {
	c.end()
	c.mu.Lock()
	served := c.server
	c.mu.Unlock()
	if served == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	err := served.Shutdown(ctx)
	if err != nil {
		err = served.Close()
	}
	c.serves.Wait()
	return err
}

// maxLines is how many lines a terminal may be behind.
const maxLines = 16

// Open makes the console listen if it does not yet. It writes a link for signing in to a terminal,
// and then the codes that answers need, until ctx ends. Each write is one line.
func (c *Console) Open(ctx context.Context, lang string, terminal io.Writer) error {
	if err := c.Listen(ctx, ""); err != nil {
		return err
	}
	lines := make(chan string, maxLines)
	c.mu.Lock()
	c.terminals[lines] = true
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.terminals, lines)
		c.mu.Unlock()
	}()
	text := catalogue.Find(lang)
	lines <- view.Joined(text.Of("Open this page within a minute; the link works once"), ":", "")
	lines <- fmt.Sprintf("  http://%s/#%s", c.Address(), c.logins.makeLink(lang))
	lines <- text.Of("Codes for answers are shown here. Ctrl-C ends this; the page stays open.")
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-c.ended.Done():
			return nil
		case line := <-lines:
			if _, err := io.WriteString(terminal, line+"\n"); err != nil {
				return err
			}
		}
	}
}

// tellTerminals writes a line to every terminal that follows the console, and reports whether there
// was one. A terminal that is maxLines behind misses the line.
func (c *Console) tellTerminals(line string) (told bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for lines := range c.terminals {
		select {
		case lines <- line:
			told = true
		default:
		}
	}
	return told
}
