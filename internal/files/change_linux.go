package files

import (
	"syscall"
	"time"
)

// changeTime is when anything about a file last changed; nobody can set it back.
func changeTime(s *syscall.Stat_t) time.Time { return time.Unix(s.Ctim.Unix()) }
