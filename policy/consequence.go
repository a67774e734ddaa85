package policy

import "github.com/umpirehq/umpire"

// consequenceOf says what cannot be undone after an access. For a path or a host it follows
// from the kind of access and the place. For a program or a tool the table states it, and doubt
// can only make it worse, because umpire cannot promise anything about a command it does not
// understand.
func consequenceOf(a *umpire.Access) umpire.Consequence {
	switch a.Kind {
	case umpire.KindRead:
		return umpire.Harmless
	case umpire.KindWrite:
		return consequenceOfWrite(a)
	case umpire.KindDelete:
		if a.Place != umpire.PlaceInside || a.Doubt != "" {
			return umpire.Lost
		}
		return a.Consequence // Reversible if the file only moves elsewhere
	case umpire.KindNetwork:
		return umpire.Outward
	case umpire.KindExec, umpire.KindInvoke:
		return consequenceOfCode(a)
	case umpire.KindUnknown:
		return umpire.Lost
	}
	return umpire.Lost
}

// consequenceOfWrite: undo keeps the previous content of project files, but not of files
// outside.
func consequenceOfWrite(a *umpire.Access) umpire.Consequence {
	switch {
	case a.Place == umpire.PlaceHarmless:
		return umpire.Harmless
	case a.Place == umpire.PlaceInside && a.Doubt == "":
		return umpire.Reversible
	}
	return umpire.Lost
}

func consequenceOfCode(a *umpire.Access) umpire.Consequence {
	if a.Doubt != "" || a.Risk == umpire.Critical {
		return umpire.Lost
	}
	return a.Consequence
}
