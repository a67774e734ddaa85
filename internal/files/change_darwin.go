package files

import (
	"syscall"
	"time"
)

// changeTime returns the time of a file's last change of any kind, which no program can set back.
func changeTime(s *syscall.Stat_t) time.Time { return time.Unix(s.Ctimespec.Unix()) }
