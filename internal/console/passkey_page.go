package console

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/console/webcrypto"
	"github.com/umpirehq/umpire/internal/view"
)

const (
	passkeysPath      = "/passkeys"
	passkeyCodePath   = "/passkeys/code"
	passkeyBeginPath  = "/passkeys/begin"
	passkeyAddPath    = "/passkeys/add"
	passkeyRemovePath = "/passkeys/remove"
	challengePath     = "/challenge"
)

// A challenge asks a browser for a passkey, or for an assertion made with one.
type challenge struct {
	Challenge  string   `json:"challenge"`
	Site       string   `json:"site"`
	Keys       [][]byte `json:"keys"` // those registered by the person
	Person     string   `json:"person,omitempty"`
	Algorithms []int    `json:"algorithms,omitempty"`
}

// passkeyPages registers passkeys, and issues challenges for them.
type passkeyPages struct{ *Console }

// party returns the site of an origin for passkeys.
func (o *origin) party() webcrypto.Party {
	host, _, _ := strings.Cut(o.host, ":")
	return webcrypto.Party{Origin: o.url, ID: host}
}

// newPasskey is the use of a code, and then of a challenge, to register a passkey.
func newPasskey(by *signIn) codeUse { return codeUse{by: by, shown: "new passkey"} }

// challengeFor makes a challenge for one use.
func (c *passkeyPages) challengeFor(o *origin, use codeUse) challenge {
	made := challenge{Challenge: use.bind(c.challenges.add(use)), Site: o.party().ID, Person: use.by.person}
	for _, k := range c.passkeys.of(made.Site, made.Person) {
		made.Keys = append(made.Keys, k.ID)
	}
	return made
}

// sendChallenge answers with the challenge for an answer to a card.
func (c *passkeyPages) sendChallenge(w http.ResponseWriter, r *http.Request) {
	in, _, err := c.readAnswer(w, r)
	if err != nil {
		sendRefusal(w, r, statusOf(err), err)
		return
	}
	made := c.challengeFor(originOf(r), useOf(signInOf(r), &in.Answer))
	if len(made.Keys) == 0 {
		sendRefusal(w, r, http.StatusForbidden, errNoPasskey)
		return
	}
	writeJSON(w, http.StatusOK, made)
}

// checkProof checks that a use from another machine comes with an assertion for just that, by the signed-in
// person: a person cannot approve under another name. The challenge is consumed in any case.
func (c *Console) checkProof(r *http.Request, use codeUse, a *webcrypto.Assertion) error {
	token := c.challenges.consume(use)
	if token == "" || a == nil {
		return errAssertion
	}
	person, err := c.passkeys.verify(originOf(r).party(), a, use.bind(token), c.now())
	if err == nil && person != use.by.person {
		err = errNoPasskey
	}
	return err
}

var errAssertion = umpire.Errorf("to allow it from here, confirm with your passkey, for this card and within two " +
	"minutes")

// sendPasskeyCode shows the code for a new passkey on the terminals that follow the console.
func (c *passkeyPages) sendPasskeyCode(w http.ResponseWriter, r *http.Request) {
	by := signInOf(r)
	c.showCode(w, r, newPasskey(by), by.text.Of("add a passkey"))
}

// beginPasskey exchanges the code for a challenge.
func (c *passkeyPages) beginPasskey(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Code string `json:"code"`
	}
	if err := readJSON(w, r, &in); err != nil {
		sendRefusal(w, r, statusOf(err), err)
		return
	}
	use := newPasskey(signInOf(r))
	if !c.codes.redeem(use, strings.TrimSpace(in.Code)) {
		sendRefusal(w, r, http.StatusForbidden, errCode)
		return
	}
	made := c.challengeFor(originOf(r), use)
	made.Algorithms = webcrypto.Algorithms
	writeJSON(w, http.StatusOK, made)
}

