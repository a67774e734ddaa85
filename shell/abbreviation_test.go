package shell

import (
	"os"
	"strings"
	"testing"
)

// TestAbbreviationsNeverLower shortens every long option of every line that must ask, letter by
// letter. Programs that parse options like getopt_long accept the abbreviation.
func TestAbbreviationsNeverLower(t *testing.T) {
	t.Parallel()
	cut := 0
	for _, line := range linesThatAsk(t) {
		words := strings.Split(line, " ")
		for i, word := range words {
			name, value, attached := strings.Cut(word, "=")
			if !strings.HasPrefix(name, "--") || !spells(entryOf(words), name) {
				continue
			}
			for end := len(name) - 1; end > len("--a"); end-- {
				short := name[:end]
				if spells(entryOf(words), short) {
					continue // it is another option
				}
				if attached {
					short += "=" + value
				}
				abbreviated := strings.Join(append(append(append([]string{}, words[:i]...), short), words[i+1:]...),
					" ")
				if cut++; runsUnasked(abbreviated) {
					t.Errorf("%s runs unasked, and %s asks", abbreviated, line)
				}
			}
		}
	}
	if cut < 300 {
		t.Errorf("only %d abbreviations", cut)
	}
}

// entryOf returns the entry of a line's first program, or of its subcommand.
func entryOf(words []string) *program {
	var entry *program
	for _, family := range families {
		if found := findNamed(*family, words[0]); found != nil {
			entry = found
		}
	}
	for _, word := range words[1:] {
		if entry == nil || entry.findSubcommand(word) == nil {
			continue
		}
		entry = entry.findSubcommand(word)
	}
	return entry
}

// spells reports whether an entry has an option with that name.
func spells(entry *program, name string) bool {
	if entry == nil {
		return false
	}
	_, full, _ := entry.findOption(name)
	return full == name
}

// linesThatAsk returns the lines of the examples and of never_safe.txt that must not run unasked.
func linesThatAsk(t *testing.T) []string {
	t.Helper()
	var lines []string
	for _, e := range readExamples(t) {
		if !e.safe {
			lines = append(lines, e.line)
		}
	}
	text, err := os.ReadFile("testdata/never_safe.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && line[0] != '#' {
			lines = append(lines, line)
		}
	}
	return lines
}
