package app

import (
	"context"
	"crypto/subtle"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/internal/hold/process"
	"github.com/umpirehq/umpire/internal/hold/trial"
	"github.com/umpirehq/umpire/internal/secret"
	"github.com/umpirehq/umpire/internal/server"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/internal/store/postgres"
	"github.com/umpirehq/umpire/internal/store/sqlite"
)

// A command reaches the gate that runs over the wire, or calls one directly that it opens for
// itself on the same store. A gate that is there but refuses is an error; it is never
// bypassed.

// A Credential is whose part a command takes.
type Credential string

// The credentials, which are stored next to the gate's socket.
const (
	AgentCredential  Credential = "agent"
	PersonCredential Credential = "person"
)

// OpenGate opens the gate for a command. The function that it returns closes it.
func (a *App) OpenGate(ctx context.Context, as Credential) (umpire.Gate, func(), error) {
	c, _, done, err := a.ReachGate(ctx, as, "")
	return c, done, err
}

// WithGate opens the gate for a piece of work, and closes it. An error of the gate gets its
// exit code.
func (a *App) WithGate(ctx context.Context, as Credential, work func(umpire.Gate) error) error {
	gate, done, err := a.OpenGate(ctx, as)
	if err != nil {
		return err
	}
	defer done()
	return GateError(work(gate))
}

// FindGate opens the gate for reading. If nothing was ever stored, it returns neither a
// gate nor an error.
func (a *App) FindGate(ctx context.Context) (umpire.Gate, func(), error) {
	conf, err := a.LoadConfig(a.Dir)
	if err != nil {
		return nil, nil, err
	}
	at, err := a.ReadStoreAddress(conf.Store)
	if err != nil {
		return nil, nil, err
	}
	running, err := a.DialExpectedGate(ctx, conf, PersonCredential, "")
	if err != nil || running == nil && !at.Exists() {
		return nil, nil, err
	}
	if running != nil {
		return running, GateCloser(running), nil
	}
	return a.OpenOwnGate(ctx, conf, "")
}

// ReachGate dials the running gate, or opens one in this process, and says which.
func (a *App) ReachGate(ctx context.Context, as Credential,
	tokenFile string) (gate umpire.Gate, runs bool, done func(), err error) {
	conf, err := a.LoadConfig(a.Dir)
	if err != nil {
		return nil, false, nil, err
	}
	a.RemarkAll(conf.Notices)
	running, err := a.DialExpectedGate(ctx, conf, as, tokenFile)
	if err != nil {
		return nil, false, nil, err
	}
	if running != nil {
		return running, true, GateCloser(running), nil
	}
	gate, done, err = a.OpenOwnGate(ctx, conf, tokenFile)
	return gate, false, done, err
}

// DialExpectedGate dials the running gate, or returns nil if no gate runs. It fails if
// a gate should be running because an address is configured.
func (a *App) DialExpectedGate(ctx context.Context, conf *config.Config, as Credential,
	tokenFile string) (*server.Client, error) {
	where, err := a.ReadListenAddress(conf.Listen)
	if err != nil {
		return nil, err
	}
	running, err := dialAddress(ctx, a.StateDir(), where, as, tokenFile)
	if err == nil && running == nil && conf.Listen != "" {
		err = &CommandError{
			Code: ExitGate, Hint: "umpire serve",
			Err: umpire.Errorf("no gate answers on %s, its address in %s", where, conf.Sources["listen"]),
		}
	}
	return running, err
}

// GateCloser returns a function that closes a connection, or nil if c is nil.
func GateCloser(c *server.Client) func() {
	if c == nil {
		return nil
	}
	return func() { c.Close() } //nolint:errcheck // nothing is left to do with a connection that does not close
}

// DialGate dials the running gate, or returns nil if no gate runs. It does not open a store.
func (a *App) DialGate(ctx context.Context, listen string, as Credential) (*server.Client, error) {
	where, err := a.ReadListenAddress(listen)
	if err != nil {
		return nil, err
	}
	return dialAddress(ctx, a.StateDir(), where, as, "")
}

