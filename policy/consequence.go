package policy

import "github.com/umpirehq/umpire"

// consequenceOf says what cannot be taken back once an access has happened. Of a
// path or a host that follows from what is done to it and where it lies. A program or
// a tool it is what its table states, and here it only becomes worse: nothing can be
// promised of a command that is not understood.
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
		return a.Consequence // Reversible where the file only goes elsewhere
	case umpire.KindNetwork:
		return umpire.Outward
	case umpire.KindExec, umpire.KindInvoke:
		return consequenceOfCode(a)
	case umpire.KindUnknown:
		return umpire.Lost
	}
	return umpire.Lost
}

// consequenceOfWrite: what a file of the project held before is kept for undo; outside
// nobody keeps it.
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
