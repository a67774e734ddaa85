package policy

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/secret/sensitive"
)

// An editor is a program that only changes the files that it names, as long as its options are
// among these.
type editor struct {
	letters, options string
	// patterns says that patterns may name its files, because it writes through no link.
	patterns bool
	// suffix says that -i takes a suffix for backups: the facts doubt any but a plain one.
	suffix bool
	// puts says that it may create a folder or a link.
	puts bool
}

// editors list only options that do not create other files, such as backups with a suffix, and
// do not follow or create links.
var editors = map[string]editor{
	"mkdir": {letters: "pv", options: "--parents --verbose"},
	"touch": {letters: "acm"},
	"sed -i": {
		letters: "nErsz", options: "-e --expression --in-place --regexp-extended --quiet --silent", patterns: true,
		suffix: true,
	},
	"tee":       {letters: "a", options: "--append"},
	"gofmt":     {options: "-w -s -l -d"},
	"goimports": {options: "-w -l -d -local"},
	"gofumpt":   {options: "-w -l -d -extra"},
	"cp":        {letters: "fvpn", options: "--force --verbose --preserve --no-clobber", puts: true},
	"mv":        {letters: "fvn", options: "--force --verbose --no-clobber", puts: true},
	"git mv":    {letters: "fvn", options: "--force --verbose", puts: true},
}

// editorOf returns the editor for a program, as it was called.
func editorOf(a *umpire.Access) (e editor, known bool) {
	name, words := a.Program, a.Words
	if name == "git" || name == "sed" {
		name = strings.Replace(a.Table, "--in-place", "-i", 1)
	}
	e, known = editors[name]
	if !known || len(words) == 0 {
		return e, false
	}
	edited := false
	for _, word := range words[1:] {
		if e.suffix && (strings.HasPrefix(word, "-i") || strings.HasPrefix(word, "--in-place")) {
			known, edited = known && !edited, true // the facts check one suffix
		}
		switch {
		case strings.HasPrefix(word, "-") && word != "-":
			known = known && e.knowsOption(word)
		case !e.patterns && strings.ContainsAny(word, "*?[\x00"):
			known = false // it may stand for a link
		}
	}
	return e, known
}

// knowsOption reports whether a word consists of options that do not change an editor's effects.
func (e *editor) knowsOption(word string) bool {
	name, _, _ := strings.Cut(word, "=")
	return word == "--" || slices.Contains(strings.Fields(e.options), name) ||
		e.suffix && strings.HasPrefix(word, "-i") || strings.Trim(word[1:], e.letters) == ""
}

// maxEditing is the maximum number of accesses of a call to compare with each other.
const maxEditing = 500

// isEditing reports whether the access is a part of editing files in the project or a temporary
// folder: a write by an editing tool, by a single editor program, or by a redirection. It must
// not empty a file, and must not go through a path that the same line may have replaced with a
// link.
func isEditing(j *judge) bool {
	a := j.access()
	switch {
	case toolOf(j.tool).shape == shapeWrite:
		return a.Kind == umpire.KindWrite
	case !startsCommands(j.tool) || len(j.accesses) > maxEditing:
		return false
	case a.Redirect:
		return isEdit(j, a) && printsInto(j, a) && !reachesNewLink(j, a)
	case a.Kind == umpire.KindExec || a.Kind == umpire.KindWrite || a.Kind == umpire.KindDelete:
		return partEdits(j, a.Part)
	}
	return false
}

// isEdit reports whether an access writes a path by its name, or moves it within the project.
func isEdit(j *judge, a *umpire.Access) bool {
	switch a.Kind { //nolint:exhaustive // other kinds do not change paths
	case umpire.KindWrite:
		return a.Doubt == "" && (!a.Tree || len(a.Kinds) > 0 && leadsNowhere(j, a)) &&
			(a.Place == umpire.PlaceInside || a.Place == umpire.PlaceHarmless || isScratch(j, a))
	case umpire.KindDelete:
		return a.Doubt == "" && a.Place == umpire.PlaceInside && a.Consequence == umpire.Reversible &&
			!j.policy.NamesSecret(a.Resolved) // its new name would not reveal the secret
	}
	return false
}

// leadsNowhere reports whether none of the files that a formatter changes below a folder is a
// link out of the project. It returns false if Query.Search cannot tell.
func leadsNowhere(j *judge, a *umpire.Access) bool {
	files := *a
	files.Kind, files.Follows, files.Handed = umpire.KindRead, true, nil
	for _, kind := range a.Kinds {
		files.Handed = append(files.Handed, "*"+kind)
	}
	return j.given.Search != nil && j.given.Search(&files).IsNothing()
}

