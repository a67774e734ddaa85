package policy

import (
	"slices"
	"strings"
)

// onlyRecords reports a git command, given without git's global options, that adds to what git
// has recorded and changes no file of the work tree.
func onlyRecords(words []string) bool {
	if len(words) < 2 || words[0] != "git" {
		return false
	}
	g, known := gitRecords[words[1]]
	needed := g.needs == ""
	for _, word := range words[2:] {
		option, _, _ := strings.Cut(word, "=")
		known = known && (!strings.HasPrefix(word, "-") || slices.Contains(strings.Fields(g.options), option))
		needed = needed || slices.Contains(strings.Fields(g.needs), option)
	}
	return known && needed
}

// gitRecords are subcommands that record, with the options that do no more, and those of which
// one is needed, because git would start an editor without it.
var gitRecords = map[string]struct{ options, needs string }{
	"add":    {options: "-A --all -u --update -N --intent-to-add -v --verbose --"},
	"branch": {},
	"commit": {
		options: "-m --message -a --all -am -q --quiet -qm -s --signoff -F --file --allow-empty --author --date",
		needs:   "-m --message -am -qm -F --file",
	},
	"tag": {options: "-m -am --message"},
}
