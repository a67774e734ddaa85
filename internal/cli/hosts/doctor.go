package hosts

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/console/notice"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/internal/hold/trial"
	"github.com/umpirehq/umpire/internal/host/drive"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// A health is the result of one check.
type health string

// The healths.
const (
	healthOK   health = "ok"
	healthWarn health = "warn" // works, and could be better
	healthFail health = "fail" // the gate does not hold
)

// A checkup is one thing that the doctor looked at.
type checkup struct {
	Name   string `json:"name"`
	Status health `json:"status"`
	Detail string `json:"detail"`
	Remedy string `json:"remedy,omitempty"`

	said string // the detail in the person's language
}

// A doctor collects checkups.
type doctor struct {
	*app.App
	done    []checkup
	verbose bool // every probe by its name
	asJSON  bool
	runs    bool // agents on a scripted model

	observes bool // hooks answer without an opinion, so no canary can be denied

	timeline []umpire.Event // the latest
}

// NewDoctorCommand is `umpire doctor`.
func NewDoctorCommand(a *app.App) *cobra.Command {
	asJSON, verbose := false, false
	cmd := &cobra.Command{
		Use: "doctor [AGENT]", Short: "Check that umpire and its hooks work", Long: doctorHelp,
		Args: app.WantAtMostOneWord, ValidArgs: registrable(),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	cmd.Flags().BoolVar(&verbose, "verbose", false, "list every attempt made against the sandbox")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		only := ""
		if len(args) == 1 {
			only = args[0]
		}
		if only != "" && !slices.Contains(registrable(), only) {
			return app.Usage("umpire doctor claude", "unknown agent: %q", only)
		}
		if program := a.Getenv(envProgram); program != "" && drive.FindAgent(only) != nil {
			return playInside(cmd.Context(), a, only, program)
		}
		d := &doctor{App: a, verbose: verbose || asJSON, asJSON: asJSON, runs: only != "" || cmd.Name() == oldName}
		d.examine(cmd.Context(), only)
		if err := cmd.Context().Err(); err != nil {
			return app.Failed(err)
		}
		return d.report()
	}
	return cmd
}

// oldName is the name of a command that only ran agents.
const oldName = "conformance"

// NewConformanceCommand is `umpire conformance`, a hidden name of `umpire doctor`. Without an agent it runs all that
// are installed.
func NewConformanceCommand(a *app.App) *cobra.Command {
	cmd := NewDoctorCommand(a)
	cmd.Use, cmd.Hidden = oldName+" [AGENT]", true
	return cmd
}

// doctorHelp is the long help of `umpire doctor`.
const doctorHelp = `Looks at umpire's own files and at the agent's settings, then starts the registered
hook exactly as the agent would: a call that destroys the system must be denied,
and a harmless one allowed. None of these calls is run.

With AGENT it also runs that agent behind umpire, in a temporary home and project, with a
scripted model. It reports the outcome of four calls: one that umpire allows, one that it
denies, one that gets no answer, and one while umpire is missing. It uses no account and no
key, and no network if the system can cut it off.

Exit code 0: no failures, though there may be warnings. 1: something fails.`

func (d *doctor) ok(name, format string, args ...any) {
	d.addCheckup(name, healthOK, "", format, args...)
}

func (d *doctor) warn(name, remedy, format string, args ...any) {
	d.addCheckup(name, healthWarn, remedy, format, args...)
}

func (d *doctor) fail(name, remedy, format string, args ...any) {
	d.addCheckup(name, healthFail, remedy, format, args...)
}

func (d *doctor) addCheckup(name string, status health, remedy, format string, args ...any) {
	found := checkup{
		Name: name, Status: status, Remedy: remedy,
		Detail: fmt.Sprintf(format, args...), said: fmt.Sprintf(d.Text.Of(format), d.spoken(args)...),
	}
	same := func(c checkup) bool { return c == found }
	if status == healthWarn && slices.ContainsFunc(d.done, same) {
		return // several agents start one program
	}
	d.done = append(d.done, found)
}

// spoken are the values of a text in the person's language.
func (d *doctor) spoken(args []any) []any {
	said := slices.Clone(args)
	for i := range said {
		switch value := said[i].(type) {
		case error:
			said[i] = d.Text.Error(value)
		case names:
			said[i] = value.in(d.Text)
		case app.Count:
			said[i] = value.In(d.Text)
		case holes:
			said[i] = value.in(d.Text)
		case hostProgram:
			said[i] = value.In(d.Text)
		case trouble:
			said[i] = value.Said
		}
	}
	return said
}

