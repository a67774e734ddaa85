package setup

import (
	"slices"
	"strconv"
	"strings"
)

// claudeBlocks is the first version of Claude Code with onFailure. An older one may drop a settings
// file that contains it.
var claudeBlocks = []int{2, 1, 295}

// ClaudeVersionBlocks reports whether the version that `claude --version` printed, such as "2.1.329
// (Claude Code)", can block a call when its hook fails. An unreadable version is assumed not to.
func ClaudeVersionBlocks(version string) bool {
	words := strings.Fields(version)
	if len(words) == 0 {
		return false
	}
	number, pre, _ := strings.Cut(strings.TrimPrefix(words[0], "v"), "-")
	parts := strings.Split(number, ".")
	numbers := make([]int, len(parts))
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 31)
		if err != nil {
			return false
		}
		numbers[i] = int(n)
	}
	order := slices.Compare(numbers, claudeBlocks)
	// A pre-release comes before its release.
	return len(numbers) == len(claudeBlocks) && (order > 0 || order == 0 && pre == "")
}
