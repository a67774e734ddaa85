package policy

import (
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
)

// editors are programs that do no more than change the files that they name, with whether they
// may put a link there.
var editors = map[string]struct{ links bool }{
	"mkdir": {}, "touch": {}, "sed -i": {}, "tee": {}, "gofmt": {}, "goimports": {}, "gofumpt": {},
	"cp": {true}, "mv": {true}, "git mv": {true},
}

// editorOf is the name by which a program stands among the editors.
func editorOf(a *umpire.Access) string {
	if a.Program == "git" || a.Program == "sed" {
		return a.Table
	}
	return a.Program
}

// maxEditing bounds the accesses of a call that are compared with each other.
const maxEditing = 500

// isEditing reports whether the access is a part of editing files of the project or a temporary
// folder: of what a tool for that writes, or of one program among the editors, or a
// redirection. A file is not emptied by it, and nothing is reached through what the same line
// may have made a link.
func isEditing(j *judge) bool {
	a := j.access()
	switch {
	case toolOf(j.tool).shape == shapeWrite:
		return a.Kind == umpire.KindWrite
	case !startsCommands(j.tool) || len(j.accesses) > maxEditing:
		return false
	case a.Redirect:
		return isEdit(j, a) && printsInto(j, a.Part) && !reachesNewLink(j, a)
	case a.Kind == umpire.KindExec || a.Kind == umpire.KindWrite || a.Kind == umpire.KindDelete:
		return partEdits(j, a.Part)
	}
	return false
}

// isEdit reports a path that is written by its name, or goes elsewhere in the project.
func isEdit(j *judge, a *umpire.Access) bool {
	switch a.Kind { //nolint:exhaustive // the others change no path
	case umpire.KindWrite:
		return a.Doubt == "" && (!a.Tree || len(a.Kinds) > 0) &&
			(a.Place == umpire.PlaceInside || a.Place == umpire.PlaceHarmless || isScratch(j, a))
	case umpire.KindDelete:
		return a.Doubt == "" && a.Place == umpire.PlaceInside && a.Consequence == umpire.Reversible &&
			!j.policy.NamesSecret(a.Resolved) // by its new name nobody would know it
	}
	return false
}

// partEdits reports whether one program of the editors does all that a part does.
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
				return false // it would be emptied
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
	editor, known := editors[editorOf(program)]
	return known && !(editor.links && usedElsewhere(j, part))
}

// printsInto reports whether the one program of a part has something to print. Without one, or
// with one that prints nothing, a redirection only empties its file.
func printsInto(j *judge, part int) bool {
	prints := false
	for i := range j.accesses {
		a := &j.accesses[i]
		switch {
		case a.Part != part:
		case a.Kind == umpire.KindRead && a.Place == umpire.PlaceHarmless:
			return false
		case a.Kind == umpire.KindExec && len(a.Words) > 0:
			prints = printsText(a)
		}
	}
	return prints
}

// printsText reports whether a program prints anything as far as its words tell.
func printsText(a *umpire.Access) bool {
	switch a.Program {
	case ":", "true", "false":
		return false
	case "echo", "printf":
		return slices.ContainsFunc(a.Words[1:], func(w string) bool { return w != "" && !strings.HasPrefix(w, "-") })
	}
	return true
}

// reachesNewLink reports a path at or below one that another part of the line writes with a
// program that may put a link there, so that it leads elsewhere than it did when it was looked
// at.
func reachesNewLink(j *judge, a *umpire.Access) bool {
	return slices.ContainsFunc(j.accesses, func(made umpire.Access) bool {
		return made.Part != a.Part && made.Kind == umpire.KindWrite && !made.Redirect &&
			isBelow(a.Resolved, made.Resolved) && mayLink(j, made.Part)
	})
}

// usedElsewhere reports whether another part of the line uses what a part writes.
func usedElsewhere(j *judge, part int) bool {
	for i := range j.accesses {
		made := &j.accesses[i]
		if made.Part != part || made.Kind != umpire.KindWrite {
			continue
		}
		if slices.ContainsFunc(j.accesses, func(a umpire.Access) bool {
			return a.Part != part && a.Paths() && isBelow(a.Resolved, made.Resolved)
		}) {
			return true
		}
	}
	return false
}

// mayLink reports whether the programs of a part may put links in place.
func mayLink(j *judge, part int) bool {
	return slices.ContainsFunc(j.accesses, func(a umpire.Access) bool {
		editor, known := editors[editorOf(&a)]
		return a.Part == part && a.Kind == umpire.KindExec && (editor.links || !known)
	})
}

// isBelow reports whether a resolved path is a folder's or lies below it.
func isBelow(name, folder string) bool { return name == folder || strings.HasPrefix(name, folder+"/") }
