package shell

import (
	"path"
	"strings"

	"github.com/umpirehq/umpire"
)

// A word is what is known of one word of a command after expansion.
type word struct {
	// text is the word, or its beginning when more follows that is not known.
	// When glob is set, text is a pattern; what was quoted in it counts as a
	// wildcard too, which can only match more.
	text string
	// secret is the variable, one that may hold a secret, whose value is in it.
	secret string
	// shape is the whole word with someNumber for all that is not known of it, when
	// that is nothing but numbers; else nil.
	shape *string
	// open says that more text follows that is not known.
	open bool
	// split says that it may be any number of words, options among them.
	split bool
	// under says that what follows is a path that does not leave text.
	under bool
	// picked is set when a filter picks the paths below text: the pattern that their
	// names fit, or pickedSome or pickedFiles.
	picked string
	// listed are the patterns of names, with a slash between, that a search for files lists
	// below text, or "".
	listed string
	// dashless says that the text that is not known does not begin with a dash.
	dashless bool
	glob     bool
	// foreign says that the text that is not known was printed by a program or
	// read from a file, so that arithmetic must not be done with it.
	foreign bool
	// prints is what a process substitution prints that the word stands for.
	prints string
	// quoted says that a part of the word was quoted, so that it stays a word
	// even when it is empty.
	quoted bool
}

// The picks of a filter that are not names: some of the files, perhaps the folder
// itself, or nothing that holds files which the filter did not pick.
const (
	pickedSome  = "/some"
	pickedFiles = "/files"
)

// someNumber stands for a number in a shape.
const someNumber = "\x01"

// numberWord is a word that is a number, or several, or empty.
func numberWord() word { return word{open: true, dashless: true, shape: &aShape} }

var aShape = someNumber

// whole is the shape of the word, or its text when all of it is known. Text that holds
// the character itself, as $'\x01' does, has none.
func (wd *word) whole() (text string, ok bool) {
	switch {
	case wd.known():
		return wd.text, !strings.Contains(wd.text, someNumber)
	case wd.shape != nil:
		return *wd.shape, true
	}
	return "", false
}

func lit(text string) word { return word{text: text} }

// known reports whether the whole text is known.
func (wd word) known() bool { return !wd.open && !wd.glob }

// maybeOption reports whether the word is, or could turn out to be, an option.
func (wd word) maybeOption() bool {
	if wd.text == "" {
		return wd.open && !wd.under && !wd.dashless
	}
	return wd.text[0] == '-' && len(wd.text) > 1 || wd.text == "-" && wd.open
}

// unplaced reports whether nothing is known of where the word leads as a path.
func (wd word) unplaced() bool {
	return wd.open && !wd.under
}

// display is the word as explanations show it.
func (wd word) display() string {
	if wd.open {
		return wd.text + "…"
	}
	return wd.text
}

// ruleWord is the word as command rules match it. A word that is not wholly
// known gets a character that no rule can hold, so that no allow rule covers it.
func (wd word) ruleWord() string {
	if wd.open {
		return wd.text + "\x00"
	}
	return wd.text
}

// displayWords returns the words as explanations show them.
func displayWords(words []word) []string {
	out := make([]string, len(words))
	for i, wd := range words {
		out[i] = wd.display()
	}
	return out
}

// ruleWords returns the words as command rules match them.
func ruleWords(words []word) []string {
	out := make([]string, len(words))
	for i, wd := range words {
		out[i] = wd.ruleWord()
	}
	return out
}

// lineWords returns the words as rules for a whole command match them.
func lineWords(words []word) []string {
	out := ruleWords(words)
	for i, wd := range words {
		if wd.glob {
			out[i] = umpire.PatternMark + out[i]
		}
	}
	return out
}

// cut returns the word without its first n bytes, which must be known.
func (wd word) cut(n int) word {
	wd.text = wd.text[n:]
	if wd.shape != nil {
		rest := (*wd.shape)[n:]
		wd.shape = &rest
	}
	if wd.text == "" && wd.open {
		wd.dashless = false
	}
	return wd
}

// after splits the word at the first sep, which must lie in its known text.
func (wd word) after(sep string) (before string, rest word, found bool) {
	i := strings.Index(wd.text, sep)
	if i < 0 {
		return wd.text, word{}, false
	}
	return wd.text[:i], wd.cut(i + len(sep)), true
}

// baseName returns the last element of a known path, as a program's name.
func baseName(name string) string {
	if name == "" {
		return ""
	}
	return path.Base(name)
}

// Quote returns a word as a shell reads it: letters, digits and a few marks as they are,
// anything else between single quotes.
func Quote(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("_-./:,@%+", r)
	}
	if word != "" && strings.TrimLeftFunc(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
