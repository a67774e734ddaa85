package console

import (
	"encoding/json"

	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// A choice is an entry of a select.
type choice struct{ value, name string }

// drawSelect draws a select with its form name and its label.
func drawSelect(name, label string, options []choice, chosen string) node {
	return element("select", attr("name", name), attr("aria-label", label), each(options, func(o choice) part {
		return element("option", attr("value", o.value), when(o.value == chosen, flag("selected")), written(o.name))
	}))
}

// hiddenInput adds a hidden value to a form.
func hiddenInput(name, value string) part {
	return when(value != "", element("input", attr("type", "hidden"), attr("name", name), attr("value", value)))
}

// drawAct draws a form that the page's script posts to a path: its body, and the code if there is a
// field for it.
func drawAct(path string, body map[string]any, of ...part) node {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // a programming error
	}
	return element("form", attr("data-post", path), attr("data-body", string(text)), parts(of))
}

// drawPages links to the first and the next page of a list; "" omits the link.
func drawPages(text *catalogue.Language, first, next string) node {
	links := parts{class("pages")}
	if first != "" {
		links = append(links, element("a", address("href", first), written(text.Of("latest"))))
	}
	if next != "" {
		links = append(links, element("a", attr("rel", "next"), address("href", next), written(text.Of("older"))))
	}
	return element("p", links)
}

// drawCode draws the field for the code on the terminal.
func drawCode(text *catalogue.Language) node {
	return element("p", class("code"),
		element("label", written(text.Of("this needs the code that your terminal shows")),
			element("input", attr("name", "code"), attr("autocomplete", "off"), attr("autocapitalize", "off"),
				attr("spellcheck", "false"), attr("size", "6"), attr("maxlength", "8"),
				attr("aria-label", text.Of("code")))),
		button(class("plain"), flag("data-new-code"), written(text.Of("another code"))))
}

// drawSummary draws the button that opens a form: its action and, for screen readers, its object.
func drawSummary(does, to string) node {
	return element("summary", written(does+" "), element("span", class("hidden"), written(to)))
}

// button makes a button that the page's script finds by a flag or a class.
func button(of ...part) node { return element("button", attr("type", "button"), parts(of)) }
