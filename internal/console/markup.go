package console

import (
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/html"

	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// A page is a tree of html nodes. Package html escapes every text and attribute value when it
// writes the tree, so they may come from anywhere. Names of elements and attributes are constants
// of this package. An address needs [address], which accepts only paths of the console, and nothing
// here writes a script, a style or an event handler.

// A part is an attribute or a child of an element.
type part interface{ addTo(to *html.Node) }

type (
	attribute html.Attribute
	written   string // a text
	node      struct{ *html.Node }
	parts     []part
)

func (a attribute) addTo(to *html.Node) { to.Attr = append(to.Attr, html.Attribute(a)) }

func (n node) addTo(to *html.Node) { to.AppendChild(n.Node) }

func (all parts) addTo(to *html.Node) {
	for _, p := range all {
		p.addTo(to)
	}
}

// rawElements hold text that a browser does not read as escaped.
var rawElements = map[string]bool{
	"script": true, "style": true, "iframe": true, "noembed": true, "noframes": true, "noscript": true,
	"plaintext": true, "xmp": true,
}

func (t written) addTo(to *html.Node) {
	if rawElements[to.Data] {
		panic("text in <" + to.Data + ">")
	}
	to.AppendChild(&html.Node{Type: html.TextNode, Data: string(t)})
}

// element makes an element.
func element(tag string, of ...part) node {
	n := &html.Node{Type: html.ElementNode, Data: tag}
	parts(of).addTo(n)
	return node{n}
}

// attr makes an attribute that is shown, compared or read by the page's own script.
func attr(name, value string) part {
	switch name {
	case "href", "src", "action", "formaction", "srcdoc", "style", "srcset", "ping":
		panic(name + " takes more than text")
	}
	if strings.HasPrefix(name, "on") {
		panic(name + " takes a script")
	}
	return attribute{Key: name, Val: value}
}

// flag makes an attribute without a value.
func flag(name string) part { return attr(name, "") }

func class(names string) part { return attr("class", names) }

// address makes an attribute that links to a path of the console, or to a place on the page.
func address(name, to string) part {
	path := strings.HasPrefix(to, "/") && !strings.HasPrefix(to, "//")
	if !path && !strings.HasPrefix(to, "#") || strings.ContainsAny(to, "\\\t\r\n") {
		panic("an address outside the console: " + to)
	}
	return attribute{Key: name, Val: to}
}

// encodeQuery encodes names and values as a query.
func encodeQuery(pairs ...string) string {
	query := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		query.Set(pairs[i], pairs[i+1])
	}
	return query.Encode()
}

// when returns its parts if holds is true.
func when(holds bool, of ...part) part {
	if !holds {
		return parts(nil)
	}
	return parts(of)
}

// each draws a part for every value.
func each[T any](values []T, draw func(T) part) part {
	all := make(parts, 0, len(values))
	for _, value := range values {
		all = append(all, draw(value))
	}
	return all
}

// key draws a key of the keyboard.
func key(name string) part { return parts{written(" "), element("kbd", written(name))} }

// paragraph makes a paragraph with a class.
func paragraph(of string, text string) node { return element("p", class(of), written(text)) }

// visibleLines makes a text of several lines safe to show.
func visibleLines(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, view.Visible(strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "    ")))
	}
	return strings.Join(lines, "\n")
}

// languageTag returns the tag of a language.
func languageTag(text *catalogue.Language) string { return text.Word("language tag", "en") }

func timeText(at time.Time) string { return at.Local().Format("2006-01-02 15:04:05") }
