//go:build crash && unix

package gate

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// crashes counts how often each place was reached.
var crashes struct {
	mu   sync.Mutex
	seen map[string]int
}

// crashAt ends the process by SIGKILL at the place that UMPIRE_CRASH names, the
// N-th time with "PLACE:N".
func crashAt(place string) {
	name, nth, _ := strings.Cut(os.Getenv("UMPIRE_CRASH"), ":")
	if name != place {
		return
	}
	crashes.mu.Lock()
	defer crashes.mu.Unlock()
	if crashes.seen == nil {
		crashes.seen = map[string]int{}
	}
	crashes.seen[place]++
	if n, err := strconv.Atoi(nth); err == nil && crashes.seen[place] != n {
		return
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // the signal comes
}
