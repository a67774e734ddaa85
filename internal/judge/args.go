package judge

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/umpirehq/umpire"
)

// maxArgs is the maximum total size of the command words in a card or an event, in bytes.
const maxArgs = 64 << 10

// ClipArgs drops the last words of long commands and records how many it dropped. It keeps the
// words of the riskiest commands first.
func ClipArgs(accesses []umpire.Access) []umpire.Access {
	kept, size := slices.Clone(accesses), 0
	order := make([]int, len(kept))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(kept[a].Risk, kept[b].Risk) })
	for _, i := range order {
		args := kept[i].Args
		for n, arg := range args {
			if size += len(arg) + len(`"",`); size > maxArgs {
				kept[i].Args = append(slices.Clone(args[:n]), fmt.Sprintf("[... %d words left out ...]", len(args)-n))
				break
			}
		}
	}
	return kept
}