// partEdits reports whether a single editor program causes all accesses of a part.
func partEdits(j *judge, part int) bool {
	var program *umpire.Access
	writes, moves, leaves := 0, false, false
	for i := range j.accesses {
		a := &j.accesses[i]
		if a.Part != part || a.Redirect {
			continue
		}
		switch a.Kind {
		case umpire.KindExec:
			if program != nil {
				return false
			}
			program = a
		case umpire.KindRead:
			if a.Place == umpire.PlaceHarmless {
				return false // it would empty the file
			}
		case umpire.KindWrite, umpire.KindDelete:
			if !isEdit(j, a) || reachesNewLink(j, a) {
				return false
			}
			writes++
			moves, leaves = moves || a.Kind == umpire.KindDelete, leaves || a.Place != umpire.PlaceInside
		case umpire.KindNetwork, umpire.KindInvoke, umpire.KindUnknown:
			return false
		}
	}
	if program == nil || program.Code || program.Consequence.AtLeast(umpire.Outward) || writes == 0 || moves && leaves {
		return false
	}
	editor, known := editorOf(program)
	return known && !(editor.puts && (usedElsewhere(j, part) || putsGuarded(j, part)))
}

// putsGuarded reports whether a part could create guarded files: its target may be a folder, or
// a link to one.
func putsGuarded(j *judge, part int) bool {
	return slices.ContainsFunc(j.accesses, func(a umpire.Access) bool {
		return a.Part == part && a.Kind == umpire.KindWrite && mayHoldGuarded(a.Resolved)
	})
}

// mayHoldGuarded reports whether a path would contain guarded files if it were a folder, such
// as .vscode. It ignores case.
func mayHoldGuarded(name string) bool {
	parts := strings.Split(strings.ToLower(name), "/")
	return slices.ContainsFunc(guardedParents(), func(parent []string) bool {
		n := len(parts) - len(parent)
		if n >= 0 && parent[len(parent)-1] == "**" { // any number of folders
			for at := range n + 1 {
				if slices.EqualFunc(parent[:len(parent)-1], parts[at:at+len(parent)-1], matchesName) {
					return true
				}
			}
		}
		return n >= 0 && slices.EqualFunc(parent, parts[n:], matchesName)
	})
}

// guardedParents are the folders in the patterns of guarded places, in lower case and split at
// the slashes. Absolute patterns are left out, because those places lie outside.
var guardedParents = sync.OnceValue(func() (parents [][]string) {
	for place := range sensitive.Places() {
		pattern := strings.Split(strings.TrimPrefix(strings.ToLower(place.Path), "~/"), "/")
		for n := 1; n < len(pattern) && pattern[0] != ""; n++ {
			parents = append(parents, pattern[:n])
			if pattern[n-1] == "**" {
				break
			}
		}
	}
	return parents
})

// matchesName matches one component of a path with one of a pattern.
func matchesName(pattern, name string) bool {
	matched, err := path.Match(pattern, name)
	return matched || err != nil
}

// printsInto reports whether the program of a part has something to print into a file. Without
// a program, or with one that prints nothing, a redirection only empties the file. So it does
// if the program reads the same file, because the shell empties it first.
func printsInto(j *judge, file *umpire.Access) bool {
	prints := false
	for i := range j.accesses {
		a := &j.accesses[i]
		switch {
		case a.Part != file.Part:
		case a.Kind == umpire.KindRead && (a.Place == umpire.PlaceHarmless || a.Resolved == file.Resolved):
			return false
		case a.Kind == umpire.KindExec && len(a.Words) > 0:
			prints = a.Prints
		}
	}
	return prints
}

// reachesNewLink reports whether a path lies at or below one that another part of the line
// writes with a program that may create a link. The path may then lead elsewhere than it did
// when resolved.
func reachesNewLink(j *judge, a *umpire.Access) bool {
	return slices.ContainsFunc(j.accesses, func(made umpire.Access) bool {
		return made.Part != a.Part && made.Kind == umpire.KindWrite && !made.Redirect &&
			isBelow(a.Resolved, made.Resolved) && mayLink(j, made.Part)
	})
}

// usedElsewhere reports whether another part of the line uses a path that the part writes.
func usedElsewhere(j *judge, part int) bool {
	return slices.ContainsFunc(j.accesses, func(made umpire.Access) bool {
		return made.Part == part && made.Kind == umpire.KindWrite &&
			slices.ContainsFunc(j.accesses, func(a umpire.Access) bool {
				return a.Part != part && a.Paths() && isBelow(a.Resolved, made.Resolved)
			})
	})
}

// mayLink reports whether the programs of a part may create links.
func mayLink(j *judge, part int) bool {
	return slices.ContainsFunc(j.accesses, func(a umpire.Access) bool {
		editor, known := editorOf(&a)
		return a.Part == part && a.Kind == umpire.KindExec && (editor.puts || !known)
	})
}

// isBelow reports whether a resolved path is the folder or lies below it.
func isBelow(name, folder string) bool { return name == folder || strings.HasPrefix(name, folder+"/") }
