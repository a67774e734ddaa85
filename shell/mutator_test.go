//go:build linux

package shell_test

import (
	"math/rand/v2"
	"strings"
)

// A mutator generates lines on which parsers disagree.
type mutator struct {
	*rand.Rand
	seeds []string
	plain []string // seeds that are allowed as they are
}

// pieces have a special meaning to shells.
var pieces = []string{
	"\\\n", "\\\n", "\\\n", "\\", "\\\\", "\n", "#", " #", " # \\\n", "'", "\"", "$", "`", "$(", ")", "${", "}", "<(",
	">(", "=(", ";", "|", "&", "&&", "||", "|&", "&>", " ", "\t",
	"((", "))", "[[ ", " ]]", "[", "]", "<<E\n", "\nE\n", "<<'E'\n", "<<-E\n\t", "<<<", "$'", "$\"", "$[", "$((", "{",
	"{ ", "; }", ",", "..", "=", "+=", "!", "! ", "~", "*", "?", "@", "@P}",
	":-", ":=", ":+", ":?", "-", "/", "//", "%", "^^", "(e)", "*(", "+(", "!(", "(.)", ";;", ";&", ";;&", "&|", "&!",
	"<>", ">|", ">&", "2>&1", "{fd}>", " in ", " do ", " done", " then ", " fi", " esac",
	"time ", "coproc ", "function ", "f() ", "for x; do ", "case x in ", "if ", "select x in ", "eval ", "exec ",
	"set -- ", "shift; ", "local ", "declare -a ", "typeset ", "x=", "a[", "$1", "$@", "$x", "${x}", "${!x}",
}

// payloads are ways to write the payload, some of them as text.
var payloads = []string{
	"./x.sh", "$(./x.sh)", "`./x.sh`", "<(./x.sh)", ">(./x.sh)", "=(./x.sh)", "'$(./x.sh)'", "'`./x.sh`'",
	"\"$(./x.sh)\"", "\\$(./x.sh)", "'a[$(./x.sh)]'", "a[$(./x.sh)]", "\\`./x.sh\\`",
	"${x:-<(./x.sh)}", "${x:-$(./x.sh)}", "'($(./x.sh))'", "$'$(./x.sh)'", "'./x.sh'", "; ./x.sh", "\n./x.sh\n",
	"#\n./x.sh", "# $(./x.sh)", "${x:-'$(./x.sh)'}", "*(e:./x.sh:)",
}

// frames contain a line; LINE stands for it.
var frames = []string{
	"echo \"LINE\"", "echo $(LINE)", "echo `LINE`", "cat <<E\nLINE\nE", "cat <<'E'\nLINE\nE", "eval 'LINE'",
	"eval \"LINE\"", "f() { LINE; }; f", "f() { LINE\n}; f 1", "if true; then LINE; fi", "(LINE)", "{ LINE; }",
	"echo ${x:-LINE}", "echo \"${x:-LINE}\"", "echo ${PWD/a/LINE}", "[[ a == LINE ]]", "x=LINE; echo $x",
	"x='LINE'; echo $((x))", "for i in LINE; do echo $i; done", "case a in LINE) ;; esac", "bash -c 'LINE'",
	"sh -c \"LINE\"",
	"# LINE", "LINE # c", "LINE # \\\nls", "ls # \\\nLINE", "echo $((LINE))", "((LINE))", "a=(LINE); echo ${a[0]}",
	"a[LINE]=1", "echo ${a[LINE]}", "LINE | cat", "! LINE", "true && LINE", "false || LINE", "LINE &",
	"echo a; LINE; echo b",
	"while false; do LINE; done", "set -- LINE; echo $(($1))", "set -- 'LINE'; echo $1", "declare -a 'a=(LINE)'",
	"echo {LINE,b}", "cat <<< LINE", "echo $'LINE'", "echo $\"LINE\"", "LINE >/dev/null", "ls 2>&1 LINE", "x=1 LINE",
}

// line generates one line.
func (m *mutator) line() string {
	line := ""
	if m.IntN(2) == 0 {
		if line = m.grow(); line != "" && m.IntN(3) > 0 {
			return line
		}
	}
	if line == "" {
		line = m.pick(m.plain)
	}
	if m.IntN(3) == 0 {
		line = m.pick(m.seeds)
	}
	for range 1 + m.IntN(4) {
		line = m.change(line)
	}
	if !strings.Contains(line, "x.sh") {
		line = m.insert(line, m.payload())
	}
	return line
}

func (m *mutator) pick(from []string) string { return from[m.IntN(len(from))] }

func (m *mutator) change(line string) string {
	switch m.IntN(14) {
	case 0, 1, 2, 3:
		return m.insert(line, m.pick(pieces))
	case 4:
		from, to := m.span(line, 4)
		return line[:from] + line[to:]
	case 5:
		from, to := m.span(line, 12)
		return m.insert(line, line[from:to])
	case 6:
		from, to := m.span(line, 3)
		return line[:from] + m.pick(pieces) + line[to:]
	case 7:
		return m.insert(line, m.payload())
	case 12:
		end := m.pick([]string{" # a", " #", "#", ";#"}) + m.pick([]string{"\\", " \\", "\\\\", ""})
		return line + end + "\n" + m.payload()
	case 8:
		return m.replaceWord(line)
	case 9, 10:
		return strings.ReplaceAll(m.pick(frames), "LINE", line)
	}
	return line + m.pick([]string{"; ", "\n", " && ", " | ", " ", "", "\\\n"}) + m.pick(m.plain)
}

// payload returns one of the payloads, sometimes with its line joined.
func (m *mutator) payload() string {
	text := m.pick(payloads)
	if m.IntN(4) == 0 {
		return m.insert(text, "\\\n")
	}
	return text
}

// insert inserts text at a random position of a line.
func (m *mutator) insert(line, text string) string {
	at := m.IntN(len(line) + 1)
	return line[:at] + text + line[at:]
}

// span returns a short part of a line.
func (m *mutator) span(line string, most int) (from, to int) {
	from = m.IntN(len(line) + 1)
	return from, min(len(line), from+1+m.IntN(most))
}

// replaceWord replaces a word with a payload.
func (m *mutator) replaceWord(line string) string {
	words := strings.Split(line, " ")
	words[m.IntN(len(words))] = m.payload()
	return strings.Join(words, " ")
}
