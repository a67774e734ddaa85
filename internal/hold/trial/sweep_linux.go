package trial

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire/internal/files"
)

// sweepAge is the age at which a layer may be swept. The caller of a trial needs a moment
// to hold it.
const sweepAge = time.Hour

// sweepLayers deletes layers of processes that died during a trial, in a folder and on
// tmpfs. It spares layers that are young, in use by a running command or held.
func sweepLayers(dir string, held func(id string) bool, now time.Time) error {
	return errors.Join(sweepFolder(dir, held, now), sweepFolder(memoryOwn(), held, now))
}

func sweepFolder(dir string, held func(id string) bool, now time.Time) error {
	entries, err := os.ReadDir(dir)
	err = errors.Join(files.IgnoreMissing(err), sweepCaches(dir, heldAge, now))
	for _, e := range entries {
		layer := Layer{Dir: filepath.Join(dir, e.Name())}
		if !e.IsDir() || !strings.HasPrefix(e.Name(), layerPrefix) || held(e.Name()) || layer.runs() {
			continue
		}
		// Check this last: a layer's time is renewed before its command is reported as ended.
		info, statErr := os.Lstat(layer.Dir)
		if statErr == nil && now.Sub(info.ModTime()) >= sweepAge {
			err = errors.Join(err, layer.Discard())
		}
	}
	return err
}

// runs reports whether the process that made a layer still runs its command.
func (l *Layer) runs() bool {
	f, err := os.OpenFile(filepath.Join(l.Dir, stampFile), os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return false // it never started
	}
	defer f.Close()
	return unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) != nil
}
