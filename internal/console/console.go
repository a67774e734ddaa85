package console

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate/history"
	"github.com/umpirehq/umpire/internal/gate/task"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// A Config configures a console. Gate, GateOf and NewCode are required.
type Config struct {
	// Gate is the gate of this process; the console only reads from it.
	Gate umpire.Gate
	// GateOf returns a gate that records a person's answers and changes under a name, or "" for the
	// user of this process.
	GateOf func(person string) umpire.Gate
	// NewCode returns a new code, which a terminal shows and a person types in the browser.
	NewCode func() string
	// Dir is the folder whose rules are shown while there are no sessions, and Home the person's home directory.
	Dir, Home string
	// Attend signals that a page on which a person sees questions is open, until leave is called;
	// it may be nil.
	Attend func() (leave func())
	// Changes returns a unified diff of a call's changes; if nil, no diff is shown.
	Changes func(ctx context.Context, text *catalogue.Language, p *umpire.Pending, s *umpire.Session) string
	// Undoable lists the changes of calls that were kept and can be undone; if nil, undo is not offered.
	Undoable func() (map[umpire.CallID][]Undoable, error)
	// Undo undoes the changes with an id, and describes the result. It is required with Undoable.
	Undo func(ctx context.Context, text *catalogue.Language, by umpire.Gate, id string) (string, error)
	// Tasks opens the desk at which tasks are drafted for a session; if nil, they are not offered.
	Tasks func(ctx context.Context, text *catalogue.Language, s *umpire.Session) (task.Desk, error)
	// TryRule says what a rule of a project would have changed since a time; if nil, no rule is tried.
	TryRule func(c context.Context, text *catalogue.Language, dir, action, rule string, since time.Time) (string, error)
	// Suggest returns the changes that would have saved the most questions since a time; if nil, they are not offered.
	Suggest func(ctx context.Context, text *catalogue.Language, since time.Time) ([]history.Saving, error)
	// Passkeys is the file of the passkeys; "" keeps them in memory.
	Passkeys string
	// Log receives panics and listener errors; nil discards them.
	Log *slog.Logger
}

// A Console serves its pages after Listen or Open. It is safe for concurrent use.
type Console struct {
	config Config
	now    func() time.Time
	logins *logins
	codes  *codes
	// challenges holds the tokens that passkeys are asked to sign.
	challenges *codes
	// signInChallenges are the challenges of browsers that are not signed in.
	signInChallenges *signInChallenges
	passkeys         *passkeys
	tally            *tally
	tasks            *tasks
	routes           *http.ServeMux
	ended            context.Context //nolint:containedctx // it ends with the listener, not with a request
	end              context.CancelFunc
	serves           sync.WaitGroup

	mu     sync.Mutex
	local  *origin // nil until it listens there
	remote *origin // as local
	// badCertificate is the last logged problem with the certificate.
	badCertificate string
	servers        []*http.Server
	terminals      map[chan string]bool // each receives lines
}

