package console

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/policy"
)

const (
	rulesPath      = "/rules"
	ruleCodePath   = "/rules/code"
	removeRulePath = "/rules/remove"
	revokePath     = "/rules/revoke"
)

// maxFolders bounds the sessions searched for folders to choose from.
const maxFolders = 200

// The rulePages show and change the rules and grants of folders.
type rulePages struct{ *Console }

// A ruleBook holds the rules and grants in force in one folder.
type ruleBook struct {
	text    *catalogue.Language
	now     time.Time
	asked   rulesQuery
	remote  bool // shown on another machine
	dir     string
	folders []choice // the value is a session in it
	rules   []umpire.Rule
	status  umpire.RuleStatus
	grants  []umpire.GrantStatus
	used    map[umpire.RuleID]time.Time // when rules last settled a call, as far as known
	tested  *umpire.Decision            // on the command that was asked about; may be nil
	replay  *string                     // the effect of the rule that was asked about; nil if none can be tried
}

// A rulesQuery selects the folder to show, by a session in it, and a command to test.
type rulesQuery struct {
	session umpire.SessionID
	command string
	action  string // of a rule to try
	rule    string
	builtin bool // also show umpire's built-in rules
}

func (q rulesQuery) address() string {
	pairs := []string{"session", string(q.session)}
	if q.builtin {
		pairs = append(pairs, "builtin", "1")
	}
	return rulesPath + "?" + encodeQuery(pairs...)
}

// maxCommand is the longest command that can be tested.
const maxCommand = 4096

// showRules shows the rules and grants of a folder.
func (c *rulePages) showRules(w http.ResponseWriter, r *http.Request) {
	form := r.URL.Query()
	b := &ruleBook{text: textOf(r), now: c.now(), remote: originOf(r).remote, asked: rulesQuery{
		session: umpire.SessionID(form.Get("session")), command: strings.TrimSpace(form.Get("command")),
		action: form.Get("action"), rule: strings.TrimSpace(form.Get("rule")), builtin: form.Has("builtin"),
	}}
	err := c.readRules(r.Context(), b)
	if err == nil {
		err = c.readUses(r.Context(), b)
	}
	if err == nil && len(b.asked.command) > maxCommand {
		err = umpire.Errorf("command: at most %d bytes: %w", maxCommand, umpire.ErrInvalid)
	}
	if err == nil && b.asked.command != "" {
		b.tested, err = c.testCommand(r.Context(), b)
	}
	if err == nil && c.config.TryRule != nil {
		b.replay = new(string)
		if since := b.now.AddDate(0, -1, 0); b.asked.rule != "" {
			*b.replay, err = c.config.TryRule(r.Context(), b.text, b.dir, b.asked.action, b.asked.rule, since)
		}
	}
	if err != nil {
		sendRefusal(w, r, statusOf(err), err)
		return
	}
	c.showPage(w, r, rulesPath, b.text.Of("Rules"), b.draw())
}

// readRules reads the rules in force in the requested folder, else in that of the latest session.
func (c *rulePages) readRules(ctx context.Context, b *ruleBook) (err error) {
	if err := c.listFolders(ctx, b); err != nil {
		return err
	}
	if b.dir, err = c.folderOf(ctx, b.asked.session); err != nil {
		return err
	}
	if b.rules, err = c.config.Gate.Rules().List(ctx, b.dir); err != nil {
		return err
	}
	if b.status, err = c.config.Gate.Rules().Status(ctx, b.dir); err != nil {
		return err
	}
	b.grants, err = c.config.Gate.Grants().List(ctx, b.dir)
	return err
}

// readUses reads when rules last settled a call of the folder's project.
func (c *rulePages) readUses(ctx context.Context, b *ruleBook) error {
	if b.asked.session == "" {
		return nil
	}
	s, err := c.config.Gate.Sessions().Get(ctx, b.asked.session)
	if err != nil {
		return err
	}
	facts, err := c.tally.latest(ctx)
	b.used = lastUses(facts, s.Project)
	return err
}

// listFolders lists the folders of the latest sessions. By default it chooses the latest session.
func (c *rulePages) listFolders(ctx context.Context, b *ruleBook) error {
	sessions, err := c.config.Gate.Sessions().List(ctx, umpire.SessionQuery{Limit: maxFolders})
	if err != nil {
		return err
	}
	if b.asked.session == "" && len(sessions) > 0 {
		b.asked.session = sessions[0].ID
	}
	at := slices.IndexFunc(sessions, func(s umpire.Session) bool { return s.ID == b.asked.session })
	if at > 0 { // the requested session represents its folder
		sessions = append([]umpire.Session{sessions[at]}, sessions...)
	}
	known := map[string]bool{}
	for i := range sessions {
		if s := &sessions[i]; s.Root != "" && !known[s.Root] {
			known[s.Root] = true
			b.folders = append(b.folders, choice{string(s.ID), view.Visible(s.Root)})
		}
	}
	return nil
}

// folderOf returns the folder of a session, or the gate's own without one.
func (c *rulePages) folderOf(ctx context.Context, id umpire.SessionID) (string, error) {
	if id == "" {
		return c.config.Dir, nil
	}
	s, err := c.config.Gate.Sessions().Get(ctx, id)
	return cmp.Or(s.Root, s.Dir), err
}

// testCommand decides a command like one of the chosen session, and stores nothing.
func (c *rulePages) testCommand(ctx context.Context, b *ruleBook) (*umpire.Decision, error) {
	input, err := json.Marshal(map[string]string{"command": b.asked.command})
	if err != nil {
		return nil, err
	}
	call := umpire.Call{Tool: "Bash", Input: input, Dir: b.dir, Session: b.asked.session}
	if call.Session != "" {
		if s, err := c.config.Gate.Sessions().Get(ctx, call.Session); err != nil || s.State == umpire.SessionOver {
			call.Session = ""
		}
	}
	d, err := c.config.Gate.Check(ctx, call)
	return &d, err
}

