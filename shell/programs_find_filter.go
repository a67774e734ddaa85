package shell

import (
	"strconv"
	"strings"

	"github.com/umpirehq/umpire/shell/internal/scan"
)

// A filter counts only if "and" joins everything before an action, and if it cannot match
// everything: `-name '*'`, `-mtime -1000` and `-type f` hardly narrow the result.

// noteFilter records the effect of one word of an expression, with its value, on the result.
func (line *findLine) noteFilter(test []word) {
	value := ""
	if len(test) == 2 && !test[1].open {
		value = test[1].text
	}
	picked := ""
	switch name := test[0].text; name {
	case "-name", "-iname":
		if saysName(value) {
			picked = value
		}
	case "-path", "-ipath", "-wholename", "-iwholename":
		if line.saysPath(value) {
			picked = pickedFiles
		}
	case "-empty":
		picked = pickedFiles
	case "-atime", "-mtime", "-ctime":
		if atLeast(value, 1) {
			picked = pickedSome
		}
	case "-size":
		if n := len(value) - 1; n > 0 && strings.ContainsAny(value[n:], "MG") && atLeast(value[:n], 1) {
			picked = pickedSome
		}
	case "-type":
		line.files = line.files || scan.HasField("f l p s", value)
	}
	if picked != "" && (line.picked == "" || line.picked[0] == '/') {
		line.picked = picked
	}
	if line.picked == pickedSome && line.files {
		line.picked = pickedFiles
	}
}

// pickedRoots returns the roots with the filters' selection below them.
func (line *findLine) pickedRoots() []word {
	roots := make([]word, len(line.roots))
	for i, root := range line.roots {
		root.picked, root.listed = line.picked, line.listed
		roots[i] = root
	}
	return roots
}

// listedNames returns the patterns of the names that an expression may list, as in a word.
// Without a test for names that is everything.
func listedNames(expression []word) string {
	var names []string
	for i := 0; i+1 < len(expression); i++ {
		value := expression[i+1]
		switch {
		case i > 0 && scan.HasField("! -not", expression[i-1].text):
		case expression[i].text == "-type" && value.text == "d":
			return ""
		case value.known() && scan.HasField("-name -iname", expression[i].text):
			names = append(names, value.text)
		}
	}
	if len(names) == 0 {
		return "*"
	}
	return strings.Join(names, "/")
}

// saysName reports whether a pattern contains two characters that are not wildcards, one of
// them a letter or digit.
func saysName(pattern string) bool {
	if strings.ContainsAny(pattern, "/\\\x00") {
		return false
	}
	fixed := fixedParts(pattern)
	all := strings.Join(fixed, "")
	return len(all) > 1 && strings.Map(keepAlphanumeric, all) != ""
}

// saysPath reports whether a pattern has a part that does not occur in the path of any root.
func (line *findLine) saysPath(pattern string) bool {
	for _, part := range fixedParts(pattern) {
		says := len(strings.Map(keepAlphanumeric, part)) > 1
		for _, root := range line.roots {
			says = says && root.known() && !strings.Contains(strings.ToLower(root.text+"/"), strings.ToLower(part))
		}
		if says {
			return true
		}
	}
	return false
}

// fixedParts returns the literal texts between the wildcards of a pattern.
func fixedParts(pattern string) []string {
	for {
		open := strings.IndexByte(pattern, '[')
		if open < 0 {
			break
		}
		end := strings.IndexByte(pattern[min(open+2, len(pattern)):], ']')
		if end < 0 {
			return nil
		}
		pattern = pattern[:open] + "*" + pattern[open+2+end+1:]
	}
	return strings.FieldsFunc(pattern, func(c rune) bool { return c == '*' || c == '?' })
}

// atLeast reports whether a value is +N with N at least least.
func atLeast(value string, least int) bool {
	digits, more := strings.CutPrefix(value, "+")
	n, err := strconv.Atoi(digits)
	return more && err == nil && n >= least
}

func keepAlphanumeric(c rune) rune {
	if c == '_' || !variableRune(c) {
		return -1
	}
	return c
}
