package policy

import "github.com/umpirehq/umpire"

// tighteningOrder ranks the rules of a request after all others.
const tighteningOrder = 1 << 30

// compileTightening compiles the rules of a request that deny or ask. An invalid rule may have
// been meant to forbid this call, so it makes the call ask.
func compileTightening(rules []umpire.Rule, o *Options) (tight []*compiled, bad *compiled) {
	for i := range rules {
		r := &rules[i]
		if r.Action == umpire.Allow {
			continue
		}
		if err := Validate(*r); err != nil {
			bad = compileRule(&umpire.Rule{
				ID: r.ID, Action: umpire.Ask, Tool: anyTool, Source: umpire.SourceFlag,
				Says: umpire.Say("A rule that came with the request is not valid: %s", err),
			}, o)
			bad.order = tighteningOrder + i
			continue
		}
		c := compileRule(r, o)
		c.order = tighteningOrder + i
		tight = append(tight, c)
	}
	return tight, bad
}
