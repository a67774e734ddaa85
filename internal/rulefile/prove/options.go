package prove

import (
	"slices"
	"strings"

	"github.com/umpirehq/umpire/shell"
)

// maxUses bounds the uses of one program that are tried.
const maxUses = 4_000

// uses returns the commands that begin with words and have one more option or subcommand of the tables, each with value
// in place of an option's value and of an operand. By the tables, options only add effects, and those that show a
// help or a version stand alone, so more options make no command milder.
func (w *World) uses(words []string, value string) (lines [][]string) {
	p, known := shell.Describe(baseName(words[0]), w.Programs)
	if !known {
		return [][]string{append(slices.Clone(words), value)}
	}
	for _, word := range words[1:] {
		at := slices.IndexFunc(p.Subs, func(sub shell.Program) bool { return slices.Contains(sub.Names, word) })
		if at < 0 {
			break
		}
		p = p.Subs[at]
	}
	return addUses(nil, words, &p, value)
}

func addUses(lines [][]string, words []string, p *shell.Program, value string) [][]string {
	use := func(more ...string) {
		if len(lines) < maxUses {
			lines = append(lines, slices.Concat(words, more))
		}
	}
	use(value)
	for _, option := range p.Options {
		for _, name := range option.Names {
			for _, spelled := range spellings(name, p.Style) {
				bare, takes := strings.CutSuffix(spelled, "=")
				bare = strings.TrimSuffix(bare, "?")
				if use(bare, value); takes {
					use(bare+"="+value, value)
				} else {
					use(bare)
				}
			}
		}
	}
	for i := range p.Subs {
		lines = addUses(lines, append(slices.Clone(words), p.Subs[i].Names[0]), &p.Subs[i], value)
	}
	return lines
}

// spellings returns the options that a name in a table stands for: a cluster of letters is several.
func spellings(name, style string) (all []string) {
	letters := strings.TrimLeft(strings.TrimRight(name, "=?"), "-")
	if (style != "" && style != "short") || strings.HasPrefix(name, "--") || !strings.HasPrefix(name, "-") ||
		len(letters) < 2 {
		return []string{name}
	}
	end := name[1+len(letters):]
	for _, letter := range letters {
		all = append(all, "-"+string(letter)+end)
	}
	return all
}
