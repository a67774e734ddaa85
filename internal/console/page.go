package console

import (
	"bytes"
	"embed"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/net/html"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

//go:embed assets
var assets embed.FS

// assetTypes are the files that pages load, with their types. They are served without a sign-in.
var assetTypes = map[string]string{
	"/assets/console.css": "text/css; charset=utf-8",
	"/assets/console.js":  scriptType,
	"/assets/card.js":     scriptType,
	"/assets/passkey.js":  scriptType,
	"/assets/push.js":     scriptType,
	"/assets/key.js":      scriptType,
	"/assets/shell.js":    scriptType,
	workerPath:            scriptType,
	manifestPath:          "application/manifest+json",
	"/assets/icon.svg":    "image/svg+xml",
	"/assets/icon.png":    "image/png",
}

// modules are the scripts that the shell's script imports. The shell lists them to let browsers load them in parallel.
var modules = []string{
	"/assets/card.js", "/assets/console.js", "/assets/key.js", "/assets/passkey.js", "/assets/push.js",
}

const (
	scriptType   = "text/javascript; charset=utf-8"
	workerPath   = "/assets/worker.js"
	manifestPath = "/assets/console.webmanifest"
)

func sendAsset(w http.ResponseWriter, r *http.Request) {
	data, err := assets.ReadFile(strings.TrimPrefix(r.URL.Path, "/"))
	if err != nil {
		sendRefusal(w, r, http.StatusNotFound, umpire.ErrNotFound)
		return
	}
	w.Header().Set("Content-Type", assetTypes[r.URL.Path])
	if r.URL.Path == workerPath {
		w.Header().Set("Service-Worker-Allowed", "/") // notices link to every page
	}
	_, _ = w.Write(data) // the browser may have gone
}

// A page holds the frame that all pages share, and the changing part.
type page struct {
	text   *catalogue.Language
	title  string
	person string // the signed-in person's name, or ""
	count  int    // of waiting questions
	path   string // the page's menu entry
	class  string // of the changing part
	remote bool   // shown on another machine
	body   parts

	problem bool // it only says what is wrong
}

// newPage returns the frame of a page.
func newPage(r *http.Request, title string) *page {
	p := &page{text: textOf(r), title: title, path: "/", remote: originOf(r).remote}
	if s := signInOf(r); s != nil {
		p.person = s.person
	}
	return p
}

// mostCounted is the highest count of questions shown outside of the inbox.
const mostCounted = 99

// showPage shows a page other than the inbox.
func (c *Console) showPage(w http.ResponseWriter, r *http.Request, path, title string, main part) {
	list, err := c.config.Gate.Pending(r.Context(), umpire.PendingQuery{Limit: mostCounted + 1})
	if err != nil {
		sendRefusal(w, r, statusOf(err), err)
		return
	}
	p := newPage(r, view.Joined(title, " · ", "umpire"))
	p.path, p.class, p.count, p.body = path, "page", len(list), parts{main}
	p.show(w, r)
}

// partHeader is the header by which a page requests only its changing part.
const partHeader = "Umpire-Part"

// show writes a page, or only its changing part.
func (p *page) show(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get(partHeader) != "" {
		sendNode(w, p.drawPart().Node)
		return
	}
	p.sendDocument(w, p.drawFrame())
}

// sendDocument writes a page with a body.
func (p *page) sendDocument(w http.ResponseWriter, body node) {
	document := &html.Node{Type: html.DocumentNode}
	document.AppendChild(&html.Node{Type: html.DoctypeNode, Data: "html"})
	document.AppendChild(p.drawDocument(body).Node)
	sendNode(w, document)
}

func sendNode(w http.ResponseWriter, n *html.Node) {
	var out bytes.Buffer
	if err := html.Render(&out, n); err != nil {
		panic(err) // a programming error
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(out.Bytes()) // the browser may have gone
}

// drawDocument draws the whole page around its body.
func (p *page) drawDocument(body node) node {
	meta := func(name, content string, more ...part) node {
		return element("meta", attr("name", name), attr("content", content), parts(more))
	}
	return element("html", attr("lang", languageTag(p.text)),
		element("head",
			element("meta", attr("charset", "utf-8")),
			meta("viewport", "width=device-width, initial-scale=1, viewport-fit=cover"),
			meta("color-scheme", "light dark"),
			meta("theme-color", "#fbfaf8", attr("media", "(prefers-color-scheme: light)")),
			meta("theme-color", "#101216", attr("media", "(prefers-color-scheme: dark)")),
			element("title", written(p.title)),
			element("link", attr("rel", "icon"), address("href", "/assets/icon.svg")),
			when(p.remote, element("link", attr("rel", "manifest"), address("href", manifestPath)),
				element("link", attr("rel", "apple-touch-icon"), address("href", "/assets/icon.png"))),
			element("link", attr("rel", "stylesheet"), address("href", "/assets/console.css")),
			each(modules, func(path string) part {
				return element("link", attr("rel", "modulepreload"), address("href", path))
			}),
			element("script", attr("type", "module"), address("src", "/assets/shell.js")),
		),
		body,
	)
}

// drawFrame draws the part of a page that stays. The shell's script replaces the shell with it.
func (p *page) drawFrame() node {
	return element("body",
		element("a", class("skip"), address("href", "#question"),
			written(p.text.Of("Skip to the question"))),
		element("div", attr("id", "app"), p.drawPart()),
		element("div", class("status"), attr("role", "status"),
			element("p", attr("id", "said")),
			element("p", attr("id", "lost"), flag("hidden"),
				written(textLost(p.text)))),
		p.drawKeys(),
	)
}

func textLost(text *catalogue.Language) string { return text.Of("The connection to the gate is lost.") }

func (p *page) needsScript() node {
	return element("noscript", element("p", written(p.text.Of("This page needs JavaScript."))))
}

// drawPart draws the changing part of a page.
func (p *page) drawPart() node {
	return element("div", attr("id", "part"), attr("data-title", p.title), when(p.problem, flag("data-problem")),
		when(p.class != "", class(p.class)),
		p.drawNav(), p.body)
}

func (p *page) drawNav() node {
	return element("nav", attr("aria-label", "umpire"),
		element("div", class("brand"), written("umpire")),
		p.drawEntry("/", p.text.Of("Inbox"),
			when(p.count > 0, written(" "), element("b", class("count"), written(countText(p.count))))),
		p.drawEntry(timelinePath, p.text.Of("Timeline")),
		p.drawEntry(sessionsPath, p.text.Of("Sessions")),
		p.drawEntry(rulesPath, p.text.Of("Rules")),
		p.drawEntry(overviewPath, p.text.Of("Overview")),
		when(p.remote, p.drawEntry(passkeysPath, p.text.Of("Passkeys"))),
		element("div", class("foot"),
			when(p.person != "", element("span", class("person"),
				attr("title", describePerson(p.person, p.text)), written(view.Visible(p.person)))),
			p.drawLanguages(),
			element("button", attr("type", "button"), class("plain"), flag("data-keys"),
				written(p.text.Of("keys")), key("?")),
			element("button", attr("type", "button"), class("plain"), flag("data-sign-out"),
				written(p.text.Of("Sign out"))),
		),
	)
}

// countText returns the shown number of waiting questions, up to mostCounted.
func countText(n int) string {
	if n > mostCounted {
		return strconv.Itoa(mostCounted) + "+"
	}
	return strconv.Itoa(n)
}

// drawEntry draws an entry of the menu.
func (p *page) drawEntry(path, name string, more ...part) node {
	return element("a", address("href", path), when(path == p.path, attr("aria-current", "page")), written(name),
		parts(more))
}

// drawKeys draws the legend of keys.
func (p *page) drawKeys() node {
	row := func(does string, keys ...string) part {
		return parts{element("dt", each(keys, key)), element("dd", written(does))}
	}
	return element("dialog", attr("id", "keys"), attr("aria-labelledby", "keys-title"),
		element("h2", attr("id", "keys-title"), written(p.text.Of("keys"))),
		element("dl",
			row(p.text.Of("next and previous call, row or session"), "j", "k"),
			row(p.text.Of("open the selected row"), "Enter"),
			row(p.text.Of("open the ways to allow"), "a"),
			row(p.text.Of("allow this time"), "y"),
			row(p.text.Of("allow this session"), "s"),
			row(p.text.Of("allow this project"), "p"),
			row(p.text.Of("allow everywhere"), "g"),
			row(p.text.Of("try it first"), "t"),
			row(p.text.Of("deny"), "n"),
			row(p.text.Of("cancel: deny, and stop the turn"), "c"),
			row(p.text.Of("show all of the call"), "e"),
			row(p.text.Of("undo the changes of a row"), "u"),
			row(p.text.Of("end the session"), "x"),
			row(p.text.Of("search"), "/"),
			row(p.text.Of("close the menu"), "Esc"),
			row(p.text.Of("open a page: inbox, timeline, sessions, rules, overview"), "1", "2", "3", "4", "5"),
			row(p.text.Of("change the language"), "l"),
			row(p.text.Of("show these keys"), "?"),
		),
		element("form", attr("method", "dialog"), element("button", written(p.text.Of("close")))),
	)
}
