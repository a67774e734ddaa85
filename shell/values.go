package shell

import (
	"cmp"
	"strings"

	"github.com/umpirehq/umpire"
)

// judgeText judges a value that is sent or that the table does not classify. Programs name
// files in many ways, so a value that may be a path counts as the read of a file, and asks.
func judgeText(u *use, g given, of accessOf) {
	file, names := namedFile(g.value)
	of.why, of.inside = cmp.Or(of.why, umpire.Say("the value of %s may be a path that it reads or writes", g.name)),
		true
	worth := unstated
	switch does := g.option.does; {
	case does&sends != 0:
		marked := strings.HasPrefix(g.value.text, "@") || strings.HasPrefix(g.value.text, "<")
		names, of.why, worth = marked || g.value.unsettled(), sendsData, sent
	case does&obeys != 0:
		touchRooted(u, g.value)
		return
	case does&plain != 0:
		scheme := strings.ToLower(g.value.text[:min(len("fileb:/"), len(g.value.text))])
		names = strings.HasPrefix(scheme, "file:/") || scheme == "fileb:/" || strings.Contains(g.value.text, "-file=")
	}
	if !names {
		return
	}
	u.spoke = g.name
	u.extras = append(u.extras, g.name)
	u.raiseTo(umpire.Medium, worth, of.why)
	if file.text != "" {
		u.touch(umpire.KindRead, file, of)
	}
}

// judgeStranger judges the value of an option that the table does not list. The word after the
// option may be an operand as well, so it counts only if the program asks anyway.
func judgeStranger(u *use, g given) {
	switch {
	case g.has:
		judgeText(u, g, accessOf{table: u.table + " " + g.name})
	case !u.program.lax || u.risk.AtLeast(umpire.Medium):
		touchRooted(u, g.value)
	}
}

// touchRooted records the read of a file that a word names by its full path.
func touchRooted(u *use, wd word) {
	if file := rootedFile(wd); file.text != "" {
		of := accessOf{why: umpire.Say("the value of %s may be a path that it reads or writes", wd.display()),
			inside: true}
		u.touch(umpire.KindRead, file, of)
	}
}

// unsettled reports whether a part of a value, other than a number, is known only when the line runs.
func (wd word) unsettled() bool { return wd.open && wd.shape == nil }

// namedFile returns the file that a value may name, and reports whether it may name one: PATH,
// @PATH, file:PATH, NAME=PATH or NAME=@PATH. The file is empty if it is entirely unknown.
func namedFile(value word) (file word, names bool) {
	text := value.text
	if len(text) > 1 && text[0] == '-' && (text[1] < '0' || text[1] > '9') && text[1] != ' ' {
		return word{}, true
	}
	if file = rootedFile(value); file.text != "" {
		return file, true
	}
	if before, rest, found := value.after("="); found && !strings.ContainsAny(before, "/@ ") {
		value = rest
	}
	file, marked := withoutMark(value)
	text = file.text
	dotted := strings.HasPrefix(text, ".") && (len(text) == 1 || text[1] < '0' || text[1] > '9')
	return file, marked || dotted || strings.Contains(text, "/") || value.glob || value.unsettled()
}

// withoutMark removes the mark that makes a word the name of a file.
func withoutMark(wd word) (file word, marked bool) {
	for _, mark := range [...]string{"@", "<", "file://", "fileb://", "file:"} {
		if len(wd.text) >= len(mark) && strings.EqualFold(wd.text[:len(mark)], mark) {
			return wd.cut(len(mark)), true
		}
	}
	return wd, false
}

// rootedFile returns the first full path at the beginning of a word, or after an equals sign or
// a comma.
func rootedFile(wd word) word {
	for at := 0; ; at++ {
		if file, _ := withoutMark(wd.cut(at)); strings.HasPrefix(file.text, "/") || strings.HasPrefix(file.text, "~") {
			return file
		}
		next := strings.IndexAny(wd.text[at:], "=,")
		if next < 0 {
			return word{}
		}
		at += next
	}
}
