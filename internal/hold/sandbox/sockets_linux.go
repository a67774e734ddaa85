package sandbox

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/files/lazyregexp"
)

// maxSockets limits how many sockets are hidden one by one.
const maxSockets = 512

// The kernel writes its list piece by piece. If listed sockets close meanwhile, it skips others that stay
// open. A look is therefore complete when the next one still has all its sockets. If sockets close all the
// time, the results of maxSocketLooks looks are combined. Looks also continue, up to ownerLooks, until every
// owner is found: a socket of a program that just ended is still listed without an owner.
const (
	maxSocketLooks = 8
	ownerLooks     = 4
)

// socketLine matches a line of /proc/net/unix (proc(5)): the socket's number, and its
// bound name, if any. Names that start with @ are not files.
var socketLine = lazyregexp.Regexp{Text: `^\S+: \S+ \S+ \S+ \S+ \S+ +(\d+)(?: (.*))?$`}

// A socketLook is the list of sockets at one moment.
type socketLook struct {
	paths   []string        // of listening sockets
	all     bool            // every listening socket has a path
	numbers map[string]bool // of all sockets; nil if the list cannot be read
}

// sockets returns the paths of the listening sockets: a read-only mount does not prevent
// connections to a socket on it. all is false if some have no known path.
func sockets() (paths []string, all bool) { return lookForSockets(listenedAt) }

// lookForSockets looks until a look is complete, and combines the results.
func lookForSockets(look func() socketLook) (paths []string, all bool) {
	var before socketLook
	for n := 1; ; n++ {
		now := look()
		paths = append(paths, now.paths...)
		complete := before.numbers != nil && isWithin(before.numbers, now.numbers)
		if (complete || n == maxSocketLooks) && (now.all || n >= ownerLooks) {
			slices.Sort(paths)
			paths = slices.Compact(paths)
			return paths, now.all && len(paths) <= maxSockets
		}
		before = now
	}
}

func isWithin(some, all map[string]bool) bool {
	for number := range some {
		if !all[number] {
			return false
		}
	}
	return true
}

// listenedAt looks for sockets once.
func listenedAt() socketLook {
	f, err := os.Open("/proc/thread-self/net/unix") // the first thread of the process may be in another namespace
	if err != nil {
		return socketLook{}
	}
	defer f.Close()
	bound := sync.OnceValue(func() map[string]boundFile {
		known, _ := boundFiles() // without the kernel's answer, the name must do
		return known
	})
	return socketsIn(f, sync.OnceValue(socketOwners), bound)
}

func socketsIn(
	list io.Reader, owners func() map[string][]string, bound func() map[string]boundFile,
) socketLook {
	look := socketLook{all: true, numbers: map[string]bool{}}
	lines := bufio.NewScanner(list)
	for lines.Scan() {
		m := socketLine.Get().FindStringSubmatch(lines.Text())
		if m == nil || m[1] == "0" {
			continue // a connection that is not accepted yet
		}
		number, name := m[1], m[2]
		look.numbers[number] = true
		if name == "" || name[0] == '@' {
			continue
		}
		found := []string{name}
		if !filepath.IsAbs(name) || files.Within("/proc", name) {
			found = boundBy(owners()[number], name, bound()[number])
		}
		look.all = look.all && found != nil
		look.paths = append(look.paths, found...)
	}
	look.all = look.all && lines.Err() == nil
	return look
}

// socketOwners returns the inspectable processes that hold each socket.
func socketOwners() map[string][]string {
	owners := map[string][]string{}
	files, _ := filepath.Glob("/proc/[0-9]*/fd/*") // the pattern is valid
	for _, file := range files {
		to, _ := os.Readlink(file) // a file closed meanwhile has no owner
		if number, is := strings.CutPrefix(to, "socket:["); is {
			number = strings.TrimSuffix(number, "]")
			owners[number] = append(owners[number], filepath.Dir(filepath.Dir(file)))
		}
	}
	return owners
}

// boundBy resolves a socket's name for the processes that hold it. The name is relative
// to the working directory or an open file of one of them. It may have led elsewhere when
// the socket was bound, so the result must be the file that the kernel reports, if it
// does.
func boundBy(processes []string, name string, file boundFile) (paths []string) {
	for _, process := range processes {
		path := filepath.Join(process, "cwd", name)
		if filepath.IsAbs(name) {
			path = strings.Replace(name, "/proc/self/", process+"/", 1)
		}
		plain, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue
		}
		if now, is := fileAt(plain); is && (now == file || file == boundFile{}) {
			paths = append(paths, plain)
		}
	}
	return paths
}
