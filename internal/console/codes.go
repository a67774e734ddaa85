package console

import (
	"sync"
	"time"

	"github.com/umpirehq/umpire"
)

// codeTime is how long a code is valid.
const codeTime = 2 * time.Minute

// A codeUse is the only valid use of a code: one browser's answer to a card, removal of a rule or new passkey.
type codeUse struct {
	by      *signIn
	request umpire.RequestID
	shown   string // the digest of the card, or of the rule
	scope   umpire.Scope
	width   umpire.Width
}

func useOf(by *signIn, a *umpire.Answer) codeUse {
	return codeUse{by, a.Request, a.ShownDigest, a.Scope, a.Width}
}

type code struct {
	text    string
	expires time.Time
}

// codes keeps the codes shown on terminals, or the tokens of challenges.
type codes struct {
	now     func() time.Time
	newCode func() string

	mu  sync.Mutex
	all map[codeUse]code
}

func newCodes(now func() time.Time, newCode func() string) *codes {
	return &codes{now: now, newCode: newCode, all: map[codeUse]code{}}
}

// add makes a code, which replaces an earlier one for the same use.
func (c *codes) add(use codeUse) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for other, code := range c.all {
		if c.now().After(code.expires) {
			delete(c.all, other)
		}
	}
	made := c.newCode()
	c.all[use] = code{made, c.now().Add(codeTime)}
	return made
}

// redeem consumes a code and reports whether text matches it. A wrong guess consumes it too and is
// counted, to prevent trying them all.
func (c *codes) redeem(use codeUse, text string) bool {
	switch expected := c.consume(use); {
	case expected == "" || text == "": // not a guess
		return false
	case !sameText(expected, text):
		use.by.wrong.Add(1)
		return false
	}
	use.by.wrong.Store(0)
	return true
}

// consume removes a code and returns it, or "" if it is missing or expired.
func (c *codes) consume(use codeUse) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	code := c.all[use]
	delete(c.all, use)
	if c.now().After(code.expires) {
		return ""
	}
	return code.text
}