func dialAddress(
	ctx context.Context, stateDir string, where Address, as Credential, tokenFile string,
) (*server.Client, error) {
	there, err := where.Answers(ctx)
	if err != nil {
		return nil, &CommandError{Code: ExitGate, Err: err}
	}
	if !there {
		return nil, nil
	}
	token, err := ReadToken(stateDir, where, as, tokenFile)
	if err != nil {
		return nil, err
	}
	c, err := server.Dial(where.String(), token)
	if err != nil {
		return nil, &CommandError{Code: ExitGate, Err: umpire.Errorf("the gate on %s: %w", where, err)}
	}
	c.Name = ClientName
	return c, nil
}

// ClientName is the name of this program on the timeline.
const ClientName = "cli"

// ReadToken reads a credential: the named one, or the one next to the gate.
func ReadToken(stateDir string, where Address, as Credential, tokenFile string) (string, error) {
	if tokenFile != "" {
		return readTokenFile(tokenFile)
	}
	token, err := server.ReadToken(filepath.Join(stateDir, string(as)+".token"))
	if err != nil {
		return "", &CommandError{Code: ExitGate,
			Err: umpire.Errorf("a gate answers on %s, but its credential cannot be read: %w", where, err)}
	}
	return token, nil
}

// readTokenFile reads the credential of --token-file.
func readTokenFile(path string) (string, error) {
	token, err := server.ReadToken(path)
	if err != nil {
		err = &CommandError{Code: ExitError, Err: err, Hint: "--token-file ~/.umpire/state/person.token"}
	}
	return token, err
}

// OpenOwnGate opens a gate for this process alone. It needs no credential, because a process
// that can open the store can do everything to it. It still checks a named token file, which
// represents the person.
func (a *App) OpenOwnGate(ctx context.Context, conf *config.Config, tokenFile string) (umpire.Gate, func(), error) {
	at, err := a.ReadStoreAddress(conf.Store)
	if err != nil {
		return nil, nil, err
	}
	if err := checkPersonToken(a.StateDir(), tokenFile); err != nil {
		return nil, nil, err
	}
	g, err := a.StartGate(ctx, conf, at, false)
	if err != nil {
		return nil, nil, err
	}
	return server.Local(g.Gate, ClientName), func() {
		if err := g.Close(); err != nil {
			a.RemarkError(err)
		}
	}, nil
}

// A StartedGate is a gate with its store and its background work.
type StartedGate struct {
	Gate  *gate.Gate
	store *store.Store
	keep  *keeper
	stop  context.CancelFunc
	done  sync.WaitGroup
}

