package policy

import (
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
)

// A judge judges one access. Its rows read its fields and do not change them.
type judge struct {
	policy  *Policy
	tool    string
	given   *Conditions
	subject *subject
	hits    *hits
	passes  []pass
	all     []hits // of every access
	// byPart are the hits of the programs, keyed by part of the command line, once requested.
	byPart   map[int][]*hits
	approval umpire.Phrase // the usual reason of the mode
	outside  bool
	search   *Search // the result of a search, once requested
	accesses []umpire.Access
	found    []umpire.Reason // about the current access
}

// order is the order of decision: the first row that applies settles the access. A person's
// grants are listed before the rows they lift.
var order = [...]func(*judge) []umpire.Reason{
	(*judge).unknownKind,  // 1
	(*judge).suffix,       // 2
	(*judge).hardStop,     // 3
	(*judge).denyRule,     // 4
	(*judge).plan,         // 5
	(*judge).onceGrant,    // 12, lifting 6, 7 and 9
	(*judge).controlFile,  // 6
	(*judge).sessionGrant, // 12, lifting 7 and 9
	(*judge).askRule,      // 7
	(*judge).noSandbox,    // 15
	(*judge).degraded,     // 16
	(*judge).bypass,       // 8
	autonomyOutside,       // 18, lifting 9
	(*judge).external,     // 9
	(*judge).safe,         // 10
	(*judge).allowRule,    // 11
	(*judge).grant,        // 12
	(*judge).allowAll,     // 13
	autonomyInside,        // 18
	(*judge).projectCode,  // 17
	(*judge).mode,         // 14
	(*judge).unheldCode,   // 17, for callers that want all reasons
}

func oneReason(row int, v umpire.Verdict, code umpire.ReasonCode, text umpire.Phrase) []umpire.Reason {
	return []umpire.Reason{{Row: row, Verdict: v, Code: code, Text: text}}
}

func (j *judge) access() *umpire.Access { return j.subject.access }

// ruleReasons returns the rules that matched in one row as reasons.
func (j *judge) ruleReasons(row int, v umpire.Verdict) []umpire.Reason {
	return reasonsOf(j.hits.rows[row], row, v)
}

func reasonsOf(rules []*compiled, row int, v umpire.Verdict) []umpire.Reason {
	var reasons []umpire.Reason
	for i, c := range rules {
		if i > 0 && c.rule.Source == umpire.SourceBuiltin && c.rule.ID == rules[i-1].rule.ID {
			continue // another pattern of the same built-in rule
		}
		reasons = append(reasons, umpire.Reason{Row: row, Verdict: v, Code: c.code, Text: c.text(), Rule: c.ref})
	}
	return reasons
}

func (j *judge) unknownKind() []umpire.Reason {
	if j.access().Kind != umpire.KindUnknown {
		return nil
	}
	return oneReason(rowInvalid, umpire.Deny, umpire.CodeInvalid, "The call does something of an unknown kind")
}

func (j *judge) suffix() []umpire.Reason {
	text, refused := suffixRefused(j.tool, j.given.Profile, j.access())
	if !refused {
		return nil
	}
	return oneReason(rowSuffix, umpire.Deny, umpire.CodeSuffix, text)
}

// suffixRefused checks every name of an access. text mentions the one that fails.
func suffixRefused(tool string, p *Profile, a *umpire.Access) (text umpire.Phrase, refused bool) {
	if p == nil || !p.limits(tool, a) {
		return "", false
	}
	if a.Tree && len(a.Kinds) == 0 {
		return treeRefusal(a.Target, p.EditableSuffixes)
	}
	for _, name := range suffixesOf(a) {
		if text, refused = SuffixRefusal(name, p.EditableSuffixes); refused {
			return text, true
		}
	}
	return "", false
}

