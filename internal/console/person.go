package console

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// maxName is the most characters of a person's name.
const maxName = 60

// reservedNames are recorded for answers that no person gave, or one without a known name.
var reservedNames = []string{
	"agent", "gate", "local", "nobody", "person", "policy", "relay", "system", "tcp", "umpire", "unix",
}

// CheckName rejects a name that could be misread in the records: one with invisible characters, one
// that umpire itself records for answers without a person's name, or an address.
func CheckName(name string) error {
	allowed := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) || strings.ContainsRune(" .-_'@+", r)
	}
	first, _ := utf8.DecodeRuneInString(name)
	_, notAddress := netip.ParseAddr(name)
	switch {
	case !unicode.IsLetter(first) && !unicode.IsDigit(first), utf8.RuneCountInString(name) > maxName,
		strings.ContainsFunc(name, func(r rune) bool { return !allowed(r) }), view.Visible(name) != name,
		strings.HasSuffix(name, " "), strings.Contains(name, "  "):
		return umpire.Errorf(
			"name %q: want at most %d letters, digits, single spaces and . - _ ' @ +, a letter or digit first: %w",
			name, maxName, umpire.ErrInvalid)
	case slices.Contains(reservedNames, strings.ToLower(name)), notAddress == nil, isNumbered(name):
		return umpire.Errorf("name %q is reserved: %w", name, umpire.ErrInvalid)
	}
	return nil
}

// isNumbered reports whether a name looks like that of a user without a name in the system.
func isNumbered(name string) bool { return strings.HasPrefix(strings.ToLower(name), "uid ") }

// gateOf returns the gate that records changes under the name of the request's person.
func (c *Console) gateOf(r *http.Request) umpire.Gate { return c.config.GateOf(signInOf(r).person) }

// describePerson names the signed-in person.
func describePerson(name string, text *catalogue.Language) string {
	return fmt.Sprintf(text.Of("signed in as %s"), view.Visible(name))
}

// joinNotes joins the notes on a passkey or a browser and leaves out "".
func joinNotes(notes ...string) string {
	notes = slices.DeleteFunc(notes, func(note string) bool { return note == "" })
	return view.Visible(strings.Join(notes, " · "))
}
