package run

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/console"
	"github.com/umpirehq/umpire/internal/hold/process"
	"github.com/umpirehq/umpire/internal/server"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// demoAgents are the agents that work at once: the name of each, its project and its task.
var demoAgents = []struct{ name, project, task string }{
	{"Claude Code", "webshop", "Fix the rounding of totals."},
	{"Codex", "infra", "Prepare the release and clean up."},
	{"chat", "notes", "Note what the contract says."},
}

// playConsole makes the agents work over one gate, whose console shows their questions, until ctx ends.
func (d *Demo) playConsole(ctx context.Context, a *app.App, place string) (err error) {
	tty, err := a.OpenTerminal()
	if err != nil {
		return app.Refused(a.Text.Of("run it in a terminal"), "the link is shown on a terminal only: %w", err)
	}
	defer tty.Close()
	a.Dir = place
	if err := makeDemoProjects(ctx, place); err != nil {
		return app.Failed(err)
	}
	conf, err := a.LoadConfig(place)
	if err != nil {
		return err
	}
	at, err := a.ReadStoreAddress(conf.Store)
	if err != nil {
		return err
	}
	g, err := a.StartGate(ctx, conf, at, true)
	if err != nil {
		return err
	}
	pages := d.NewConsole(a, g.Gate)
	fmt.Fprintf(a.Stdout, a.Text.Of(demoConsoleIntro)+"\n\n", place)
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() { playAgents(ctx, a, server.Local(g.Gate, app.ClientName)) })
	err = followPages(ctx, a.Text, pages, tty)
	cancel()
	work.Wait()
	if err := errors.Join(err, pages.Close(), g.Close()); err != nil {
		return app.Failed(err)
	}
	fmt.Fprintf(a.Stdout, "\n%s\n", a.Text.Of("The demo is over."))
	return nil
}

// makeDemoProjects creates the agents' projects, with their files that are not in git.
func makeDemoProjects(ctx context.Context, place string) error {
	if err := moveHome(place); err != nil {
		return err
	}
	for _, who := range demoAgents {
		from := path.Join("demo/agents", who.project, "project")
		if err := makeProject(ctx, from, filepath.Join(place, who.project)); err != nil {
			return err
		}
	}
	beside, err := fs.Sub(demoFiles, "demo/agents/beside")
	if err != nil {
		return err
	}
	return os.CopyFS(place, beside)
}

// playAgents returns when each of the agents is done, or ctx has ended.
func playAgents(ctx context.Context, a *app.App, gate umpire.Gate) {
	var agents sync.WaitGroup
	var line sync.Mutex
	for _, who := range demoAgents {
		own := *a
		own.Dir = filepath.Join(a.Dir, who.project)
		lines := &labelledLines{mu: &line, to: a.Stdout, label: who.project}
		own.Stdout = lines
		own.Stderr, own.ToTerminal = own.Stdout, false
		agents.Go(func() {
			err := errors.Join(playTurns(ctx, &own, gate, who.name, who.project, who.task), lines.writeRest())
			if err != nil && ctx.Err() == nil {
				own.RemarkError(err)
			}
		})
	}
	agents.Wait()
	if ctx.Err() == nil {
		fmt.Fprintln(a.Stdout, a.Text.Of("The agents are done. Look around in the browser; Ctrl-C ends the demo."))
	}
}

// playTurns has one agent play its script.
func playTurns(ctx context.Context, a *app.App, gate umpire.Gate, name, project, task string) error {
	model, err := readTurns(path.Join("demo/agents", project, "turns.json"))
	if err != nil {
		return err
	}
	s := &agentRun{App: a, flags: &runFlags{}, gate: gate, inBrowser: true}
	if err := s.prepare(); err != nil {
		return err
	}
	runner := process.NameOf(os.Getpid())
	session, err := gate.Sessions().Open(ctx, umpire.Opening{Dir: a.Dir, Agent: name, Runner: runner})
	if err != nil {
		return app.SessionError(err)
	}
	return s.runAgent(ctx, session, model, task)
}

// followPages shows a link and codes on the terminal until ctx ends. Each Enter gets a new link.
func followPages(ctx context.Context, text *catalogue.Language, pages *console.Console, tty io.ReadWriter) error {
	enters := make(chan struct{})
	go func() { // not every system can cancel a terminal read, so this goroutine is not awaited
		for lines := bufio.NewScanner(tty); lines.Scan(); {
			select {
			case enters <- struct{}{}:
			case <-ctx.Done():
				return
			}
		}
	}()
	for {
		if _, err := fmt.Fprintln(tty, app.IntroduceLink(text)); err != nil {
			return err
		}
		linked, renew := context.WithCancel(ctx)
		followed := make(chan error, 1)
		go func() { followed <- pages.Open(linked, text.Word("language tag", "en"), "", false, tty) }()
		select {
		case <-enters:
			renew()
			if err := <-followed; err != nil {
				return err
			}
		case err := <-followed:
			renew()
			return err
		}
	}
}

// labelledLines writes whole lines, each behind a label.
type labelledLines struct {
	mu    *sync.Mutex // held while writing a line
	to    io.Writer
	label string
	rest  []byte // of a line that has not ended
}

func (l *labelledLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := append(l.rest, p...)
	for {
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		if !whole {
			l.rest = line
			return len(p), nil
		}
		if _, err := fmt.Fprintf(l.to, "%-8s %s\n", l.label, line); err != nil {
			return 0, err
		}
		text = rest
	}
}

// writeRest writes a line that has not ended.
func (l *labelledLines) writeRest() error {
	if len(l.rest) == 0 {
		return nil
	}
	_, err := l.Write([]byte("\n"))
	return err
}

// demoConsoleIntro is shown before the agents begin.
const demoConsoleIntro = `Three agents that play scripts work in %s.
You answer them in a browser. Enter shows a new link, Ctrl-C ends the demo.`
