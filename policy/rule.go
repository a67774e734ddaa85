package policy

import (
	"strings"

	"github.com/umpirehq/umpire"
)

// The rows of the order of decision that rules belong to.
const (
	rowInvalid   = 1
	rowSuffix    = 2
	rowHardStop  = 3
	rowDenyRule  = 4
	rowPlan      = 5
	rowControl   = 6
	rowAskRule   = 7
	rowBypass    = 8
	rowExternal  = 9
	rowSafe      = 10
	rowAllowRule = 11
	rowGrant     = 12
	rowAllowAll  = 13
	rowMode      = 14
	// rowSandbox comes after row 7 in the order. Its high number makes it the least important
	// subject of a question.
	rowSandbox = 15
	// rowDegraded comes right after it.
	rowDegraded = 16
	// rowCode comes before row 14, and after it if the risk asks as well.
	rowCode = 17
	// rowAutonomy comes before row 9 and again after row 13.
	rowAutonomy = 18
)

// A compiled rule is ready for matching. It never changes.
type compiled struct {
	rule *umpire.Rule
	ref  *umpire.RuleRef
	row  int
	code umpire.ReasonCode
	// order ranks rules that match the same access: a decision names the lowest.
	order int

	line   []string // of a rule for one whole command
	words  []string
	globs  []glob
	domain string

	// onlyTree limits a rule to changes that reach everything below the path. wholeFolder makes
	// a rule about FOLDER apply to FOLDER/* too.
	onlyTree, wholeFolder bool
	// named excludes trees above the path and listings: the rule applies only to paths that are
	// named and read.
	named bool
	// secret limits a rule to reads that name its files, apart from except.
	secret bool
	except []glob
	// self marks a rule against agents that answer umpire's questions.
	self bool
	// loose marks a rule about files that may lie below a folder its pattern does not name.
	loose bool
	// broad marks an allow rule that auto mode strips.
	broad bool
}

// A compiler compiles rules. It takes their parts from shared blocks, which saves allocations
// if there are many rules.
type compiler struct {
	opts *Options
	// folds makes all patterns ignore case, because built-in ones protect alike on every file system.
	folds bool
	rules block[compiled]
	refs  block[umpire.RuleRef]
	globs block[glob]
	segs  block[segment]
	words block[string]
}

// A block hands out values from slices that it allocates in advance.
type block[T any] struct {
	free []T
	made int
}

// maxBlock is the maximum number of values to allocate in advance.
const maxBlock = 512

// take returns n zero values.
func (b *block[T]) take(n int) []T {
	if n > len(b.free) {
		b.made = max(n, min(2*b.made, maxBlock))
		b.free = make([]T, b.made)
	}
	piece := b.free[:n:n]
	b.free = b.free[n:]
	return piece
}

// compileRule compiles a valid rule.
func compileRule(r *umpire.Rule, o *Options) *compiled { return (&compiler{opts: o}).compileRule(r) }

func (k *compiler) compileRule(r *umpire.Rule) *compiled {
	c, ref := &k.rules.take(1)[0], &k.refs.take(1)[0]
	*ref = r.Ref()
	c.rule, c.ref, c.words = r, ref, k.cutPrefix(r.Match.CommandPrefix)
	if r.Match.Domain != "" {
		c.domain = hostName(r.Match.Domain)
	}
	switch r.Action {
	case umpire.Deny:
		c.row, c.code = rowDenyRule, umpire.CodeBlocked
	case umpire.Ask:
		c.row, c.code = rowAskRule, umpire.CodeRule
	case umpire.Allow:
		c.row, c.code = rowAllowRule, umpire.CodeRule
		c.broad = tooBroad(r, c.words)
	}
	c.line, _ = splitLine(r.Match.Command) // Validate has split it before
	if r.Match.PathGlob != "" {
		c.globs = k.newGlobs(r.Match.PathGlob, r.Action)
	}
	c.loose = c.looksBelow()
	return c
}

func (c *compiled) allows() bool { return c.rule.Action == umpire.Allow }

// text returns the rule's message for an access that it settles.
func (c *compiled) text() umpire.Phrase {
	if said := c.rule.Reason(); said != "" {
		return said
	}
	id := string(c.rule.ID)
	if id == "" {
		id = FormatShort(*c.rule)
	}
	switch c.rule.Action {
	case umpire.Ask:
		return umpire.Say("Asked by rule: %s", id)
	case umpire.Allow:
		return umpire.Say("Allowed by rule: %s", id)
	case umpire.Deny:
	}
	return umpire.Say("Denied by rule: %s", id)
}

// forCommand reports whether the rule matches commands by their words.
func (c *compiled) forCommand() bool { return len(c.line)+len(c.words) > 0 }

// bare reports whether the rule has no match and so applies to a whole tool.
func (c *compiled) bare() bool { return c.rule.Match == (umpire.Match{}) }

// hostName normalizes a host or a URL for comparison with domains: lower case, without scheme,
// user, port, path or trailing dot.
func hostName(s string) string {
	if _, rest, ok := strings.Cut(s, "://"); ok {
		s = rest
	}
	if i := strings.IndexAny(s, "/?#\\"); i >= 0 {
		s = s[:i]
	}
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		s = s[i+1:]
	}
	if inner, ok := strings.CutPrefix(s, "["); ok {
		s, _, _ = strings.Cut(inner, "]")
	} else if strings.Count(s, ":") == 1 {
		s, _, _ = strings.Cut(s, ":")
	}
	return strings.ToLower(strings.TrimSuffix(s, "."))
}

// hostMatches reports whether a host is the domain, or below a *.domain.
func hostMatches(domain, host string) bool {
	if domain == "*" {
		return true
	}
	if parent, ok := strings.CutPrefix(domain, "*"); ok {
		return strings.HasSuffix(host, parent) && len(host) > len(parent)
	}
	return host != "" && domain == host
}