// StartGate opens the store and a gate over it, and starts its background work. A long-lived
// gate follows the rule files.
func (a *App) StartGate(ctx context.Context, conf *config.Config, at StoreAddress, follow bool) (*StartedGate, error) {
	if a.Home() == "" {
		return nil, Usage("export HOME=... or UMPIRE_HOME=...", "there is no home folder for the gate's keys")
	}
	s, err := at.Open(ctx)
	if err != nil {
		return nil, explainStore(a.Home(), at, err)
	}
	key, err := secret.OpenKey(a.StateDir())
	if err != nil {
		return nil, Failed(errors.Join(umpire.Errorf("open the key that seals secrets: %w", err), s.Close()))
	}
	sealer, err := key.Sealer()
	if err != nil {
		return nil, Failed(errors.Join(err, s.Close()))
	}
	c := a.GateConfig(conf)
	c.Masker, c.Sealer = key.Masker(), sealer
	c.Layers = &trial.Keeper{State: a.StateDir(), Vault: NewVault(a), Limits: UndoLimits(conf)}
	c.Store, c.Follow, c.SettingsOf, c.Alive, c.Warn = s, follow, a.readSettings, process.Alive,
		a.RemarkError
	g := &StartedGate{Gate: gate.New(c), store: s, keep: keepCheckpoints(a, s, at)}
	if err := ReportTo(ctx, a.StateDir(), server.Local(g.Gate, ClientName)); err != nil {
		a.RemarkError(err)
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	g.stop = stop
	g.done.Go(func() { g.Gate.Run(running) })
	if follow {
		g.done.Go(func() { g.keep.renewOnChange(running) })
	}
	return g, nil
}

// Close ends the gate, and waits for its work.
func (g *StartedGate) Close() error {
	g.stop()
	g.done.Wait()
	err := g.Gate.Close()
	g.keep.renew(context.Background())
	return errors.Join(err, g.store.Close())
}

// readSettings reads the configuration that holds in the project of a folder.
func (a *App) readSettings(dir string) (config.Settings, error) {
	conf, err := a.ReadConfig(dir)
	if err != nil {
		return config.Settings{}, err
	}
	return conf.Settings, nil
}

// checkPersonToken refuses a credential that is not the person's.
func checkPersonToken(stateDir, tokenFile string) error {
	if tokenFile == "" {
		return nil
	}
	token, err := readTokenFile(tokenFile)
	if err != nil {
		return err
	}
	known, err := server.LoadCredentials(stateDir)
	if err != nil {
		return Failed(err)
	}
	if subtle.ConstantTimeCompare([]byte(token), []byte(known.Person)) != 1 {
		return Refused("", "%s does not contain a person's credential", tokenFile)
	}
	return nil
}

// remedyFor returns the next step if the store cannot be opened.
func remedyFor(s StoreAddress) string {
	if s.Kind == storePostgres {
		return "start the database, or use another store: umpire serve --store sqlite:PATH"
	}
	return "umpire doctor"
}

// explainStore returns the error of a store that cannot be opened.
func explainStore(home string, s StoreAddress, err error) error {
	e := &CommandError{Code: ExitError, Hint: remedyFor(s), Err: umpire.Errorf("open the store: %w", err)}
	if s.Kind == StoreSQLite && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) ||
		strings.Contains(err.Error(), "disk is full")) {
		e.Err = umpire.Errorf("umpire cannot write to %s: %w", home, err)
		e.Hint = "export UMPIRE_HOME=/another/folder"
	}
	return e
}

// Open opens the store.
func (s StoreAddress) Open(ctx context.Context) (*store.Store, error) {
	if s.Kind == storePostgres {
		return postgres.Open(ctx, s.Name)
	}
	return sqlite.Open(ctx, s.Name)
}

// GateError maps a gate's error to an exit code.
func GateError(err error) error {
	if err == nil {
		return nil
	}
	if _, known := errors.AsType[*CommandError](err); known {
		return err
	}
	code := ExitGate
	switch {
	case errors.Is(err, context.Canceled):
		code = ExitError
	case errors.Is(err, umpire.ErrNotFound), errors.Is(err, umpire.ErrNotRecorded):
		code = ExitError
	case errors.Is(err, umpire.ErrInvalid):
		code = ExitUsage
	case errors.Is(err, umpire.ErrResolved), errors.Is(err, umpire.ErrState), errors.Is(err, umpire.ErrFenced),
		errors.Is(err, umpire.ErrOtherProject), errors.Is(err, umpire.ErrLimit), errors.Is(err, umpire.ErrChanged):
		code = ExitRefused
	case errors.Is(err, server.ErrCredential):
		code, err = ExitRefused, umpire.Errorf("the gate rejects this credential: %w", err)
	}
	return &CommandError{Code: code, Err: err}
}

// SessionError returns the gate's error about a session from a flag, with a hint.
func SessionError(err error) error {
	commandErr, ok := errors.AsType[*CommandError](GateError(err))
	switch {
	case !ok:
		return err
	case commandErr.Hint != "":
	case errors.Is(err, umpire.ErrNotFound):
		commandErr.Hint = "umpire sessions --all-projects"
	case errors.Is(err, umpire.ErrState):
		commandErr.Hint = "umpire sessions"
	}
	return commandErr
}

// AgentName is how the built-in agent is called on the timeline.
const AgentName = "umpire"
