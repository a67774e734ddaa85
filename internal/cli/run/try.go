package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/tool"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/hold/egress"
	"github.com/umpirehq/umpire/internal/hold/process"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
	"github.com/umpirehq/umpire/internal/hold/trial"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/shell"
)

// A tryFlags holds the flags of `umpire try`.
type tryFlags struct {
	keep, discard bool
	diff, explain bool
	list          bool
	json          bool
	reach         []string
	cwd           string
}

// NewTryCommand is `umpire try`.
func NewTryCommand(a *app.App) *cobra.Command {
	var f tryFlags
	cmd := &cobra.Command{
		Use: "try [flags] -- COMMAND...", Args: cobra.ArbitraryArgs,
		Short:   "Run a command, look at what it did, then keep or discard it",
		Long:    longTry,
		Example: tryExample,
		RunE: func(cmd *cobra.Command, words []string) error {
			if f.list {
				if err := refuseBesideList(&f, words); err != nil {
					return err
				}
				return listHeld(a, f.json)
			}
			return tryCommand(cmd.Context(), a, &f, words)
		},
	}
	flags := cmd.Flags()
	flags.SetInterspersed(false) // flags after the command's name belong to it
	flags.BoolVar(&f.keep, "keep", false, "keep its changes without asking")
	flags.BoolVar(&f.discard, "discard", false, "discard its changes without asking")
	flags.BoolVar(&f.diff, "diff", false, "also show how files changed, line by line")
	flags.BoolVar(&f.explain, "explain", false, "also show the rows that decide whether the changes are kept")
	flags.StringSliceVar(&f.reach, "reach", nil, "let the command reach these `HOSTS`: you cannot undo what it sends")
	flags.BoolVar(&f.list, "list", false, "list the trials that wait")
	flags.BoolVar(&f.json, "json", false, "write JSON")
	flags.StringVar(&f.cwd, "cwd", "", "run the command in `DIR` (default: this one)")
	cmd.AddCommand(newShowCommand(a), newKeepCommand(a), newDiscardCommand(a))
	return cmd
}

// refuseBesideList rejects a command, and flags about one, together with --list.
func refuseBesideList(f *tryFlags, words []string) error {
	if len(words) > 0 || f.keep || f.discard || f.diff || f.reach != nil || f.cwd != "" {
		return app.Usage("umpire try --help", "--list takes no command and no flag but --json")
	}
	return nil
}

// tryCommand tries a command, and ends with its exit code.
func tryCommand(ctx context.Context, a *app.App, f *tryFlags, words []string) error {
	switch {
	case len(words) == 0:
		return app.Usage("umpire try -- npm test", "nothing to try: no command")
	case f.keep && f.discard:
		return app.Usage("umpire try --help", "--keep and --discard cannot be combined")
	}
	collectLater()
	ahead := sandbox.StartAhead(pipedInput(a.Stdin)) // concurrently with finding out its task
	defer ahead.End()
	profile, err := process.StartProfile(a.Getenv, "try")
	if err != nil {
		a.RemarkError(err)
	}
	for _, name := range f.reach {
		if slices.Contains(egress.GroupNames(), name) {
			return app.Usage("umpire autonomy --help", "--reach: %q is a group; name hosts, or list the group", name)
		}
	}
	if _, err := egress.ParseList(f.reach); err != nil {
		return app.Usage("umpire try --reach registry.example.com -- npm install", "--reach: %w", err)
	}
	f.cwd = a.Absolute(cmp.Or(f.cwd, a.Dir))
	conf, err := a.LoadConfig(f.cwd)
	if err != nil {
		return err
	}
	profile.End(process.ConfigRead)
	read := make(chan []string, 1) // reading the rules that hide secrets takes a while
	go func() { read <- tool.SandboxEnv(os.Environ(), conf.SandboxEnv) }()
	named, written, err := refuseDenied(a, f, view.CommandLine(words))
	if err != nil {
		return err
	}
	profile.End(process.LineJudged)
	state, err := prepareState(ctx, a)
	if err != nil {
		return err
	}
	defer app.TidyUp(ctx, a, conf)()
	defer app.ReportSettled(ctx, a)
	spec := trial.Spec{
		Args: commandArgs(words), Env: <-read, Dir: f.cwd, Seen: named, Ahead: ahead, State: trial.LayersIn(state),
		Stdin: pipedInput(a.Stdin), Stdout: a.Stdout, Stderr: a.Stderr,
		Place:     &sandbox.Place{Show: conf.SandboxShow},
		Temporary: sandbox.TemporaryFolder{Path: sandbox.Temporary, Named: written}, Profile: profile,
	}
	leases, err := leasesIn(a, f.cwd)
	if err != nil {
		return err
	}
	way := egress.Way{
		Listed: conf.Listed, Network: conf.Autonomy.Network, Approved: f.reach, Leases: leases,
		SSH:    app.SSHOf(a),
		Decide: func(_ context.Context, call umpire.Call) (umpire.Decision, error) { return decideIn(a, f.cwd, call) },
	}
	t := &tryRun{App: a, flags: f, state: state, command: view.CommandLine(words)}
	if tty, err := a.OpenTerminal(); err == nil && a.Terminal && !f.json && !f.discard && !f.keep {
		defer tty.Close()
		t.asks = &prompter{App: a, command: t.command, tty: tty, lines: app.NewLines(tty)}
		way.Ask = t.asks.askAbout
	}
	for {
		t.reach = len(way.Approved) > 0
		if spec.Exit, err = egress.NewProxy(way); err != nil {
			return app.Failed(err)
		}
		again, err := t.once(ctx, spec)
		if len(again) == 0 {
			return err
		}
		way.Approved = append(way.Approved, again...)
	}
}

