package cli

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/client"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/internal/process"
	"github.com/umpirehq/umpire/internal/secret"
	"github.com/umpirehq/umpire/internal/server"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/internal/store/postgres"
	"github.com/umpirehq/umpire/internal/store/sqlite"
)

// A command reaches the gate that runs over the wire, or calls one directly that it opens
// for itself on the same store. What is there but refuses is an error; it is never stepped
// around.

// A credential is whose part a command takes.
type credential string

// The credentials, which lie beside the gate's socket.
const (
	agentCredential  credential = "agent"
	personCredential credential = "person"
)

// openGate opens the gate for a command. The function that it returns closes it.
func (a *App) openGate(ctx context.Context, as credential) (umpire.Gate, func(), error) {
	c, _, done, err := a.reachGate(ctx, as, "")
	return c, done, err
}

// withGate opens the gate for a piece of work, and closes it. An error of the gate gets its
// exit code.
func (a *App) withGate(ctx context.Context, as credential, work func(umpire.Gate) error) error {
	gate, done, err := a.openGate(ctx, as)
	if err != nil {
		return err
	}
	defer done()
	return gateError(work(gate))
}

// findGate opens the gate to look at it, unless nothing was ever stored: then
// there is no gate and no error.
func (a *App) findGate(ctx context.Context) (umpire.Gate, func(), error) {
	conf, err := a.loadConfig(a.dir)
	if err != nil {
		return nil, nil, err
	}
	at, err := a.readStoreAddress(conf.Store)
	if err != nil {
		return nil, nil, err
	}
	running, err := a.dialExpectedGate(ctx, conf, personCredential, "")
	if err != nil || running == nil && !at.exists() {
		return nil, nil, err
	}
	if running != nil {
		return running, gateCloser(running), nil
	}
	return a.openOwnGate(ctx, conf, "")
}

// reachGate dials the gate that runs, or opens one in this process, and tells which.
func (a *App) reachGate(ctx context.Context, as credential, tokenFile string) (gate umpire.Gate, runs bool, done func(), err error) {
	conf, err := a.loadConfig(a.dir)
	if err != nil {
		return nil, false, nil, err
	}
	a.remarkAll(conf.Notices)
	running, err := a.dialExpectedGate(ctx, conf, as, tokenFile)
	if err != nil {
		return nil, false, nil, err
	}
	if running != nil {
		return running, true, gateCloser(running), nil
	}
	gate, done, err = a.openOwnGate(ctx, conf, tokenFile)
	return gate, false, done, err
}

// dialExpectedGate dials the gate that runs; nil is none. One that is configured to
// listen somewhere has to be there.
func (a *App) dialExpectedGate(ctx context.Context, conf *config.Config, as credential, tokenFile string) (*client.Client, error) {
	where, err := a.readListenAddress(conf.Listen)
	if err != nil {
		return nil, err
	}
	running, err := dialAddress(ctx, a, where, as, tokenFile)
	if err == nil && running == nil && conf.Listen != "" {
		err = &exit{
			code: exitGate, hint: "umpire serve",
			err: fmt.Errorf("no gate answers on %s, where %s says that it listens", where, conf.Sources["listen"]),
		}
	}
	return running, err
}

func gateCloser(c *client.Client) func() {
	if c == nil {
		return nil
	}
	return func() { c.Close() } //nolint:errcheck // there is nothing left to do with a connection that does not close
}

// dialGate dials the gate that runs; nil is none. It opens no store.
func (a *App) dialGate(ctx context.Context, listen string, as credential) (*client.Client, error) {
	where, err := a.readListenAddress(listen)
	if err != nil {
		return nil, err
	}
	return dialAddress(ctx, a, where, as, "")
}

func dialAddress(ctx context.Context, a *App, where address, as credential, tokenFile string) (*client.Client, error) {
	there, err := where.answers(ctx)
	if err != nil {
		return nil, &exit{code: exitGate, err: err}
	}
	if !there {
		return nil, nil
	}
	token, err := readToken(a, where, as, tokenFile)
	if err != nil {
		return nil, err
	}
	c, err := client.Dial(where.String(), token)
	if err != nil {
		return nil, &exit{code: exitGate, err: fmt.Errorf("the gate on %s: %w", where, err)}
	}
	c.Name = clientName
	return c, nil
}

// clientName is what this program is called on the record.
const clientName = "cli"

// readToken reads a credential: the one that is named, or the one beside the gate.
func readToken(a *App, where address, as credential, tokenFile string) (string, error) {
	if tokenFile != "" {
		token, err := client.ReadToken(tokenFile)
		return token, failed(err)
	}
	token, err := client.ReadToken(filepath.Join(a.stateDir(), string(as)+".token"))
	if err != nil {
		return "", &exit{code: exitGate, err: fmt.Errorf("a gate answers on %s, and its credential cannot be read: %w", where, err)}
	}
	return token, nil
}