// names are listed in the person's language.
type names []string

// String lists the names in English.
func (n names) String() string { return strings.Join(n, ", ") }

func (n names) in(text *catalogue.Language) names {
	said := slices.Clone(n)
	for i := range said {
		said[i] = text.Of(said[i])
	}
	return said
}

// examine makes every check, in the order from our files to the agent's.
func (d *doctor) examine(ctx context.Context, only string) {
	if c, err := d.ReadUserConfig(); err == nil && c.Observes() {
		d.observes = true
		if c.Hook.Observe {
			d.warn("observe", "umpire setup", "umpire only observes: it stops nothing")
		}
	}
	d.ownFiles()
	checkUnfinished(ctx, d)
	if c, err := d.LoadConfig(d.Dir); err != nil {
		d.fail("config", "umpire config", "%v", err)
	} else {
		d.configuration(c)
		d.socket(c)
		d.notices(c)
		d.retention(ctx, c)
		d.rules(c)
		d.programs()
		d.sandbox(ctx, c)
	}
	d.agents(ctx, only)
}

// report shows the checkups. It fails when one of them did.
func (d *doctor) report() error {
	failures, warnings := 0, 0
	for _, c := range d.done {
		switch c.Status {
		case healthFail:
			failures++
		case healthWarn:
			warnings++
		case healthOK:
		}
	}
	if d.asJSON {
		var text bytes.Buffer
		out := json.NewEncoder(&text)
		out.SetEscapeHTML(false)
		out.SetIndent("", "  ")
		if err := out.Encode(map[string]any{"ok": failures == 0, "checks": d.done}); err != nil {
			return app.Failed(err)
		}
		if _, err := d.Stdout.Write(view.VisibleJSON(text.Bytes())); err != nil {
			return app.Failed(err)
		}
	} else {
		d.print()
		fmt.Fprintf(d.Stdout, "\n%s\n", d.verdict(failures, warnings))
	}
	if failures > 0 {
		return &app.CommandError{Code: app.ExitError}
	}
	return nil
}

// verdict is the answer in a line.
func (d *doctor) verdict(failures, warnings int) string {
	var said []string
	if failures == 0 {
		said = append(said, d.Text.Of("all well"))
	} else {
		said = append(said, d.Text.Count(failures, "%d thing fails", "%d things fail"))
	}
	if warnings > 0 {
		said = append(said, d.Text.Count(warnings, "%d warning", "%d warnings"))
	}
	return strings.Join(said, d.Text.Of(", "))
}

func (d *doctor) print() {
	for _, c := range d.done {
		fmt.Fprintf(d.Stdout, "%-4s  %-9s %s\n", c.Status, c.Name, view.Visible(c.said))
		if c.Remedy != "" {
			fmt.Fprintf(d.Stdout, "      %-9s -> %s\n", "", view.Visible(d.Text.Of(c.Remedy)))
		}
	}
}

// ownFiles checks whether others can read or write umpire's own files.
func (d *doctor) ownFiles() {
	home := d.Home()
	if home == "" {
		d.fail("home", "set HOME or UMPIRE_HOME", "umpire's folder is unknown; set HOME or UMPIRE_HOME")
		return
	}
	if _, err := os.Stat(home); os.IsNotExist(err) {
		d.ok("home", "%s does not exist yet; the built-in rules apply", home)
		return
	}
	before := len(d.done)
	d.guarded(home, 0o700)
	for _, name := range []string{"state", "keys"} {
		d.guarded(filepath.Join(home, name), 0o700)
	}
	for _, name := range []string{"permissions.json", "config.yaml", "trust.json"} {
		d.guarded(filepath.Join(home, name), 0o600)
	}
	if len(d.done) == before {
		d.ok("home", "only you can access %s", home)
	}
}

// guarded complains about a file that is open to others. A user who can write a rule file can
// allow everything.
func (d *doctor) guarded(path string, want fs.FileMode) {
	info, err := os.Stat(path)
	if os.IsNotExist(err) {
		return
	}
	if err != nil {
		d.fail("home", "", "%v", err)
		return
	}
	mode, remedy := info.Mode().Perm(), fmt.Sprintf("chmod %o %s", want, path)
	switch {
	case mode&0o022 != 0:
		d.fail("home", remedy, "%s can be written by others (%04o)", path, mode)
	case mode&0o077 != 0:
		d.warn("home", remedy, "%s can be read by others (%04o)", path, mode)
	}
}

