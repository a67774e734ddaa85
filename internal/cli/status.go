package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/console/notice"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// A status is the result of `umpire status`.
type status struct {
	ProjectID    umpire.ProjectID `json:"project_id"`
	ProjectShort string           `json:"project_id_short"`
	ProjectKind  string           `json:"project_kind"`
	Root         string           `json:"root"`
	GitDir       string           `json:"git_dir,omitempty"`
	Worktree     string           `json:"worktree"`
	WorkingDir   string           `json:"working_dir"`
	Mode         umpire.Mode      `json:"mode"`
	ModeSource   string           `json:"mode_source"`

	permissionStatus

	Sandbox   sandboxStatus `json:"sandbox"`
	RuleFiles []fileStatus  `json:"rule_files"`
	AllowAll  bool          `json:"allow_all"` // everything that no rule and no guard asks about runs
	Grants    int           `json:"grants"`
	Cautious  bool          `json:"cautious"` // a file cannot be read: every call asks
	Gate      gateStatus    `json:"gate"`
	Store     storeStatus   `json:"store"`

	Retention app.RetentionStatus `json:"retention"`

	// Observed counts what umpire would have done, if it only observes.
	Observed *app.Observed `json:"observed,omitempty"`

	// Notices is the state of the gate's notices, if it sends any.
	Notices *notice.Report `json:"notices,omitempty"`
	Notes   []string       `json:"notes"`
}

// A sandboxStatus describes the sandbox of the built-in agent's commands.
type sandboxStatus struct {
	sandbox.Ability

	Mode    string `json:"mode"`
	Require string `json:"require"`
	Network bool   `json:"network"`
}

// A fileStatus is the state of one possible rule file.
type fileStatus struct {
	Source      umpire.Source   `json:"source"`
	Path        string          `json:"path"`
	Format      string          `json:"format"`
	Health      rulefile.Health `json:"health"`
	Trusted     *bool           `json:"trusted,omitempty"` // of a project's file whose rules are known
	Rules       int             `json:"rules"`
	Asleep      int             `json:"asleep"`
	Hooks       int             `json:"hooks,omitempty"`
	AsleepHooks int             `json:"hooks_asleep,omitempty"`
	Problems    []problemStatus `json:"problems"`
}

// A problemStatus is one thing wrong in a file; line and column count from 1.
type problemStatus struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Text   string `json:"text"`
}

// newStatusCommand is `umpire status`.
func newStatusCommand(a *app.App) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "status", Args: app.RefuseWords,
		Short:   "Show the project, the mode and the health of the rule files",
		Long:    statusLong,
		Example: "  umpire status\n  umpire status --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := a.OpenProject()
			if err != nil {
				return err
			}
			s := readStatus(p)
			if err := readGateStatus(cmd.Context(), a, &s, p.Config); err != nil {
				return err
			}
			if p.Config.Observes() {
				seen, err := app.ReadObserved(a.StateDir())
				if err != nil {
					return app.Failed(err)
				}
				s.Observed = &seen
			}
			if p.Config.WarnOnly {
				s.Notes = append(s.Notes, a.Text.Of("the gateway is not enforced"))
			}
			known := rulefile.LoadPrograms(a.Home())
			for _, note := range known.Notes() {
				s.Notes = append(s.Notes, note.Error())
			}
			return a.Show(asJSON, s, func() error { return showStatus(a, s) })
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}

// readStatus gathers the facts about the place.
func readStatus(p *app.OpenedProject) status {
	set := p.Rules()
	s := status{
		ProjectID: p.ID, ProjectShort: p.ID.Short(), ProjectKind: p.Kind.String(),
		Root: p.Root, GitDir: p.GitDir, Worktree: p.Worktree, WorkingDir: p.Dir,
		Mode: p.Config.Mode, ModeSource: p.Config.Source("mode"),
		permissionStatus: permissionStatus{State: umpire.StateIdle},
		Sandbox: sandboxStatus{
			Ability: sandbox.Available(), Mode: string(p.Config.Sandbox.Mode),
			Require: p.Config.SandboxRequire.String(), Network: p.Config.Sandbox.Network,
		},
		RuleFiles: []fileStatus{}, Cautious: set.Degraded != "", Notes: append([]string{}, p.Notes...),
	}
	for _, f := range set.Files {
		s.RuleFiles = append(s.RuleFiles, statusOf(f))
	}
	return s
}

func statusOf(f rulefile.File) fileStatus {
	s := fileStatus{
		Source: f.Source, Path: f.Path, Format: f.Format.String(), Health: f.Health,
		Rules: f.Rules, Asleep: f.Inert, Hooks: f.Hooks, AsleepHooks: len(f.AsleepHooks()), Problems: []problemStatus{},
	}
	if f.Source == umpire.SourceProject && (f.Rules+f.Inert+f.Hooks > 0 || f.Untrusted()) {
		trusted := f.Health != rulefile.HealthUntrusted && !f.Untrusted()
		s.Trusted = &trusted
	}
	for _, problem := range f.Problems {
		s.Problems = append(s.Problems, problemStatus(problem))
	}
	return s
}

