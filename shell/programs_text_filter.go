package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// jqOptions are the options of jq except those that take two values.
var jqOptions = program{names: "jq", risk: umpire.Safe, args: "data read…", opts: []option{
	{flags: "-n -r -c -s -S -e -M -C -a -j -R -b --null-input --raw-output --compact-output --slurp --sort-keys " +
		"--exit-status --monochrome-output --color-output --ascii-output --join-output --raw-input --tab --stream " +
		"--stream-errors --seq --raw-output0 --unbuffered --binary --args --jsonargs"},
	{values: "--indent", does: plain},
	{values: "-f --from-file", does: reads | lead | obeys, why: "runs a filter from a file"},
	{values: "-L --library-path", does: reads},
}, about: "-h -V --help --version --build-configuration"}

// yqOptions are the options of both programs called yq.
var yqOptions = program{names: "yq", risk: umpire.Safe, args: "data read…", opts: []option{
	{flags: "-n -r -c -S -e -M -C -a -j -P -N -y -0 -v -Y -x -t --null-input --raw-output --compact-output " +
		"--sort-keys --exit-status --no-colors --colors --ascii-output --join-output --prettyPrint --no-doc " +
		"--nul-output --verbose --yaml-output --yaml-roundtrip --xml-output --toml-output --tojson --args " +
		"--security-disable-env-ops --security-disable-file-ops",
		attached: "--unwrapScalar --string-interpolation --yaml-fix-merge-anchor-to-spec", does: plain},
	{values: "-o -p -I -w --output-format --input-format --indent --width --front-matter --header-preprocess " +
		"--lua-prefix --lua-suffix --properties-separator --csv-separator --tsv-separator --xml-attribute-prefix " +
		"--xml-content-name", does: plain},
	{values: "--expression", does: plain | lead},
	{values: "-f --from-file", does: reads | lead | asks, consequence: lost, why: "runs an expression from a file"},
	{flags: "-i --inplace --in-place", does: edits | asks, consequence: reversible, why: "changes files in place"},
	{values: "-s --split-exp --split-exp-file", does: asks, consequence: reversible,
		why: "writes a file for each result"},
}, about: "-h -V --help --version"}

// checkJq judges jq: its language can neither run nor write anything, but it can show the
// environment.
func checkJq(u *use) {
	judgeFilter(u, &jqOptions, jqReaching)
}

// jqReaching are the names that let a filter of jq show more than its input.
const jqReaching = "env $ENV import include get_search_list modulemeta"

// judgeJqFilter judges a jq filter in an option of another program.
func judgeJqFilter(u *use, filter word) {
	judgeFilterText(u, filter, jqReaching)
}

// checkYq judges both kinds of yq.
func checkYq(u *use) {
	if len(u.operands) > 0 && scan.HasField("e eval ea eval-all", u.operands[0].text) {
		u.operands = u.operands[1:]
	}
	judgeFilter(u, &yqOptions, "env $ENV import include strenv envsubst eval system exec load load_str load_xml "+
		"load_props load_base64 strload")
}

// judgeFilter parses the arguments of a filter program and looks for names in its filter that
// reach beyond its input.
func judgeFilter(u *use, options *program, reaching string) {
	args := takePairs(u, u.operands)
	u.program = options
	u.arguments = options.parseArguments(args, false)
	u.judgeOptions()
	if u.onlyInforms() {
		return
	}
	if g := u.got("--expression"); g != nil && g.has {
		judgeFilterText(u, g.value, reaching)
	}
	if u.has(lead) || len(u.operands) == 0 {
		return
	}
	filter := u.operands[0]
	if options == &yqOptions &&
		(fileLike(filter.text) || len(u.operands) == 1 && strings.HasPrefix(filter.text, ".") && filter.known()) {
		u.touch(umpire.KindRead, filter, accessOf{}) // the filter may be omitted
	}
	judgeFilterText(u, filter, reaching)
}

// judgeFilterText judges the filter itself.
func judgeFilterText(u *use, filter word, reaching string) {
	if !filter.known() {
		u.doubt = "the filter is not known before it runs"
		return
	}
	checkReach(u, filter.text, reaching)
}

// checkReach looks for names in a filter.
func checkReach(u *use, filter, reaching string) {
	for _, name := range filterNames(filter) {
		if scan.HasField(reaching, name) || strings.HasPrefix(name, "load") && strings.Contains(reaching, "load") {
			u.askSecret(umpire.Say("the filter uses %s, which shows more than its input", name))
		}
	}
}

// takePairs removes the options with two values, such as --arg name value.
func takePairs(u *use, args []word) []word {
	var kept []word
	for i := 0; i < len(args); i++ {
		switch args[i].text {
		case "--arg", "--argjson":
			i += 2
		case "--slurpfile", "--rawfile", "--argfile":
			if i+2 < len(args) {
				u.touch(umpire.KindRead, args[i+2], accessOf{})
			}
			i += 2
		default:
			kept = append(kept, args[i])
		}
	}
	return kept
}

// filterNames returns the names that a filter calls. It ignores fields, keys and text, but not
// interpolated expressions.
func filterNames(filter string) []string {
	var names []string
	var strs []int // open strings, as the depth of parentheses at their \(
	depth, quoted := 0, false
	for i := 0; i < len(filter); i++ {
		c := filter[i]
		switch {
		case quoted && c == '\\' && i+1 < len(filter):
			i++
			if filter[i] == '(' {
				strs, quoted = append(strs, depth), false
				depth++
			}
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '#':
			for i+1 < len(filter) && filter[i+1] != '\n' {
				i++
			}
		case c == '(':
			depth++
		case c == ')':
			depth--
			if n := len(strs); n > 0 && strs[n-1] == depth {
				strs, quoted = strs[:n-1], true
			}
		case scan.IsLetter(c) || c == '$':
			start := i
			for i+1 < len(filter) && (scan.IsLetter(filter[i+1]) || filter[i+1] >= '0' && filter[i+1] <= '9') {
				i++
			}
			if !fieldName(filter, start) && !keyName(filter[i+1:]) {
				names = append(names, filter[start:i+1])
			}
		}
	}
	return names
}

// fieldName reports whether the name at start follows a dot, and is a field.
func fieldName(filter string, start int) bool {
	return start > 0 && filter[start-1] == '.' && (start < 2 || filter[start-2] != '.')
}

// keyName reports whether the text after a name makes it the key of an object.
func keyName(rest string) bool {
	rest = strings.TrimLeft(rest, " \t\n")
	return strings.HasPrefix(rest, ":") && !strings.HasPrefix(rest, "::")
}

// fileLike reports whether text may be a file name rather than a filter.
func fileLike(text string) bool {
	if strings.ContainsAny(text, " |()[]{}\"=") {
		return false
	}
	return strings.Contains(text, "/") || strings.HasSuffix(text, ".yml") || strings.HasSuffix(text, ".yaml") ||
		strings.HasSuffix(text, ".json")
}
