package run

import (
	"crypto/sha1" //nolint:gosec // git names files by it
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/tool"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/files/gitdir"
	"github.com/umpirehq/umpire/internal/hold/egress"
	"github.com/umpirehq/umpire/internal/hold/trial"
	"github.com/umpirehq/umpire/internal/judge"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// A sheet shows the changes of a trial.
type sheet struct {
	*app.App

	held *trial.Held
	// decision says whether the person's rules allow keeping the effects. A trial without effects is not decided.
	decision umpire.Decision
	decided  bool
	tracked  map[string]bool // files whose content git has, and can restore
	compare  int             // number of files that may still be compared line by line
	limit    int             // maximum bytes shown of the changes of one file
	painted  bool            // the current output may have colours
}

const (
	// maxCompared is of how many files the changed lines are counted.
	maxCompared = 300
	// maxShownText is how large a file may be that is compared.
	maxShownText = 1 << 20
	// maxFileDiff limits the shown changes of one file, in bytes.
	maxFileDiff = 16 << 10
)

func newSheet(a *app.App, h *trial.Held) *sheet {
	s := &sheet{App: a, held: h, compare: maxCompared, limit: maxFileDiff}
	if !h.Effects.IsEmpty() || len(h.Effects.Refused) > 0 {
		effects := h.Layer.Describe(&h.Effects)
		var err error
		s.decision, err = decideEffects(a, h.Root, h.Command, judge.NeededEffects(&effects, h.Exit))
		if s.decided = err == nil; err != nil {
			a.RemarkError(err)
		}
	}
	var gone []string
	for i := range h.Effects.List {
		if e := &h.Effects.List[i]; e.Kind == trial.Deleted && e.Before.Type.IsRegular() {
			gone = append(gone, e.Path)
		}
	}
	s.tracked = gitdir.Tracked(gone, sha1.New, sha256.New)
	return s
}

// show writes the changes of a trial: one sentence, then a tree, then the refused
// operations.
func (s *sheet) show(to io.Writer) {
	s.painted = s.colourOn(to)
	e := &s.held.Effects
	fmt.Fprintln(to)
	if s.held.Exit != 0 {
		fmt.Fprintf(to, s.Text.Of("It ended with exit code %d.\n"), s.held.Exit)
	}
	fmt.Fprintln(to, s.summary())
	s.showRows(to)
	if s.wantsNetwork() {
		wanted := view.Visible(view.List(s.wanted(), ", "))
		fmt.Fprintln(to, s.red(fmt.Sprintf(s.Text.Of("It wants %s, which a trial does not reach."), wanted)))
		s.suggestGroups(to)
	}
	for i := range e.Reached {
		fmt.Fprintln(to, view.Joined(s.Text.Of("Reached"), ": ", view.TrafficText(&e.Reached[i], s.Text)))
	}
	for _, r := range e.Refused {
		if r.Kind == trial.AttemptNetwork && s.wantsNetwork() {
			continue
		}
		fmt.Fprintln(to, view.Joined(s.red(s.Text.Of("Refused")), ": ", refusal(s.Text, r.Kind, r.Target)))
	}
	s.showQuestions(to)
	if e.Whole() {
		fmt.Fprintln(to)
		return
	}
	fmt.Fprintln(to, s.red(s.Text.Of("It cannot be kept, because the trial could not do everything that a run does:")))
	if e.Limit != "" {
		fmt.Fprintf(to, "  %s\n", view.Visible(e.Limit))
	}
	for _, d := range e.Differs {
		fmt.Fprintf(to, "  %s  %s\n", view.Visible(s.relative(d.Path)), s.Text.Of(differenceTexts[d.Reason]))
	}
	fmt.Fprintln(to)
}

// refusal names a refused attempt, with the reason.
func refusal(text *catalogue.Language, kind umpire.AttemptKind, target string) string {
	why := text.Of("a trial does not reach it")
	switch kind {
	case umpire.AttemptWrite:
		why = text.Of("outside of the project")
	case umpire.AttemptSend:
		why = text.Of("commands only fetch from it")
	case umpire.AttemptHostKey:
		why = text.Of("your known_hosts files have no key of it; connect to it once outside of a trial")
	case umpire.AttemptSecret:
		why = text.Of("a secret of yours, used for something else")
	case umpire.AttemptNetwork, umpire.AttemptRepository, umpire.AttemptHistory, umpire.AttemptPlain:
	}
	return view.Bracketed(view.Visible(target), why)
}

// suggestGroups names the groups that cover hosts which the command wanted, and how to list them.
func (s *sheet) suggestGroups(to io.Writer) {
	conf, err := s.LoadConfig(s.held.Root)
	if err != nil {
		return // a configuration that cannot be read has been reported
	}
	found := slices.DeleteFunc(egress.GroupsOf(s.wanted()), func(name string) bool {
		return slices.Contains(conf.Listed, name)
	})
	if len(found) > 0 {
		line := "umpire autonomy --reach " + strings.Join(append(slices.Clone(conf.Listed), found...), ",")
		fmt.Fprintln(to, view.Visible(fmt.Sprintf(s.Text.Of("To let tried commands fetch from there: %s"), line)))
	}
}

// wanted are the destinations that the command was refused. Their names have no special characters.
func (s *sheet) wanted() (hosts []string) {
	for _, r := range s.held.Effects.Refused {
		if r.Kind == trial.AttemptNetwork {
			hosts = append(hosts, r.Target)
		}
	}
	return hosts
}

// wantsNetwork reports whether the command failed and was refused the network, so it did not
// complete its task.
func (s *sheet) wantsNetwork() bool { return s.held.Exit != 0 && len(s.wanted()) > 0 }

// maxQuestions bounds the changes that are named as needing a look.
const maxQuestions = 20

// showQuestions names the changes that ask on every level of autonomy, with the reason: a
// guarded place, a secret, a rule, a path outside.
func (s *sheet) showQuestions(to io.Writer) {
	d, shown, access := &s.decision, 0, -1
	for i := range d.Reasons {
		r := &d.Reasons[i]
		if r.Access < 0 || r.Access == access {
			continue // another reason for the same
		}
		access = r.Access
		a := &d.Accesses[access]
		refused := a.Asks == umpire.CodeTrial // it is shown as that
		if r.Verdict == umpire.Allow || r.Code == umpire.CodeTrial || refused || shown >= maxQuestions {
			continue
		}
		shown++
		fmt.Fprintln(to, view.Joined(s.red(s.Text.Of("Look")), ": ",
			view.Bracketed(view.Visible(s.relative(a.Target)), view.Visible(s.Text.Reason(r.Text)))))
	}
}

// differenceTexts say why a trial may differ from a real run.
var differenceTexts = map[trial.DifferenceReason]string{
	trial.DiffersHardLink:   "one of several names of a file was changed",
	trial.DiffersRename:     "a folder could not be moved",
	trial.DiffersSpecial:    "a socket, a pipe or a device",
	trial.DiffersAttributes: "extended attributes or access lists",
	trial.DiffersUnreadable: "it could not be read",
	trial.DiffersOwner:      "it belongs to another user",
	trial.DiffersUnobserved: "it could not be watched",
}

// summary describes the changes in one sentence.
func (s *sheet) summary() string {
	if s.held.Effects.IsEmpty() {
		return s.Text.Of("It changed nothing.")
	}
	counts := map[umpire.EffectKind]int{}
	folders := map[trial.Kind]int{}
	for i := range s.held.Effects.List {
		e := &s.held.Effects.List[i]
		if isFolder(e) {
			folders[e.Kind]++
		} else {
			counts[e.Kind]++
		}
	}
	parts := view.CountEffects(counts, s.Text)
	if n := folders[trial.Created] + folders[trial.Deleted] + folders[trial.Attributes]; n > 0 && len(parts) == 0 {
		parts = append(parts, s.Text.Count(n, "changed %d folder", "changed %d folders"))
	}
	if len(parts) == 0 {
		parts = append(parts, s.Text.Count(len(s.held.Effects.Folders),
			"changed the time of %d folder", "changed the times of %d folders"))
	}
	said := "It %s. Nothing is real yet."
	if s.held.Network {
		said = "It %s. Nothing is real yet except what it sent."
	}
	return fmt.Sprintf(s.Text.Of(said), view.List(parts, ", "))
}

func isFolder(e *trial.Effect) bool {
	return e.Before.Type.IsDir() && e.Kind != trial.Changed || e.After.Type.IsDir()
}

// relative returns a path relative to the project's root.
func (s *sheet) relative(path string) string {
	if rest, inside := strings.CutPrefix(path, s.held.Root+string(filepath.Separator)); inside {
		return rest
	}
	if path == s.held.Root {
		return "."
	}
	return path
}

// colourOn reports whether output to a stream may have colours.
func (s *sheet) colourOn(to io.Writer) bool {
	f, is := to.(*os.File)
	return is && app.IsTerminal(f) && s.Getenv("NO_COLOR") == ""
}

func (s *sheet) red(text string) string { return s.paint("\x1b[31m", text) }

func (s *sheet) paint(colour, text string) string {
	if !s.painted || text == "" {
		return text
	}
	return colour + text + "\x1b[0m"
}

// diffOf returns the change of a file as `diff -u` shows it, or "" if it is not text.
func (s *sheet) diffOf(e *trial.Effect) string {
	before, after, err := s.held.Layer.Contents(e, maxShownText)
	if err != nil {
		return fmt.Sprintf("[%v]\n", err)
	}
	to := view.Visible(s.relative(e.Path)) // a name with a line break would look like a part of the diff
	from := to
	if e.From != "" {
		from = view.Visible(s.relative(e.From))
	}
	if !e.Before.Exists() {
		from = "/dev/null"
	}
	if !e.After.Exists() {
		to = "/dev/null"
	}
	if max(e.Before.Size, e.After.Size) > maxShownText {
		sizes := fmt.Sprintf(s.Text.Of("[%s become %s, which are not shown]\n"),
			view.Size(e.Before.Size), view.Size(e.After.Size))
		return fmt.Sprintf("--- %s\n+++ %s\n%s", from, to, sizes)
	}
	return tool.UnifiedDiff(from, to, before, after, s.limit)
}

// showDiff shows how files would change, line by line.
func (s *sheet) showDiff(to io.Writer) {
	s.painted = s.colourOn(to)
	for i := range s.held.Effects.List {
		e := &s.held.Effects.List[i]
		if isFolder(e) {
			continue
		}
		text := ""
		if (e.Before.Type | e.After.Type).IsRegular() {
			text = s.diffOf(e)
		}
		if text == "" { // a link, a mode, an empty file
			r := s.rowOf(e)
			text = fmt.Sprintf("%s  %s  %s\n", s.relative(e.Path), r.kind, r.detail)
		}
		for line := range strings.Lines(app.VisibleDiff(text)) {
			fmt.Fprintln(to, s.paintLine(strings.TrimSuffix(line, "\n")))
		}
	}
	fmt.Fprintln(to)
}

// paintLine colours a line of a diff.
func (s *sheet) paintLine(line string) string {
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
		return s.paint("\x1b[1m", line)
	case strings.HasPrefix(line, "+"):
		return s.paint("\x1b[32m", line)
	case strings.HasPrefix(line, "-"):
		return s.red(line)
	case strings.HasPrefix(line, "@@"):
		return s.paint("\x1b[36m", line)
	}
	return line
}

