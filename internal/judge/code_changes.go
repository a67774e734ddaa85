package judge

import (
	"fmt"
	"strings"
)

// CountCodeChanges describes how many lines of code each text has that the other lacks.
func CountCodeChanges(was, is string) string {
	count := map[string]int{}
	for line := range strings.Lines(was) {
		count[line]--
	}
	for line := range strings.Lines(is) {
		count[line]++
	}
	added, removed := 0, 0
	for _, n := range count {
		added, removed = added+max(n, 0), removed+max(-n, 0)
	}
	if added+removed == 0 {
		return " has changed"
	}
	return fmt.Sprintf(": %d lines added, %d removed", added, removed)
}