func (d *doctor) configuration(c *config.Config) {
	for _, notice := range c.Notices {
		say := d.warn
		if notice.Text == config.NotEnforced {
			say = d.fail
		}
		say("config", "umpire config", notice.Text, notice.Args...)
	}
	if c.WarnOnly {
		return
	}
	d.ok("config", "mode %s", c.Mode)
}

// socket reports a socket path that some programs cannot dial.
func (d *doctor) socket(c *config.Config) {
	where, err := d.ReadListenAddress(c.Listen)
	if err != nil {
		d.fail("socket", "umpire config", "%v", err)
		return
	}
	if format, size := where.LongNote(); format != "" {
		d.warn("socket", "listen: unix:SHORTER", format, size)
	}
}

// retention checks whether old sessions are removed in time.
func (d *doctor) retention(ctx context.Context, c *config.Config) {
	at, err := d.ReadStoreAddress(c.Store)
	var r app.RetentionStatus
	if err == nil {
		r, err = app.ReadRetention(ctx, d.Now(), c, at)
	}
	switch {
	case err != nil:
		d.fail("retention", "", "%v", err)
	case r.Overdue > 0:
		d.warn("retention", "umpire timeline prune",
			"sessions kept beyond %s: %d; no gate runs to remove them, or they are too large for one",
			r.Age, r.Overdue)
	case app.Retention(c) > 0:
		d.ok("retention", "inactive sessions are kept for %s", r.Age)
	}
}

// notices checks whether notices can be sent, and reports the last failure of each target.
func (d *doctor) notices(c *config.Config) {
	from := app.NoticeConfig(d.App, c)
	names, err := notice.Targets(from)
	if err != nil {
		d.fail("notices", "umpire console notify --help", "%v", err)
		return
	}
	if len(names) == 0 {
		return
	}
	report, _ := notice.ReadReport(from.Report) // missing if no gate has run yet, or it does not write one
	for _, t := range report.Targets {
		if t.Problem != "" {
			d.warn("notices", "umpire console notify test", "%s: %s", t.Name, t.Problem)
			return
		}
	}
	d.ok("notices", "go to %s", strings.Join(names, ", "))
}

// rules reports the rule files that exist.
func (d *doctor) rules(c *config.Config) {
	g := gate.New(d.GateConfig(c))
	defer g.Close()
	p, err := g.Projects().Project(d.Dir)
	if err != nil {
		d.fail("rules", "", "%v", err)
		return
	}
	set := p.Rules()
	for _, f := range set.Files {
		d.ruleFile(f)
	}
	if set.Degraded != "" {
		d.fail("rules", "umpire rules lint", "every call asks, because a broken file may hold deny rules")
	}
}

func (d *doctor) ruleFile(f rulefile.File) {
	first, rules := "", app.NewCount(f.Rules, "%d rule", "%d rules")
	if len(f.Problems) > 0 {
		first = ": " + f.Problems[0].Error()
	}
	switch f.Health {
	case rulefile.HealthMissing:
	case rulefile.HealthOK:
		if first != "" {
			d.warn("rules", "umpire rules lint", "%s: %s%s", f.Path, rules, first)
			return
		}
		d.ok("rules", "%s: %s", f.Path, rules)
	case rulefile.HealthUntrusted:
		d.warn("rules", "read it, then umpire rules trust", "%s: %s and %s until you trust them%s", f.Path,
			app.NewCount(f.Inert, "%d allow rule inactive", "%d allow rules inactive"),
			app.NewCount(len(f.AsleepHooks()), "%d hook inactive", "%d hooks inactive"), first)
	case rulefile.HealthDegraded:
		d.fail("rules", "umpire rules lint", "%s is broken%s", f.Path, first)
	}
}

// checkUnfinished names the records for undoing that cannot be finished.
func checkUnfinished(ctx context.Context, d *doctor) {
	if d.Home() == "" {
		return
	}
	all, err := trial.FindUnfinished(ctx, d.StateDir(), app.NewVault(d.App))
	if err != nil {
		d.warn("undo", "", "%v", err)
	}
	for _, u := range all {
		d.warn("undo", app.ForgetCommand(&u), app.UnfinishedText, cmp.Or(u.Root, u.ID), u.Err)
	}
}

// programs checks the person's own entries about programs.
func (d *doctor) programs() {
	loaded := rulefile.LoadPrograms(d.Home())
	for _, note := range loaded.Notes() {
		d.warn("programs", "umpire programs lint", "%s", note)
	}
	if len(loaded.Files) > 0 && len(loaded.Problems) == 0 {
		d.ok("programs", "%s", app.NewCount(len(loaded.Files), "%d file", "%d files"))
	}
}
