package cli

import (
	"maps"
	"strings"

	"github.com/umpirehq/umpire/internal/view"
)

// A catalogue translates what people read, see [view.Catalogue].
type catalogue view.Catalogue

// of returns the text in the catalogue's language.
func (c catalogue) of(english string) string { return view.Catalogue(c).Of(english) }

// reason returns the reason of a decision in the catalogue's language.
func (c catalogue) reason(english string) string { return view.Catalogue(c).Reason(english) }

// word returns a word of a closed set in the catalogue's language.
func (c catalogue) word(set, english string) string { return view.Catalogue(c).Word(set, english) }

// problem returns an error's text in the catalogue's language.
func (c catalogue) problem(english string) string { return view.Catalogue(c).Problem(english) }

// language picks the catalogue: UMPIRE_LANG, then what POSIX says.
func language(getenv func(string) string) catalogue {
	for _, name := range []string{"UMPIRE_LANG", "LC_ALL", "LC_MESSAGES", "LANG"} {
		if value := getenv(name); value != "" {
			return catalogueFor(value)
		}
	}
	return nil
}

// catalogues are the parts of 简体中文, the only other language there is.
var catalogues = []catalogue{
	chinese, chineseHelp, chineseHook, chineseFlags, chinesePrograms, chineseBench, chineseDoctor, chineseGate, chineseRun, chineseMode, chineseGrants, chineseChat, chineseDemo, chineseSandbox, catalogue(view.ChineseCard), catalogue(view.ChineseChat),
}

// catalogueFor returns the catalogue of a locale; nil is English.
func catalogueFor(locale string) catalogue {
	if !strings.HasPrefix(strings.ToLower(locale), "zh") {
		return nil
	}
	all := catalogue{}
	for _, part := range catalogues {
		maps.Copy(all, part)
	}
	return all
}