// removable maps the sources of rules that umpire can remove to their scopes.
var removable = map[umpire.Source]umpire.Scope{
	umpire.SourceProject: umpire.ScopeProject, umpire.SourceUser: umpire.ScopeGlobal,
}

// A removal is a request to remove a rule. Shown is the digest of the rule as the page showed it.
type removal struct {
	Session umpire.SessionID `json:"session_id"`
	ID      umpire.RuleID    `json:"rule_id"`
	Scope   umpire.Scope     `json:"scope"`
	Shown   string           `json:"shown"`
	Code    string           `json:"code,omitempty"`
}

// removalOf returns the removal of a rule; false means that umpire cannot remove it: it is in a
// file that umpire does not write, or shares its id with another rule there.
func (b *ruleBook) removalOf(r *umpire.Rule) (removal, bool) {
	scope, can := removable[r.Source]
	own := slices.ContainsFunc(b.status.Files, func(f umpire.RuleFile) bool {
		return f.Format == "umpire" && (f.Path == r.File || f.Path == filepath.Join(b.dir, r.File))
	})
	same := 0
	for i := range b.rules {
		if b.rules[i].ID == r.ID && b.rules[i].File == r.File {
			same++
		}
	}
	m := removal{Session: b.asked.session, ID: r.ID, Scope: scope, Shown: digestRule(b.dir, r)}
	return m, can && own && same == 1
}

// digestRule returns a digest that is unique to a rule in a folder and changes with the rule.
func digestRule(dir string, r *umpire.Rule) string {
	text, err := json.Marshal([]any{dir, r.Source, r.File, r})
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// use returns the only use of a code for the removal. It belongs to no question.
func (m *removal) use(by *signIn) codeUse { return codeUse{by: by, shown: m.Shown, scope: m.Scope} }

// readRemoval reads a removal and finds its folder and its current rule.
func (c *rulePages) readRemoval(
	w http.ResponseWriter, r *http.Request,
) (in removal, dir string, rule umpire.Rule, err error) {
	if err := readJSON(w, r, &in); err != nil {
		return in, "", rule, err
	}
	b := &ruleBook{asked: rulesQuery{session: in.Session}}
	if err := c.readRules(r.Context(), b); err != nil {
		return in, "", rule, err
	}
	for i := range b.rules {
		if now, can := b.removalOf(&b.rules[i]); can && now.ID == in.ID && now.Scope == in.Scope {
			if in.Shown == "" || now.Shown != in.Shown {
				return in, b.dir, rule, umpire.ErrChanged
			}
			return in, b.dir, b.rules[i], nil
		}
	}
	return in, b.dir, rule, umpire.Errorf("rule %q: %w", in.ID, umpire.ErrNotFound)
}

// sendRemovalCode shows the code for a removal on the terminals that follow the console.
func (c *rulePages) sendRemovalCode(w http.ResponseWriter, r *http.Request) {
	in, _, rule, err := c.readRemoval(w, r)
	if err != nil {
		sendRefusal(w, r, statusOf(err), err)
		return
	}
	by := signInOf(r)
	what := by.text.Of("remove the rule") + " " + view.Visible(rule.Action.String()+" "+policy.FormatShort(rule))
	c.showCode(w, r, in.use(by), what)
}

// removeRule removes a rule from its file. Like an approval for the project or everywhere, it needs
// a code.
func (c *rulePages) removeRule(w http.ResponseWriter, r *http.Request) {
	in, dir, rule, err := c.readRemoval(w, r)
	if err != nil {
		sendRefusal(w, r, statusOf(err), err)
		return
	}
	by := signInOf(r)
	if !c.codes.redeem(in.use(by), strings.TrimSpace(in.Code)) {
		sendRefusal(w, r, http.StatusForbidden, errCode)
		return
	}
	if err := c.gateOf(r).Rules().Remove(r.Context(), dir, in.Scope, in.ID, umpire.Actor{}); err != nil {
		sendRefusal(w, r, statusOf(err), err)
		return
	}
	said := fmt.Sprintf(textOf(r).Of("removed %s from %s\n"), view.Visible(string(in.ID)), view.Visible(rule.File))
	writeJSON(w, http.StatusOK, outcome{State: stateIdle, Text: strings.TrimSpace(said)})
}

// revokeGrant revokes a grant. It allows nothing new, so it needs no code.
func (c *rulePages) revokeGrant(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Session umpire.SessionID `json:"session_id"`
		ID      string           `json:"grant_id"`
	}
	err := readJSON(w, r, &in)
	var dir string
	if err == nil {
		dir, err = c.folderOf(r.Context(), in.Session)
	}
	var revoked []umpire.GrantStatus
	if err == nil {
		revoked, err = c.gateOf(r).Grants().Revoke(r.Context(), umpire.Revocation{Dir: dir, ID: in.ID})
	}
	if err != nil {
		sendRefusal(w, r, statusOf(err), err)
		return
	}
	var said []string
	for i := range revoked {
		said = append(said, strings.TrimSpace(fmt.Sprintf(textOf(r).Of("revoked %s: %s\n"),
			view.Visible(revoked[i].ID), view.DescribeGrant(&revoked[i], textOf(r)))))
	}
	writeJSON(w, http.StatusOK, outcome{State: stateIdle, Text: strings.Join(said, "; ")})
}