// hardStop applies the built-in rules by path, and denies accesses of critical risk.
func (j *judge) hardStop() []umpire.Reason {
	reasons := j.ruleReasons(rowHardStop, umpire.Deny)
	if j.access().Risk.AtLeast(umpire.Critical) {
		text := umpire.Phrase("Critical risk")
		if why := j.access().Reason; why != "" {
			text = umpire.Say("Critical risk: %s", why)
		}
		reasons = append(reasons, oneReason(rowHardStop, umpire.Deny, umpire.CodeCritical, text)...)
	}
	return reasons
}

func (j *judge) denyRule() []umpire.Reason { return j.ruleReasons(rowDenyRule, umpire.Deny) }

// onlyLooks reports whether an access is a read, or a program or tool known only to read. Doubt
// excludes that.
func onlyLooks(a *umpire.Access) bool {
	switch a.Kind {
	case umpire.KindRead:
		return true
	case umpire.KindWrite:
		return a.Place == umpire.PlaceHarmless && a.Doubt == ""
	case umpire.KindExec, umpire.KindInvoke:
		return a.Risk == umpire.Safe && a.Doubt == "" && !a.Code
	case umpire.KindDelete, umpire.KindNetwork, umpire.KindUnknown:
		return false
	}
	return false
}

func (j *judge) plan() []umpire.Reason {
	a := j.access()
	if j.given.Mode != umpire.ModePlan || onlyLooks(a) {
		return nil
	}
	return oneReason(rowPlan, umpire.Deny, umpire.CodePlan, "Plan mode: only reads run, this is recorded as planned")
}

func (j *judge) controlFile() []umpire.Reason { return j.ruleReasons(rowControl, umpire.Ask) }

// onceGrant and sessionGrant apply early only if they lift something, because a safe call
// should still be reported as safe.
func (j *judge) onceGrant() []umpire.Reason {
	return j.lifting(umpire.ScopeOnce, len(j.hits.rows[rowControl]) > 0)
}

func (j *judge) sessionGrant() []umpire.Reason { return j.lifting(umpire.ScopeSession, false) }

func (j *judge) lifting(scope umpire.Scope, guarded bool) []umpire.Reason {
	if !guarded && len(j.asking()) == 0 && !j.outside && !runsBare(j.tool, &j.given.Sandbox) && j.given.Degraded == "" {
		return nil
	}
	return j.granted(func(p *pass) bool { return p.lifts() && p.grant.Scope == scope })
}

// granted returns the first grant of the kind that covers the access.
func (j *judge) granted(kind func(*pass) bool) []umpire.Reason {
	for i := range j.passes {
		if p := &j.passes[i]; kind(p) && p.covers(j, j.outside) {
			return []umpire.Reason{p.reason()}
		}
	}
	return nil
}

// asking returns the ask rules that apply. With precedence DenyAllowAsk, people's ask rules do
// not apply if an allow rule covers the access. In either order, a rule about secrets does not
// apply if a person allowed just that path.
func (j *judge) asking() []*compiled {
	var asking []*compiled
	for _, c := range j.hits.rows[rowAskRule] {
		lifted := false
		if c.secret {
			lifted = j.secretAllowed(c)
		} else if j.policy.opts.Precedence == DenyAllowAsk {
			lifted = len(j.allowing()) > 0
		}
		if !lifted {
			asking = append(asking, c)
		}
	}
	return asking
}

func (j *judge) askRule() []umpire.Reason {
	return reasonsOf(j.asking(), rowAskRule, umpire.Ask)
}

// noSandbox: no sandbox would confine the command to its judged effects. An approval lifts this
// for this call or this session, but no rule or mode does.
func (j *judge) noSandbox() []umpire.Reason {
	if !runsBare(j.tool, &j.given.Sandbox) {
		return nil
	}
	return oneReason(rowSandbox, umpire.Ask, umpire.CodeNoSandbox,
		umpire.Say("No sandbox: %s", j.given.Sandbox.Missing))
}

// runsBare reports whether a call is a command without a sandbox. Other tools run in umpire
// itself, and do only what they were judged by.
func runsBare(tool string, s *Sandbox) bool {
	return s.Missing != "" && slices.Contains(execTools, tool)
}

