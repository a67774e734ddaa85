package cli

import (
	"maps"
	"strings"

	"github.com/umpirehq/umpire/internal/view"
)

// chooseLanguage picks the catalogue: UMPIRE_LANG, then what POSIX says.
func chooseLanguage(getenv func(string) string) view.Catalogue {
	for _, name := range []string{"UMPIRE_LANG", "LC_ALL", "LC_MESSAGES", "LANG"} {
		if value := getenv(name); value != "" {
			return catalogueFor(value)
		}
	}
	return nil
}

// catalogues are the parts of 简体中文, the only other language there is.
var catalogues = []view.Catalogue{
	chinese, chineseHelp, chineseHook, chineseFlags, chinesePrograms, chineseBench, chineseDoctor, chineseGate,
	chineseRun, chineseMode, chineseGrants, chineseChat, chineseDemo, chineseSandbox,
	view.ChineseCard, view.ChineseChat,
}

// catalogueFor returns the catalogue of a locale; nil is English.
func catalogueFor(locale string) view.Catalogue {
	if !strings.HasPrefix(strings.ToLower(locale), "zh") {
		return nil
	}
	all := view.Catalogue{}
	for _, part := range catalogues {
		maps.Copy(all, part)
	}
	return all
}
