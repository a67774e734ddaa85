package shell

import (
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
)

// checkParallel judges GNU parallel: it joins the words of the command, substitutes items for
// {} or appends them, and passes the result to a shell. The items come after ::: or from the
// standard input. Without a command, the items are the commands.
func checkParallel(u *use) {
	command, items, known := splitParallel(u)
	u.operands = nil
	checkParallelPerl(u, command)
	if !known || len(items) > maxRounds {
		items = []word{{open: true}}
	}
	if len(items) == 0 {
		return
	}
	if u.got("--pipe") != nil {
		u.walkRest("shell", command)
		return
	}
	for _, item := range items {
		walkBuilt(u, command, item)
	}
}

// checkParallelPerl makes {= code =} ask, which is Perl code in any text with placeholders.
func checkParallelPerl(u *use, command []word) {
	for _, g := range u.given {
		command = append(slices.Clip(command), g.value)
	}
	for _, wd := range command {
		if strings.Contains(wd.text, "{=") || strings.Contains(wd.text, "=}") {
			u.raise(umpire.Medium, umpire.Say("runs the Perl code in %s", wd.display()))
		}
	}
}

// splitParallel splits the operands. Several sources combine; only running tells the complete
// result.
func splitParallel(u *use) (command, items []word, known bool) {
	for i, operand := range u.operands {
		if !strings.HasPrefix(operand.text, ":::") {
			continue
		}
		rest := u.operands[i+1:]
		known = operand.text == ":::" && !strings.Contains(strings.Join(displayWords(rest), " "), ":::") &&
			!openItems(rest)
		return u.operands[:i], rest, known
	}
	if u.in.kind == flowText {
		return u.operands, u.readInputLines(), true
	}
	return u.operands, nil, false
}

// walkBuilt walks the command built from one item.
func walkBuilt(u *use, command []word, item word) {
	if len(command) == 0 {
		u.then(func() { u.w.walkCode(u.outsideState(), item, flow{kind: flowForeign}) })
		return
	}
	if !item.open {
		item = lit(Quote(item.text))
	}
	words := fillItem(command, item)
	s := u.outsideState()
	switch code := joinWithBlanks(words); {
	case code.known():
		u.then(func() { u.w.walkCode(s, code, flow{kind: flowForeign}) })
	case hasSpecials(words):
		u.walkRest("shell", words)
		walkSuspects(u, splitAtBlanks(words))
	default:
		u.walkRest("command", splitAtBlanks(words))
	}
}

// fillItem replaces {} and other placeholders with the item, or appends the item if there are
// no placeholders.
func fillItem(command []word, item word) []word {
	out, found := make([]word, 0, len(command)+1), false
	for _, wd := range command {
		open := strings.IndexByte(wd.text, '{')
		switch {
		case strings.Contains(wd.text, "{}") || strings.Contains(wd.text, "{1}"):
			found = true
			text := strings.ReplaceAll(wd.text, "{1}", "{}")
			if item.open || strings.ContainsRune(strings.ReplaceAll(text, "{}", ""), '{') {
				out = append(out, word{text: text[:strings.IndexByte(text, '{')], open: true})
				continue
			}
			out = append(out, word{text: strings.ReplaceAll(text, "{}", item.text), open: wd.open})
		case open >= 0 && strings.IndexByte(wd.text[open:], '}') > 0:
			found = true
			out = append(out, word{text: wd.text[:open], open: true})
		default:
			out = append(out, wd)
		}
	}
	if !found {
		out = append(out, item)
	}
	return out
}

// hasSpecials reports whether the words contain characters that are special to a shell.
func hasSpecials(words []word) bool {
	for _, wd := range words {
		if strings.ContainsAny(wd.text, "|&;<>()$`\"'\\*?[]#~={}!\n") {
			return true
		}
	}
	return false
}

// splitAtBlanks splits words at blanks, like the shell that reads them joined.
func splitAtBlanks(words []word) []word {
	var out []word
	for _, wd := range words {
		fields := strings.Fields(wd.text)
		for i, field := range fields {
			out = append(out, word{text: field, open: wd.open && i == len(fields)-1})
		}
		if len(fields) == 0 && wd.open {
			out = append(out, wd)
		}
	}
	return out
}