// countLines counts the lines that a diff adds and takes away.
func countLines(diff string) (added, removed int) {
	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "--- "):
		case strings.HasPrefix(line, "+"):
			added++
		case strings.HasPrefix(line, "-"):
			removed++
		}
	}
	return added, removed
}

// modeChange describes the change of a file's attributes.
func (s *sheet) modeChange(e *trial.Effect) string {
	if before, after := octal(e.Before.Type), octal(e.After.Type); before != after {
		return before + " → " + after
	}
	if e.Before.UID != e.After.UID || e.Before.GID != e.After.GID {
		return fmt.Sprintf("%d:%d → %d:%d", e.Before.UID, e.Before.GID, e.After.UID, e.After.GID)
	}
	return s.Text.Of("time")
}

// octal formats a mode as chmod expects it.
func octal(mode fs.FileMode) string {
	special := 0
	for i, bit := range []fs.FileMode{fs.ModeSticky, fs.ModeSetgid, fs.ModeSetuid} {
		if mode&bit != 0 {
			special |= 1 << i
		}
	}
	if special > 0 {
		return fmt.Sprintf("%d%03o", special, mode.Perm())
	}
	return fmt.Sprintf("%03o", mode.Perm())
}

// isListed reports whether an effect has its own row: a folder has one if it contains no
// listed effects.
func isListed(list []trial.Effect, e *trial.Effect) bool {
	if !isFolder(e) || e.Kind == trial.Attributes {
		return true
	}
	from, to := below(list, e.Path)
	return from == to
}

// DescribeTrial shows, line by line, the changes of a call's trial whose effects wait for an
// answer, or "" if this machine does not have its layer.
func DescribeTrial(a *app.App, p *umpire.Pending) string { return describeTrial(a, p, maxFileDiff) }

func describeTrial(a *app.App, p *umpire.Pending, limit int) string {
	if p.Trial == nil || p.Trial.State != umpire.TrialWaiting {
		return ""
	}
	all, err := trial.HeldTrials(a.StateDir())
	if err != nil {
		return ""
	}
	for i := range all {
		if all[i].Effects.Digest == p.Trial.Effects.Digest {
			var text strings.Builder
			s := newSheet(a, &all[i])
			s.limit = limit
			s.showRows(&text)
			s.showDiff(&text)
			return text.String()
		}
	}
	return ""
}
