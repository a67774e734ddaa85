package console

import (
	"net/http"
	"slices"
	"strings"

	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/internal/view/languages"
)

// languageHeader has the language that the person chose on the page, which the browser remembers.
const languageHeader = "Umpire-Language"

// languageNames are the names of the languages in themselves: one for the button, one for screen readers.
var languageNames = map[string][2]string{"en": {"EN", "English"}, "zh-CN": {"中文", "简体中文"}}

// textOf returns the language of a request: the chosen one, else the browser's, else its sign-in's.
func textOf(r *http.Request) *catalogue.Language {
	for _, name := range []string{languageHeader, "Accept-Language"} {
		if text, known := findLanguage(r.Header.Get(name)); known {
			return text
		}
	}
	if s := signInOf(r); s != nil {
		return s.text
	}
	return catalogue.English
}

// findLanguage returns the first language of a list in the form of Accept-Language that umpire has.
func findLanguage(list string) (text *catalogue.Language, known bool) {
	for item := range strings.SplitSeq(list, ",") {
		tag, _, _ := strings.Cut(strings.TrimSpace(item), ";")
		first, _, _ := strings.Cut(strings.ToLower(tag), "-")
		has := func(known string) bool { return strings.HasPrefix(known+"-", first+"-") }
		if slices.ContainsFunc(languages.Tags(), has) {
			return languages.Find(tag), true
		}
	}
	return nil, false
}

// drawLanguages draws a button for each other language.
func (p *page) drawLanguages() part {
	var buttons parts
	for _, tag := range languages.Tags() {
		if name := languageNames[tag]; tag != languageTag(p.text) {
			buttons = append(buttons, button(class("plain"), attr("data-language", tag), attr("lang", tag),
				attr("title", name[1]), attr("aria-label", name[1]), written(name[0]), key("l")))
		}
	}
	return buttons
}