// addPasskey stores a new passkey.
func (c *passkeyPages) addPasskey(w http.ResponseWriter, r *http.Request) {
	var in struct {
		webcrypto.Registration

		Name string `json:"name"`
	}
	if err := readJSON(w, r, &in); err != nil {
		sendRefusal(w, r, statusOf(err), err)
		return
	}
	use, site := newPasskey(signInOf(r)), originOf(r).party()
	token := c.challenges.consume(use)
	if token == "" {
		sendRefusal(w, r, http.StatusForbidden, errCode)
		return
	}
	key, err := site.Register(&in.Registration, use.bind(token))
	if err != nil {
		sendRefusal(w, r, http.StatusForbidden, err)
		return
	}
	name := []rune(strings.TrimSpace(in.Name))
	added := passkey{
		Key: key, Name: string(name[:min(len(name), maxPasskeyName)]), Person: use.by.person,
		Host: site.ID, Added: c.now(),
	}
	if err := c.passkeys.add(&added); err != nil {
		sendRefusal(w, r, http.StatusConflict, err)
		return
	}
	writeJSON(w, http.StatusOK, outcome{State: stateIdle, Text: textOf(r).Of("the passkey was added")})
}

// removePasskey removes a passkey, and ends the sign-ins made with it and the notices to their browsers:
// the device may be lost. It needs no code, because removing a passkey only takes rights away.
func (c *passkeyPages) removePasskey(w http.ResponseWriter, r *http.Request) {
	var in struct {
		ID []byte `json:"id"`
	}
	err := readJSON(w, r, &in)
	if err == nil {
		err = c.passkeys.remove(in.ID)
	}
	if err != nil {
		sendRefusal(w, r, statusOf(err), err)
		return
	}
	text := textOf(r)
	said := text.Of("the passkey was removed")
	if err := (&pushPages{c.Console}).removeOf(c.logins.forgetPasskey(string(in.ID))); err != nil {
		said = describeLeft(said, err, text)
	}
	writeJSON(w, http.StatusOK, outcome{State: stateIdle, Text: said})
}

// showPasskeys lists the passkeys.
func (c *passkeyPages) showPasskeys(w http.ResponseWriter, r *http.Request) {
	by, text := signInOf(r), textOf(r)
	all := c.passkeys.forHost("")
	row := func(k passkey) part {
		about := joinNotes(k.Person, k.Host, k.Added.Local().Format(time.DateOnly))
		if !k.Used.IsZero() {
			used := fmt.Sprintf(text.Of("last used %s ago"), view.Age(c.now().Sub(k.Used)))
			about = view.Joined(about, " · ", used)
		}
		name := view.Visible(cmp.Or(k.Name, k.Host))
		return element("li", class("event"),
			element("div", class("line"), element("span", class("tool"), written(name))),
			paragraph("note", about),
			element("details", class("act"), drawSummary(text.Of("remove"), name),
				drawAct(passkeyRemovePath, map[string]any{"id": k.ID},
					element("button", class("no"), written(text.Of("remove this passkey"))))))
	}
	c.showPage(w, r, passkeysPath, text.Of("Passkeys"), element("main", class("wide slow"),
		attr("id", "question"), attr("tabindex", "-1"),
		element("h1", written(text.Of("Passkeys"))),
		when(by.person != "", paragraph("note", describePerson(by.person, text))),
		paragraph("note", text.Of("With a passkey you can allow calls from another machine, each of them once.")),
		when(len(all) == 0, paragraph("settled", text.Of("no passkeys"))),
		element("ol", class("lines"), each(all, row)),
		when(originOf(r).remote, element("details", class("act"), drawSummary(text.Of("add a passkey"), ""),
			drawAct(passkeyBeginPath, map[string]any{}, attr("data-code", passkeyCodePath), flag("data-passkey"),
				element("label", written(text.Of("name of the passkey")+" "),
					element("input", attr("name", "name"), attr("autocomplete", "off"), attr("maxlength", "60"))),
				drawCode(text),
				element("button", class("go"), written(text.Of("add a passkey")))))),
		(&pushPages{c.Console}).drawBrowsers(originOf(r), by, textOf(r)),
	))
}