// degraded: an unreadable rule file may have denied or asked about this call. An approval lifts
// this for this call or this session, but no rule or mode does.
func (j *judge) degraded() []umpire.Reason {
	if j.given.Degraded == "" {
		return nil
	}
	return oneReason(
		rowDegraded, umpire.Ask, umpire.CodeDegraded,
		umpire.Say("A rule that denies or asks may be missing: %s", j.given.Degraded),
	)
}

func (j *judge) bypass() []umpire.Reason {
	if j.given.Mode != umpire.ModeBypass {
		return nil
	}
	return oneReason(rowBypass, umpire.Allow, umpire.CodeBypass, "Allowed by bypass mode")
}

// external: rules and grants for paths apply outside the project, those for commands do not.
func (j *judge) external() []umpire.Reason {
	if !j.outside || j.pathAllowed() || len(j.granted(func(*pass) bool { return true })) > 0 {
		return nil
	}
	verdict := umpire.Ask
	if j.policy.opts.DenyExternal {
		verdict = umpire.Deny
	}
	said := umpire.Say(OutsideProject, j.access().Target)
	if j.policy.opts.Autonomy.OutsideReads && j.access().Kind == umpire.KindRead && inHome(j, j.access()) {
		said = asksInHome(j.access())
	} else if j.access().Kind == umpire.KindWrite && isScratch(j, j.access()) && !j.given.isFresh(j.access()) {
		said = asksOfOthers(j.access())
	}
	return oneReason(rowExternal, verdict, umpire.CodeExternalDirectory, said)
}

func (j *judge) pathAllowed() bool {
	for _, c := range j.hits.rows[rowAllowRule] {
		if len(c.globs) > 0 && j.coversSearch(c) {
			return true
		}
	}
	return false
}

func (j *judge) safe() []umpire.Reason {
	a := j.access()
	if !j.harmless() || !j.codeRuns() {
		return nil
	}
	switch {
	case a.Code && !j.given.Sandbox.Holds():
		return oneReason(rowSafe, umpire.Allow, umpire.CodeProjectCode, "A person trusts the code of this clone")
	case a.Risk == umpire.Medium:
		return oneReason(rowSafe, umpire.Allow, umpire.CodeSafe, "Medium risk is set to run")
	}
	return oneReason(rowSafe, umpire.Allow, umpire.CodeSafe, "Tool classified as safe")
}

// harmless reports whether the access's risk is low enough to run unasked.
func (j *judge) harmless() bool {
	a := j.access()
	limit := umpire.Low
	if j.policy.opts.AllowMedium {
		limit = umpire.Medium
	}
	return j.given.Mode != umpire.ModeAsk && a.Doubt == "" && a.Asks == "" && limit.AtLeast(a.Risk)
}

func (j *judge) allowRule() []umpire.Reason {
	var reasons []umpire.Reason
	for _, c := range j.allowing() {
		r := umpire.Reason{Row: rowAllowRule, Verdict: umpire.Allow, Code: c.code, Text: c.text(), Rule: c.ref}
		reasons = append(reasons, r)
	}
	return reasons
}

func (j *judge) grant() []umpire.Reason {
	return j.granted(func(*pass) bool { return true })
}

func (j *judge) allowAll() []umpire.Reason {
	if !j.given.AllowAll || j.access().Doubt != "" {
		return nil
	}
	return oneReason(rowAllowAll, umpire.Allow, umpire.CodeAllowAll, "All tools allowed (allowAll)")
}

// asksPhrases are the messages for accesses with Access.Asks set.
var asksPhrases = map[umpire.ReasonCode]string{
	umpire.CodeNetwork:     "Reaches the network: %s",
	umpire.CodeSecret:      "May give a secret away: %s",
	umpire.CodeTrial:       "Refused in the trial: %s",
	umpire.CodeControlFile: "Only git itself writes there: %s",
}