// A tryRun is one run of `umpire try`.
type tryRun struct {
	*app.App

	flags   *tryFlags
	state   string // umpire's folder for trials
	command string
	reach   bool      // the person approved destinations
	asks    *prompter // nil without a person to ask
}

// leasesIn returns the leases of secrets for commands of a folder's project.
func leasesIn(a *app.App, dir string) ([]egress.Lease, error) {
	p, err := a.FindProject(dir)
	if err != nil {
		return nil, err
	}
	leases, err := app.LeasesIn(a, p.ID, "")
	return leases, app.Failed(err)
}

// once tries the command, and settles its effects. Again are the destinations with which the person
// wants to run it again.
func (t *tryRun) once(ctx context.Context, spec trial.Spec) (again []string, err error) {
	began := t.Now()
	held, err := t.run(ctx, spec)
	if err != nil {
		return nil, err
	}
	s := newSheet(t.App, held)
	spec.Profile.End(process.EffectsDecided)
	var r report
	if t.flags.json { // before the layer is gone
		r = s.report()
		r.Duration = t.Now().Sub(began).Milliseconds()
	}
	outcome, err := t.settle(ctx, s)
	spec.Profile.End(process.EffectsSettled)
	if err != nil {
		return nil, err
	}
	if outcome == outcomeAgain {
		return s.wanted(), nil
	}
	if t.flags.json {
		r.Outcome, r.Kept = outcome, outcome == outcomeKept
		if err := t.ShowJSON(r); err != nil {
			return nil, app.Failed(err)
		}
	}
	switch {
	case outcome == outcomeWaiting:
		return nil, &app.CommandError{Code: app.ExitAsks}
	case held.Exit != 0:
		return nil, &app.CommandError{Code: held.Exit}
	}
	return nil, nil
}

// collectLater makes garbage collection rare, for a process that waits for a command. At the
// usual rate it would take a sixth of a trial's start-up time.
func collectLater() { debug.SetGCPercent(400) }

// refuseDenied rejects a line that a rule denies, and a critical one: a trial would do no harm, but
// keeping it would. It returns the paths outside of the project that the line names and may see, and
// those that it may write.
func refuseDenied(a *app.App, f *tryFlags, line string) (named, written []string, err error) {
	d, err := decideCommand(a, "", f.cwd, line)
	if err != nil || d.Verdict != umpire.Deny {
		named, written = tool.NamedOutside(&d, false)
		return named, written, err
	}
	if f.json {
		if err := showUntried(a, outcomeRefused); err != nil {
			return nil, nil, err
		}
	}
	return nil, nil, &app.CommandError{
		Code: app.ExitDenied, Err: umpire.Errorf("denied, so nothing ran: %w", catalogue.AsError(d.Reason)),
		Hint: "umpire check --explain -- " + shell.Quote(line),
	}
}

