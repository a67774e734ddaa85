package policy

import (
	"slices"
	"strings"
)

// onlyRecords reports whether a git command, given without git's global options, only records
// changes and does not change files of the work tree.
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

// gitRecords are subcommands that record, with the options that add no effects, and the options
// of which one is needed to keep git from starting an editor.
var gitRecords = map[string]struct{ options, needs string }{
	"add":    {options: "-A --all -u --update -N --intent-to-add -v --verbose --"},
	"branch": {},
	"commit": {
		options: "-m --message -a --all -am -q --quiet -qm -s --signoff -F --file --allow-empty --author --date",
		needs:   "-m --message -am -qm -F --file",
	},
	"tag": {options: "-m -am --message"},
}
