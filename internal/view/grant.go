package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/policy"
)

// DescribeGrant describes the coverage of a grant. It is safe to show.
func DescribeGrant(g *umpire.GrantStatus, text *catalogue.Language) string {
	switch {
	case g.Kind == umpire.GrantAllowAll:
		return text.Of("every call that no rule or guard asks about")
	case g.Kind == umpire.GrantCode:
		return text.Of("tests, scripts and tool settings of this clone")
	case g.Exact != "":
		return Visible(g.Tool + ": " + g.Exact)
	}
	short := policy.FormatShort(umpire.Rule{Tool: g.Tool, Match: g.Match})
	if g.MaxConsequence != umpire.Lost {
		short += " --max-consequence " + g.MaxConsequence.String()
	}
	if g.Options != umpire.OptionsAny {
		short += " --options " + string(g.Options)
	}
	return Visible(short)
}

// DescribeRule returns a rule's description, and when it ends or that it has ended. It is safe to
// show.
func DescribeRule(r *umpire.Rule, text *catalogue.Language, now time.Time) string {
	said := text.Reason(r.Reason())
	if !r.ExpiresAt.IsZero() {
		ends := text.Of("until %s")
		if !r.ExpiresAt.After(now) {
			ends = text.Of("expired %s")
		}
		said = strings.TrimSpace(Bracketed(said, fmt.Sprintf(ends, r.ExpiresAt.Format("2006-01-02 15:04 MST"))))
	}
	return Visible(said)
}