// prepareState returns umpire's state folder, after finishing work that a crash has interrupted.
func prepareState(ctx context.Context, a *app.App) (string, error) {
	if a.Home() == "" {
		return "", app.Usage("export HOME=... or UMPIRE_HOME=...", "there is no home folder to keep trials in")
	}
	state := a.StateDir()
	if err := os.MkdirAll(state, 0o700); err != nil {
		return "", app.Failed(err)
	}
	if err := trial.Recover(ctx, state, app.NewVault(a)); err != nil {
		a.RemarkError(err)
	}
	return state, nil
}

// run runs the command in a layer over the project, and shows its output. If it changed
// something, the trial waits from then on, and its effects survive the end of this process.
func (t *tryRun) run(ctx context.Context, spec trial.Spec) (*trial.Held, error) {
	project, err := t.FindProject(t.flags.cwd)
	if err != nil {
		return nil, err
	}
	spec.Place = app.TrialPlace(t.App, project, spec.Place.Show)
	if t.flags.json {
		spec.Stdout = t.Stderr
	}
	result, err := trial.Run(ctx, spec)
	if errors.Is(err, trial.ErrUnavailable) {
		if t.flags.json {
			err = errors.Join(err, showUntried(t.App, outcomeUnavailable))
		}
		return nil, &app.CommandError{
			Code: exitUnavailable, Err: err, Hint: "umpire check -- " + shell.Quote(t.command),
		}
	}
	if err != nil {
		return nil, app.Failed(err)
	}
	app.RecordUses(ctx, t.App, umpire.SecretUses{Dir: t.flags.cwd, Command: t.command}, &result.Effects)
	held := &trial.Held{
		ID: filepath.Base(result.Layer.Dir), Time: t.Now().UTC(), Command: t.command, Root: project.Root,
		Exit: result.Exit, Network: t.reach, Layer: result.Layer, Effects: result.Effects,
	}
	if held.Effects.IsEmpty() {
		return held, nil
	}
	if err := trial.Hold(t.state, held); err != nil {
		return nil, app.Failed(errors.Join(err, result.Layer.Discard()))
	}
	return held, nil
}

// commandArgs returns the arguments of a command: several words as they are, one word as a line of bash.
func commandArgs(words []string) []string {
	if len(words) == 1 {
		return []string{tool.ShellName(), "-c", words[0]}
	}
	return words
}

// pipedInput returns standard input if it is not a terminal, because a command in a
// separate process group cannot read from a terminal.
func pipedInput(from io.Reader) *os.File {
	if in, ok := from.(*os.File); ok && !app.IsTerminal(in) {
		return in
	}
	return nil
}

// exitUnavailable is the exit code if trials are not available, like that of an unavailable sandbox.
const exitUnavailable = 125

// An outcome is the result of a trial.
type outcome string

// The outcomes.
const (
	outcomeKept        outcome = "kept" // also if nothing changed
	outcomeDiscarded   outcome = "discarded"
	outcomeWaiting     outcome = "waiting"
	outcomeRefused     outcome = "refused"     // nothing ran
	outcomeUnavailable outcome = "unavailable" // nothing ran because trials are not available
	outcomeAgain       outcome = "again"       // discarded, and to be run again with the destinations it wanted
)

// settle shows the effects of a trial, and keeps, discards or holds them.
func (t *tryRun) settle(ctx context.Context, s *sheet) (outcome, error) {
	f, h := t.flags, s.held
	if !f.json {
		s.show(t.Stderr)
	}
	if f.explain && !f.json {
		showRows(t.App, t.Stderr, s.decision, s.colourOn(t.Stderr))
	}
	if f.diff && !f.json {
		s.showDiff(t.Stderr)
	}
	if s.wantsNetwork() && t.asks == nil && !f.json {
		again := "umpire try --reach " + shell.Quote(strings.Join(s.wanted(), ",")) + " -- " + shell.Quote(h.Command)
		fmt.Fprintln(t.Stderr, view.Joined(t.Text.Of("next"), ": ", again))
	}
	switch {
	case t.asks != nil && s.wantsNetwork():
		return t.askPerson(ctx, s)
	case h.Effects.IsEmpty():
		return outcomeKept, app.Failed(h.Discard(t.state))
	case f.keep:
		return outcomeKept, keepHeld(ctx, t.App, t.state, h, f.json)
	case f.discard, !h.Effects.Whole():
		h.Layer.Caches = "" // its caches were not rejected
		if err := h.Discard(t.state); err != nil {
			return outcomeDiscarded, app.Failed(err)
		}
		if !f.json {
			fmt.Fprintln(t.Stderr, t.Text.Of("Discarded. Nothing has changed."))
		}
		return outcomeDiscarded, nil
	case t.asks != nil:
		return t.askPerson(ctx, s)
	}
	if !f.json {
		sayHeld(t.Stderr, t.Text, h.ID)
	}
	return outcomeWaiting, nil
}