// showStatus writes the status for a person.
func showStatus(a *app.App, s status) error {
	if o := s.Observed; o != nil {
		calls := a.Text.Count(o.Calls, "%d call", "%d calls")
		text := a.Text.Of("umpire only observes: of %s, it would have asked about %d and blocked %d")
		fmt.Fprintf(a.Stdout, text+"\n", calls, o.Asks, o.Denies)
		if !o.Since.IsZero() {
			fmt.Fprintf(a.Stdout, a.Text.Of("It began on %s.")+"\n", o.Since.Local().Format("2006-01-02 15:04"))
		}
		fmt.Fprintln(a.Stdout, a.Text.Of("To see which: umpire replay --all-projects"))
		fmt.Fprintf(a.Stdout, "%s\n\n", a.Text.Of("To turn it on: umpire setup"))
	}
	table := app.NewTable(a.Stdout)
	line := func(name, value string) { fmt.Fprintf(table, "%s\t%s\n", a.Text.Of(name), view.Visible(value)) }
	line("project", fmt.Sprintf("%s (%s, %s)", s.ProjectShort, s.ProjectKind, s.ProjectID))
	line("root", s.Root)
	line("worktree", cmp.Or(s.Worktree, a.Text.Of("main")))
	line("working directory", s.WorkingDir)
	line("mode", fmt.Sprintf("%s (%s)", s.Mode, s.ModeSource))
	line("permission state", formatPermission(a.Text, &s))
	line("sessions", formatSessions(a.Text, &s.Sessions))
	line("grants", formatGrantCount(a.Text, &s))
	line("gate", formatGate(a.Text, &s))
	line("store", formatStore(a.Text, &s))
	line("retention", formatRetention(a.Text, a.Now(), &s.Retention))
	if s.Notices != nil {
		line("notices", s.Notices.Describe(a.Text))
	}
	line("sandbox", formatSandbox(a.Text, &s.Sandbox))
	for _, note := range s.Notes {
		line("note", note)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	return showRuleFiles(a.Stdout, a.Text, s)
}

// showRuleFiles writes a line for each file, and its problems below it.
func showRuleFiles(out io.Writer, text *catalogue.Language, s status) error {
	fmt.Fprintf(out, "\n%s\n", text.Of("rule files"))
	table := app.NewTable(out)
	for _, f := range s.RuleFiles {
		fmt.Fprintf(table, "  %s\t%s\t%s\t%s\n", text.Word("source", f.Source.String()),
			text.Word("health", f.Health.String()), formatCounts(text, f), view.Visible(f.Path))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, f := range s.RuleFiles {
		for _, problem := range f.Problems {
			fmt.Fprintf(out, "  %s\n", view.Visible(rulefile.Problem(problem).Error()))
		}
	}
	if s.Cautious {
		fmt.Fprintln(out,
			text.Of("Every call asks until the file is repaired, because a deny or ask rule may be missing."))
	}
	if slices.ContainsFunc(s.RuleFiles,
		func(f fileStatus) bool { return f.Health == rulefile.HealthUntrusted && f.Asleep+f.AsleepHooks > 0 }) {
		fmt.Fprintln(out, text.Of("Some allow rules or hooks are inactive until you trust them: umpire "+
			"rules trust --show"))
	}
	return nil
}

func formatCounts(text *catalogue.Language, f fileStatus) string {
	if f.Health == rulefile.HealthMissing {
		return "-"
	}
	counts := []string{text.Count(f.Rules, "%d rule", "%d rules")}
	if f.Asleep > 0 {
		counts = append(counts, text.Count(f.Asleep, "%d inactive", "%d inactive"))
	}
	if f.Hooks > 0 {
		counts = append(counts, text.Count(f.Hooks, "%d hook", "%d hooks"))
	}
	if f.AsleepHooks > 0 {
		counts = append(counts, text.Count(f.AsleepHooks, "%d hook inactive", "%d hooks inactive"))
	}
	return strings.Join(counts, ", ")
}

// formatSandbox is the sandbox in a line.
func formatSandbox(text *catalogue.Language, s *sandboxStatus) string {
	parts := []string{s.Mode}
	if s.Network {
		parts = append(parts, text.Of("with the network"))
	}
	switch s.Level {
	case umpire.SandboxFull:
		parts = append(parts, text.Of("fully available on this machine"))
	case umpire.SandboxWeaker:
		parts = append(parts, text.Of("only a weaker one is available on this machine"), s.Lacks)
	case umpire.SandboxNone:
		parts = append(parts, text.Of("not available on this machine"), s.Lacks)
	}
	return strings.Join(parts, ", ")
}
