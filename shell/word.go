package shell

import (
	"path"
	"strings"

	"github.com/umpirehq/umpire"
)

// A word is one word of a command after expansion, as far as it is known.
type word struct {
	// text is the word, or its beginning if unknown text follows. If glob is set, text is a
	// pattern; quoted characters in it count as wildcards too, which can only match more.
	text string
	// secret is the variable, possibly holding a secret, whose value the word contains.
	secret string
	// shape is the whole word with someNumber for each unknown part, if all of those are
	// numbers; otherwise nil.
	shape *string
	// open says that unknown text follows.
	open bool
	// split says that it may be any number of words, including options.
	split bool
	// under says that the unknown text is a path that stays below text.
	under bool
	// picked is set if a filter selects paths below text: the pattern of their names, or
	// pickedSome or pickedFiles.
	picked string
	// listed are the slash-separated patterns of names that a search for files lists below
	// text, or "".
	listed string
	// dashless says that the unknown text does not begin with a dash.
	dashless bool
	glob     bool
	// foreign says that the unknown text was printed by a program or read from a file, and so
	// must not be evaluated as arithmetic.
	foreign bool
	// prints is the output of the process substitution that the word stands for.
	prints string
	// quoted says that a part of the word was quoted, which keeps it a word even if it is
	// empty.
	quoted bool
}

// Selections of a filter without names: some of the files, perhaps including the folder itself,
// or nothing that contains files the filter did not select.
const (
	pickedSome  = "/some"
	pickedFiles = "/files"
)

// someNumber stands for a number in a shape.
const someNumber = "\x01"

// numberWord returns a word of unknown numbers, which may be empty.
func numberWord() word { return word{open: true, dashless: true, shape: &aShape} }

var aShape = someNumber

// whole returns the shape of the word, or its text if all of it is known. It fails for text
// that contains the character itself, as $'\x01' does.
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

// unplaced reports whether the path of the word is entirely unknown.
func (wd word) unplaced() bool {
	return wd.open && !wd.under
}

// display returns the word as shown in explanations.
func (wd word) display() string {
	if wd.open {
		return wd.text + "…"
	}
	return wd.text
}

// ruleWord returns the word as command rules match it. A partly unknown word gets a character
// that rules cannot contain, so no allow rule covers it.
func (wd word) ruleWord() string {
	if wd.open {
		return wd.text + "\x00"
	}
	return wd.text
}

// displayWords returns the words as shown in explanations.
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

// baseName returns the last element of a known path, for a program's name.
func baseName(name string) string {
	if name == "" {
		return ""
	}
	return path.Base(name)
}

// Quote quotes a word for a shell: letters, digits and a few marks stay as they are, and
// anything else is put between single quotes.
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
