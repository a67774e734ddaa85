package view

import (
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/umpirehq/umpire"
)

// Folders shorten paths for a reader: a path in the project is relative to Root, and any other path in the person's
// home begins with "~/". Either may be empty. Only texts are shortened, never what an answer or a rule is about.
type Folders struct{ Root, Home string }

// Target names the object of an access. No other path is shown like one in the home: a relative name never begins with
// "~", and a target that is not a path is quoted if it does.
func (f Folders) Target(a *umpire.Access) string {
	switch shown := a.TargetIn(f.Root); {
	case shown != a.Target, !a.Paths():
		return shown
	case strings.HasPrefix(shown, "~"):
		return strconv.Quote(shown)
	default:
		return f.path(shown)
	}
}

// path shortens an absolute path in the person's home.
func (f Folders) path(name string) string {
	home := path.Clean(f.Home)
	if !path.IsAbs(home) || home == "/" {
		return name
	}
	if name == home {
		return "~"
	}
	if below, is := strings.CutPrefix(name, home+"/"); is {
		return "~/" + below
	}
	return name
}

// shorten writes the paths of a text in short. It looks for them only where a word begins.
func (f Folders) shorten(text string) string {
	home := path.Clean(f.Home)
	if !path.IsAbs(home) || home == "/" {
		return text
	}
	var short strings.Builder
	for {
		before, after, found := strings.Cut(text, home+"/")
		short.WriteString(before)
		if !found {
			return short.String()
		}
		last, _ := utf8.DecodeLastRuneInString(short.String())
		if short.Len() == 0 || unicode.IsSpace(last) || strings.ContainsRune(`"'(:：“（`, last) {
			short.WriteString("~/")
		} else {
			short.WriteString(home + "/")
		}
		text = after
	}
}
