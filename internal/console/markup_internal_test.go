package console

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/languages"
)

// A browser reads a page as exactly the tree that was drawn, with any texts and values.
func FuzzMarkup(f *testing.F) {
	for _, text := range []string{
		"", "plain", `<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onclick='x`, "`", "&amp;&lt;",
		"</p></div></pre>", "<!--", "-->", "]]>", "\n\n", "a\r\nb", "\u2028", "\xff\xfe", "javascript:alert(1)",
		"</title><script>", "<svg/onload=x>", "&#60;script&#62;", "\x00<b>", "</noscript>", "{{.}}",
	} {
		f.Add(text, text)
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		clean := func(s string) string { // what no text of a page holds: view.Visible shows it as an escape
			return strings.ToValidUTF8(strings.NewReplacer("\x00", "", "\ufffd", "", "\r", "").Replace(s), "")
		}
		text, value = clean(text), clean(value)
		drawn := element("div", class(value), attr("data-x", value), attr("title", value), address("href", "/?"+encodeQuery("q", value)),
			element("pre", written(text)), element("code", written(text), element("b", written(value))),
			element("p", written(text+value)), element("input", attr("value", value)),
			element("button", attr("aria-label", text), written(text)))
		root := element("html", element("head", element("title", written(text))), element("body", drawn))
		document := &html.Node{Type: html.DocumentNode}
		document.AppendChild(root.Node)
		var out bytes.Buffer
		if err := html.Render(&out, document); err != nil {
			t.Fatal(err)
		}
		read, err := html.Parse(bytes.NewReader(out.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if want, got := outline(document), outline(read); want != got {
			t.Errorf("drawn\n%s\nbut read\n%s\nfrom %q", want, got, out.Bytes())
		}
	})
}

// outline writes the elements, attributes and texts of a tree.
func outline(n *html.Node) string {
	var b strings.Builder
	var walk func(*html.Node, int)
	walk = func(n *html.Node, depth int) {
		b.WriteString(strings.Repeat(" ", depth))
		switch {
		case n.Type == html.TextNode && n.Data == "":
		case n.Type == html.TextNode:
			b.WriteString("text " + quoted(n.Data))
		default:
			b.WriteString(n.Data)
			for _, a := range n.Attr {
				b.WriteString(" " + a.Key + "=" + quoted(a.Val))
			}
		}
		b.WriteString("\n")
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.Type != html.TextNode || c.Data != "" {
				walk(c, depth+1)
			}
		}
	}
	walk(n, 0)
	return b.String()
}

func quoted(s string) string { return strings.ReplaceAll(s, "\n", `\n`) }

// Attributes that a browser would run or load cannot be drawn.
func TestMarkupRefuses(t *testing.T) {
	t.Parallel()
	for name, draw := range map[string]func(){
		"a handler":         func() { attr("onclick", "x()") },
		"an address":        func() { attr("href", "https://example.com") },
		"a style":           func() { attr("style", "color: red") },
		"a script":          func() { element("script", written("x()")) },
		"text in noscript":  func() { element("noscript", written("<b>")) },
		"another site":      func() { address("href", "https://example.com/") },
		"a script's scheme": func() { address("href", "javascript:x()") },
		"no scheme":         func() { address("href", "//example.com/") },
		"a backslash":       func() { address("href", `/\example.com`) },
		"a tab":             func() { address("href", "/\t/example.com") },
		"nothing":           func() { address("href", "") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is drawn", name)
				}
			}()
			draw()
		}()
	}
}

// Texts that pages take from tables have a translation.
func TestTablesOfTexts(t *testing.T) {
	t.Parallel()
	var texts []string
	for _, k := range historyKinds {
		texts = append(texts, k.label)
	}
	for kind := range standaloneKinds {
		texts = append(texts, stepTexts[kind])
	}
	texts = slices.AppendSeq(texts, maps.Values(stepTexts))
	for _, text := range texts {
		if chinese := languages.Find("zh-CN").Of(text); chinese == text {
			t.Errorf("%q has no translation", text)
		}
	}
}

// TestTheNetworkIsAllowedOfAReadCard: like an approval, it waits until all of the card was on the screen. Other
// trials let nothing out.
func TestTheNetworkIsAllowedOfAReadCard(t *testing.T) {
	t.Parallel()
	for offer, waits := range map[umpire.TrialOffer]bool{
		umpire.TrialOffered: false, umpire.TrialFirst: false, umpire.TrialNetwork: true, umpire.TrialAgain: true,
	} {
		text := languages.Find("en")
		q := &question{Card: view.New(umpire.Pending{TrialOffer: offer}, umpire.Session{}, "", text, time.Now(), false), text: text}
		var out strings.Builder
		if err := html.Render(&out, q.drawBar().Node); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(out.String(), `data-try="" data-network="" disabled=""`); got != waits {
			t.Errorf("%s: %s", offer, out.String())
		}
	}
}