// openOwnGate opens a gate for this process alone, which wants no credential:
// who can open the store can do everything to it. One that is named is checked all
// the same, since it stands for the person.
func (a *App) openOwnGate(ctx context.Context, conf *config.Config, tokenFile string) (umpire.Gate, func(), error) {
	at, err := a.readStoreAddress(conf.Store)
	if err != nil {
		return nil, nil, err
	}
	if err := checkPersonToken(a, tokenFile); err != nil {
		return nil, nil, err
	}
	g, err := a.startGate(ctx, conf, at, false)
	if err != nil {
		return nil, nil, err
	}
	return server.Local(g.gate, clientName), func() {
		if err := g.close(); err != nil {
			a.remark(err.Error())
		}
	}, nil
}

// An startedGate is a gate with the store that it stands on, and what tends it.
type startedGate struct {
	gate  *gate.Gate
	store *store.Store
	keep  *keeper
	stop  context.CancelFunc
	done  sync.WaitGroup
}

// startGate opens the store and a gate over it, and begins to tend it. One that
// lives on follows the rule files.
func (a *App) startGate(ctx context.Context, conf *config.Config, at storeAddress, follow bool) (*startedGate, error) {
	if a.home() == "" {
		return nil, usage("export HOME=... or UMPIRE_HOME=...", "there is no home folder for the gate's keys")
	}
	s, err := at.open(ctx)
	if err != nil {
		return nil, &exit{code: exitError, hint: remedyFor(at), err: fmt.Errorf("open the store: %w", err)}
	}
	key, err := secret.OpenKey(a.stateDir())
	if err != nil {
		return nil, failed(errors.Join(fmt.Errorf("open the key that seals secrets: %w", err), s.Close()))
	}
	sealer, err := key.Sealer()
	if err != nil {
		return nil, failed(errors.Join(err, s.Close()))
	}
	c := a.gateConfig(conf)
	c.Masker, c.Sealer = key.Masker(), sealer
	c.Store, c.Follow, c.SettingsOf, c.Alive, c.Warn = s, follow, a.readSettings, process.Alive, func(err error) { a.remark(err.Error()) }
	g := &startedGate{gate: gate.New(c), store: s, keep: keepCheckpoints(a, s, at)}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	g.stop = stop
	g.done.Go(func() { g.gate.Run(running) })
	if follow {
		g.done.Go(func() { g.keep.run(running) })
	}
	return g, nil
}

// close ends the gate, and waits for what it does.
func (g *startedGate) close() error {
	g.stop()
	g.done.Wait()
	err := g.gate.Close()
	g.keep.renew(context.Background())
	return errors.Join(err, g.store.Close())
}

// readSettings reads the configuration that holds in the project of a folder.
func (a *App) readSettings(dir string) (gate.Settings, error) {
	conf, err := a.readConfig(dir)
	if err != nil {
		return gate.Settings{}, err
	}
	return conf.GateSettings(), nil
}

// checkPersonToken refuses a credential that is not the person's.
func checkPersonToken(a *App, tokenFile string) error {
	if tokenFile == "" {
		return nil
	}
	token, err := client.ReadToken(tokenFile)
	if err != nil {
		return failed(err)
	}
	known, err := server.LoadCredentials(a.stateDir())
	if err != nil {
		return failed(err)
	}
	if subtle.ConstantTimeCompare([]byte(token), []byte(known.Person)) != 1 {
		return refused("", "%s holds no credential of a person", tokenFile)
	}
	return nil
}

// remedyFor is what to do when the store cannot be opened.
func remedyFor(s storeAddress) string {
	if s.kind == storePostgres {
		return "start the database, or name another store: umpire serve --store sqlite:PATH"
	}
	return ""
}

// open opens the store.
func (s storeAddress) open(ctx context.Context) (*store.Store, error) {
	if s.kind == storePostgres {
		return postgres.Open(ctx, s.name)
	}
	return sqlite.Open(ctx, s.name)
}

// gateError maps what a gate says to an exit code.
func gateError(err error) error {
	if err == nil {
		return nil
	}
	if _, known := errors.AsType[*exit](err); known {
		return err
	}
	code := exitGate
	switch {
	case errors.Is(err, context.Canceled):
		code = exitError
	case errors.Is(err, umpire.ErrNotFound), errors.Is(err, umpire.ErrNotRecorded):
		code = exitError
	case errors.Is(err, umpire.ErrInvalid):
		code = exitUsage
	case errors.Is(err, umpire.ErrResolved), errors.Is(err, umpire.ErrState), errors.Is(err, umpire.ErrFenced),
		errors.Is(err, umpire.ErrOtherProject), errors.Is(err, umpire.ErrLimit), errors.Is(err, umpire.ErrChanged):
		code = exitRefused
	case errors.Is(err, client.ErrCredential):
		code, err = exitRefused, fmt.Errorf("the gate does not take this credential: %w", err)
	}
	return &exit{code: code, err: err}
}

// sessionError is the gate's error about a session that a flag names, with what to look at.
func sessionError(err error) error {
	told, ok := errors.AsType[*exit](gateError(err))
	switch {
	case !ok:
		return err
	case told.hint != "":
	case errors.Is(err, umpire.ErrNotFound):
		told.hint = "umpire sessions --all-projects"
	case errors.Is(err, umpire.ErrState):
		told.hint = "umpire sessions"
	}
	return told
}

// agentName is how the built-in agent is called on the timeline.
const agentName = "umpire"