// sayHeld says how to settle a waiting trial.
func sayHeld(to io.Writer, text *catalogue.Language, id string) {
	fmt.Fprintf(to, text.Of("It waits as %s. Next:\n"), id)
	for _, verb := range []string{"show --diff ", "keep ", "discard "} {
		fmt.Fprintf(to, "  umpire try %s%s\n", verb, id)
	}
}

// keepHeld makes a trial's effects real for a person, and says how to undo them.
func keepHeld(ctx context.Context, a *app.App, state string, h *trial.Held, quiet bool) error {
	kept, err := h.Keep(ctx, trial.KeepSpec{
		State: state, Vault: app.NewVault(a), Report: h.Trial == "", Reviewed: true,
	})
	if err != nil {
		return keepError(h, err)
	}
	if !quiet && kept.ID != "" {
		fmt.Fprintf(a.Stderr, a.Text.Of("Kept. To undo it: umpire undo %s\n"), kept.ID)
	}
	return nil
}

// keepError returns an error with the next step if effects could not be kept.
func keepError(h *trial.Held, err error) error {
	if _, conflict := errors.AsType[*trial.ConflictError](err); conflict {
		return app.Refused("umpire try -- "+shell.Quote(h.Command), "nothing was kept: %w", err)
	}
	if _, obstacle := errors.AsType[*trial.ObstacleError](err); obstacle {
		return app.Refused("umpire try keep "+h.ID, "nothing was kept: %w", err)
	}
	if errors.Is(err, trial.ErrLayerChanged) || errors.Is(err, trial.ErrNotWhole) {
		return app.Refused("umpire try discard "+h.ID, "nothing was kept: %w", err)
	}
	return app.Failed(umpire.Errorf("nothing was kept: %w", err))
}

// askPerson asks what to do with a trial, until one of the keys decides. Without an
// answer, a trial with changes waits.
func (t *tryRun) askPerson(ctx context.Context, s *sheet) (outcome, error) {
	unanswered := func() (outcome, error) {
		if s.held.Effects.IsEmpty() {
			return outcomeKept, app.Failed(s.held.Discard(t.state))
		}
		sayHeld(t.Stderr, t.Text, s.held.ID)
		return outcomeWaiting, nil
	}
	tty := t.asks.tty
	if err := app.DropEarlyKeys(ctx, tty); err != nil {
		return unanswered() // interrupted
	}
	for {
		if _, err := io.WriteString(tty, s.menu()); err != nil {
			return outcomeWaiting, app.Failed(err)
		}
		said, err := t.asks.lines.Next(ctx)
		if err != nil { // the end of input, or ctrl-c
			fmt.Fprintln(tty)
			return unanswered()
		}
		changed := !s.held.Effects.IsEmpty()
		switch word := strings.ToLower(strings.TrimSpace(said)); {
		case changed && s.held.Effects.Whole() && (word == "k" || word == "keep"):
			return outcomeKept, keepHeld(ctx, t.App, t.state, s.held, false)
		case changed && (word == "d" || word == "diff"):
			s.showDiff(tty)
		case s.wantsNetwork() && (word == "n" || word == "network"):
			return outcomeAgain, app.Failed(s.held.Discard(t.state))
		case word == "x", word == "discard":
			if err := s.held.Discard(t.state); err != nil || !changed {
				return outcomeKept, app.Failed(err)
			}
			fmt.Fprintln(tty, t.Text.Of("Discarded. Nothing has changed."))
			return outcomeDiscarded, nil
		}
	}
}

// menu lists the keys that answer.
func (s *sheet) menu() string {
	text := ""
	if s.wantsNetwork() {
		text = s.Text.Of("[n] run again, reaching these hosts  ")
	}
	switch e := &s.held.Effects; {
	case e.IsEmpty():
		return text + s.Text.Of("[x] leave it  > ")
	case !e.Whole():
		return text + s.Text.Of("[d] diff  [x] discard  > ")
	}
	return text + s.Text.Of("[k] keep  [d] diff  [x] discard  > ")
}
