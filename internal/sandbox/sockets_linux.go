package sandbox

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/umpirehq/umpire/internal/files"
)

// maxSockets bounds how many sockets are hidden one by one.
const maxSockets = 512

// The kernel writes its list piece by piece. When sockets close that it has listed, it leaves out others that
// stay open. So a look is complete when all that it saw are still there in the next one. Where sockets close
// all the time, what maxSocketLooks looks saw together is taken. They also go on, up to ownerLooks, until every
// owner is found: a program that just ended is still listed, but nobody holds its socket any more.
const (
	maxSocketLooks = 8
	ownerLooks     = 4
)

// socketLine is a line of /proc/net/unix (proc(5)): the number that the socket has, and the
// name that it was bound to, if it has one. Names that begin with @ are not files.
var socketLine = regexp.MustCompile(`^\S+: \S+ \S+ \S+ \S+ \S+ +(\d+)(?: (.*))?$`)

// A socketLook is what the list of sockets was once.
type socketLook struct {
	paths   []string        // of sockets that somebody listens at
	all     bool            // every one of them has a path
	numbers map[string]bool // of all sockets; nil where the list cannot be read
}

// sockets are the paths of the sockets that somebody listens at: a mount that cannot be
// written does not keep anybody from connecting to one that lies on it. all is false
// when there are more than those.
func sockets() (paths []string, all bool) { return lookForSockets(listenedAt) }

// lookForSockets looks until it has found all, and adds up what it sees.
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
	f, err := os.Open("/proc/net/unix")
	if err != nil {
		return socketLook{}
	}
	defer f.Close()
	bound := sync.OnceValue(func() map[string]boundFile {
		known, _ := boundFiles() // a kernel that does not tell leaves it at the name
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
		m := socketLine.FindStringSubmatch(lines.Text())
		if m == nil || m[1] == "0" {
			continue // it is a connection that nobody has taken yet
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

// socketOwners are the processes that hold each socket, of those that may be looked at.
func socketOwners() map[string][]string {
	owners := map[string][]string{}
	files, _ := filepath.Glob("/proc/[0-9]*/fd/*") // the pattern is right
	for _, file := range files {
		to, _ := os.Readlink(file) // a file that was closed meanwhile is nobody's
		if number, is := strings.CutPrefix(to, "socket:["); is {
			number = strings.TrimSuffix(number, "]")
			owners[number] = append(owners[number], filepath.Dir(filepath.Dir(file)))
		}
	}
	return owners
}

// boundBy is where a name leads the processes that hold the socket: it counts from the
// folder that one of them is in, or from a file that one has open. It may have led
// elsewhere when the socket was bound, so that it has to lead to the file that it was
// bound to, where the kernel tells which that is.
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