// codeRuns reports whether project code of the access may run unasked: the sandbox confines it,
// or a person trusts the code of this clone. It returns false if there is no person to ask.
func (j *judge) codeRuns() bool {
	q := j.given
	switch {
	case !j.access().Code:
		return true
	case q.Headless || q.Mode == umpire.ModeReject || q.Mode == umpire.ModePlan:
		return false
	}
	return q.Trust.Trusted && len(q.Trust.Written) == 0 || q.Sandbox.Holds()
}

// projectCode asks about project code that is harmless to start. A person's rule, grant or
// trust lifts it, but no mode does.
func (j *judge) projectCode() []umpire.Reason {
	if !j.harmless() {
		return nil
	}
	return j.unheldCode()
}

// unheldCode asks about project code that is neither confined nor trusted.
func (j *judge) unheldCode() []umpire.Reason {
	if j.codeRuns() {
		return nil
	}
	text := umpire.Say("Runs code of the project: %s", j.access().Reason)
	if t := &j.given.Trust; t.Trusted && len(t.Written) > 0 {
		text = umpire.Say("Runs code of the project; %s", writtenFiles(t.Written))
		return oneReason(rowCode, umpire.Ask, umpire.CodeWritten, text)
	}
	if why := j.given.Trust.Why; why != "" && !j.given.Sandbox.Holds() {
		text = umpire.Say("Runs code of the project; %s", why)
	}
	return oneReason(rowCode, umpire.Ask, umpire.CodeProjectCode, text)
}

// maxWritten is the maximum number of files in a reason.
const maxWritten = 3

// writtenFiles lists the project files that the agent changed.
func writtenFiles(files []string) umpire.Phrase {
	if len(files) == 1 {
		return umpire.Say("the agent changed 1 file of it since a person confirmed its code: %s", files[0])
	}
	names := strings.Join(files[:min(len(files), maxWritten)], ", ")
	if len(files) > maxWritten {
		names += ", …"
	}
	return umpire.Say("the agent changed %s files of it since a person confirmed its code: %s", len(files), names)
}

// Holds reports whether umpire's own sandbox confines the commands.
func (s *Sandbox) Holds() bool {
	return s.Held && !s.Absent && s.Missing == "" && s.Mode != umpire.SandboxFullAccess
}

// mode is the last row and always applies.
func (j *judge) mode() []umpire.Reason {
	text, code := j.approval, umpire.CodeMode
	opts, dotFolder := &j.policy.opts, newDotFolder(j)
	switch a := j.access(); {
	case a.Doubt != "":
		text, code = umpire.Say("Cannot be judged: %s", a.Doubt), umpire.CodeUnparsed
	case a.Asks != "":
		text, code = umpire.Say(asksPhrases[a.Asks], a.Reason), a.Asks
	case dotFolder != "":
		text, code = umpire.Say("makes the folder %q, from which some program may run what it finds", dotFolder),
			umpire.CodeDotFolder
	case a.Observed:
		text, code = umpire.Say("Keeping what a trial did needs approval: %s", a.Reason), umpire.CodeTrial
	case j.given.BeyondUndo != "" && a.Kind == umpire.KindWrite && !j.outside:
		text = j.given.BeyondUndo
	case opts.Autonomy.Network == umpire.NetworkOnce && j.given.Mode != umpire.ModeAsk && opts.isListed(a):
		text = asksOnce(a)
	}
	switch j.given.Mode {
	case umpire.ModeDefault, umpire.ModeAsk, umpire.ModeBypass:
		return oneReason(rowMode, umpire.Ask, code, text)
	case umpire.ModeAuto:
		return j.auto(code, text)
	case umpire.ModeReject, umpire.ModePlan:
		return oneReason(rowMode, umpire.Deny, umpire.CodeAutoDeny, text)
	}
	return oneReason(rowMode, umpire.Deny, umpire.CodeAutoDeny, text)
}