// New returns a console that does not listen yet. Close ends it.
func New(c Config) *Console {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Attend == nil {
		c.Attend = func() func() { return func() {} }
	}
	if c.Changes == nil {
		c.Changes = func(context.Context, *catalogue.Language, *umpire.Pending, *umpire.Session) string { return "" }
	}
	if c.Undoable == nil {
		c.Undoable = func() (map[umpire.CallID][]Undoable, error) { return nil, nil }
		c.Undo = func(context.Context, *catalogue.Language, umpire.Gate, string) (string, error) {
			return "", umpire.ErrNotFound
		}
	}
	console := &Console{
		config: c, now: time.Now, terminals: map[chan string]bool{}, tasks: newTasks(c.Gate),
	}
	now := func() time.Time { return console.now() }
	console.logins, console.codes = newLogins(now), newCodes(now, c.NewCode)
	console.challenges, console.passkeys = newCodes(now, newToken), loadPasskeys(c.Passkeys)
	console.signInChallenges = newSignInChallenges(now)
	if err := console.passkeys.err; err != nil {
		c.Log.Error("there are no passkeys", "error", err)
	}
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

// maxLines is how many lines a terminal may lag behind.
const maxLines = 16

// Open makes the console listen if it does not yet. It writes a sign-in link to a terminal, and
// then the codes for answers, until ctx ends. Each write is one line, and the first is the link
// alone. The link signs in the person with that name, or the user of this process for "". A remote
// link is for the address that [Console.ListenRemote] opened.
func (c *Console) Open(ctx context.Context, lang, person string, remote bool, terminal io.Writer) error {
	if err := CheckName(person); err != nil && person != "" {
		return err
	}
	o, err := c.originFor(ctx, remote)
	if err != nil {
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
	lines <- o.url + "/#" + c.logins.makeLink(link{lang: lang, person: person, origin: o})
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

var errNoRemote = umpire.Errorf(
	"the gate serves the console on this machine only: set the key console, and start the gate again: %w",
	umpire.ErrState)

// originFor returns the origin that a link is for.
func (c *Console) originFor(ctx context.Context, remote bool) (*origin, error) {
	if !remote {
		if err := c.Listen(ctx, ""); err != nil {
			return nil, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !remote {
		return c.local, nil
	}
	if c.remote == nil {
		return nil, errNoRemote
	}
	return c.remote, nil
}

// tellTerminals writes a line to every terminal that follows the console, and reports whether there
// is one. A terminal that is maxLines behind misses the line.
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

// addRoutes registers the console's paths.
func (c *Console) addRoutes() {
	c.routes = http.NewServeMux()
	for path := range assetTypes {
		c.routes.HandleFunc("GET "+path, sendAsset)
	}
	c.routes.HandleFunc("GET /{$}", c.showInbox)
	c.routes.HandleFunc("GET "+timelinePath, c.showTimeline)
	c.routes.HandleFunc("GET "+callPath, (&callPages{c}).showCall)
	c.routes.HandleFunc("POST "+undoPath, c.undo)
	sessions := &sessionPages{c}
	c.routes.HandleFunc("GET "+sessionsPath, sessions.showSessions)
	c.routes.HandleFunc("GET "+sessionPath, sessions.showSession)
	c.routes.HandleFunc("POST "+endSessionPath, sessions.endSession)
	tasks := &taskPages{c}
	c.routes.HandleFunc("GET "+taskPath, tasks.showTask)
	c.routes.HandleFunc("POST "+taskCodePath, tasks.sendTaskCode)
	c.routes.HandleFunc("POST "+approveTaskPath, tasks.approveTask)
	rules := &rulePages{c}
	c.routes.HandleFunc("GET "+rulesPath, rules.showRules)
	c.routes.HandleFunc("POST "+ruleCodePath, rules.sendRemovalCode)
	c.routes.HandleFunc("POST "+removeRulePath, rules.removeRule)
	c.routes.HandleFunc("POST "+revokePath, rules.revokeGrant)
	c.routes.HandleFunc("GET "+overviewPath, (&overviewPages{c}).showOverview)
	passkeys := &passkeyPages{c}
	c.routes.HandleFunc("GET "+passkeysPath, passkeys.showPasskeys)
	c.routes.HandleFunc("POST "+passkeyCodePath, passkeys.sendPasskeyCode)
	c.routes.HandleFunc("POST "+passkeyBeginPath, passkeys.beginPasskey)
	c.routes.HandleFunc("POST "+passkeyAddPath, passkeys.addPasskey)
	c.routes.HandleFunc("POST "+passkeyRemovePath, passkeys.removePasskey)
	pushes := &pushPages{c}
	c.routes.HandleFunc("POST "+subscribePath, pushes.subscribe)
	c.routes.HandleFunc("POST "+noticeCodePath, pushes.sendNoticeCode)
	c.routes.HandleFunc("POST "+noticeChallengePath, pushes.sendNoticeChallenge)
	c.routes.HandleFunc("POST "+unsubscribePath, pushes.unsubscribe)
	c.routes.HandleFunc("POST "+challengePath, passkeys.sendChallenge)
	c.routes.HandleFunc("GET "+eventsPath, c.streamEvents)
	c.routes.HandleFunc("POST "+answerPath, c.answer)
	c.routes.HandleFunc("POST "+codePath, c.sendCode)
	c.routes.HandleFunc("POST "+signOutPath, (&signInPages{c}).signOut)
}
