package history

import (
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
)

// A Saving is the permissions that would have saved some questions together, mostly one permission.
type Saving struct {
	Commands []string `json:"commands"` // that give the permissions
	// Saves counts the questions that the savings listed before it leave.
	Saves int      `json:"questions_saved"`
	Calls []string `json:"calls"` // the commands or paths of some of them
	Kinds int      `json:"distinct_calls"`
	// Worst is the worst of these calls, and Most the worst consequence of any call that it could allow.
	Worst    umpire.Consequence `json:"worst_consequence"`
	Call     string             `json:"worst_call"`
	Headline string             `json:"worst_headline"`
	Most     umpire.Consequence `json:"could_allow"`
	// Could is the worst call that a search finds among those that it could allow, or "", and CouldSay what it does.
	Could    string `json:"could_call"`
	CouldSay string `json:"could_headline"`
}

// A Need is one or more equal questions. Each option is a set of permissions, by their names, which settle them
// together.
type Need struct {
	Times   int
	Options [][]string
}

// SettledBy reports whether the permissions include all those of an option.
func (n *Need) SettledBy(has map[string]bool) bool {
	return slices.ContainsFunc(n.Options, func(option []string) bool { return len(missing(option, has)) == 0 })
}

// maxSubsets bounds the permissions of an option whose subsets are looked at.
const maxSubsets = 8

// PickNext returns the permissions that settle the most questions for each permission added to those that are there.
// It returns nil if no option settles any. It never returns a set that is refused, see [SetName].
//
// Calling it until it returns nil is the greedy way to cover the questions with few permissions.
func PickNext(needs []Need, has, refused map[string]bool) []string {
	byMissing := map[string][]int{} // the needs that lack just this set
	var sets [][]string
	for i := range needs {
		if needs[i].SettledBy(has) {
			continue
		}
		for _, option := range needs[i].Options {
			lacks := missing(option, has)
			name := SetName(lacks)
			if len(lacks) > maxSubsets {
				continue
			}
			if byMissing[name] == nil {
				sets = append(sets, lacks)
			}
			byMissing[name] = append(byMissing[name], i)
		}
	}
	var best []string
	gained := 0
	for _, set := range sets {
		if refused[SetName(set)] {
			continue
		}
		gain := gainOf(set, needs, byMissing)
		switch more := gain*len(best) - gained*len(set); {
		case best == nil, more > 0,
			more == 0 && len(set) < len(best),
			more == 0 && len(set) == len(best) && SetName(set) < SetName(best):
			best, gained = set, gain
		}
	}
	return best
}

// gainOf counts the questions that need a set of permissions or a part of it.
func gainOf(set []string, needs []Need, byMissing map[string][]int) int {
	gain, counted := 0, map[int]bool{}
	for bits := 1; bits < 1<<len(set); bits++ {
		var part []string
		for i, name := range set {
			if bits&(1<<i) != 0 {
				part = append(part, name)
			}
		}
		for _, i := range byMissing[SetName(part)] {
			if !counted[i] {
				counted[i] = true
				gain += needs[i].Times
			}
		}
	}
	return gain
}

// missing returns the permissions of an option that are not there, in order.
func missing(option []string, has map[string]bool) []string {
	var lacks []string
	for _, name := range option {
		if !has[name] {
			lacks = append(lacks, name)
		}
	}
	slices.Sort(lacks)
	return slices.Compact(lacks)
}

// SetName returns the same name for the same permissions in any order.
func SetName(set []string) string { return strings.Join(slices.Sorted(slices.Values(set)), "\x00") }
