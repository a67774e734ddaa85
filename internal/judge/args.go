package judge

import (
	"fmt"
	"slices"

	"github.com/umpirehq/umpire"
)

// maxArgs bounds the words of commands that a card or an event has, in bytes.
const maxArgs = 64 << 10

// ClipArgs leaves out the last words of a long command, and says how many.
func ClipArgs(accesses []umpire.Access) []umpire.Access {
	kept, size := slices.Clone(accesses), 0
	for i := range kept {
		args := kept[i].Args
		for n, arg := range args {
			if size += len(arg); size > maxArgs {
				kept[i].Args = append(slices.Clone(args[:n]), fmt.Sprintf("[... %d words left out ...]", len(args)-n))
				break
			}
		}
	}
	return kept
}
