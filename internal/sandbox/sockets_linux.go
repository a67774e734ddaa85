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

// The kernel writes its list piece by piece and, while other sockets close, can leave out one that stays
// open, so the list is read twice. It is read again, up to maxSocketLooks, until every owner is found: a
// program that just ended is still listed, but nobody holds its socket any more.
const (
	socketLooks    = 2
	maxSocketLooks = 4
)

// socketLine is a line of /proc/net/unix (proc(5)): the number that the socket has, and the
// name that it was bound to, if it has one. Names that begin with @ are not files.
var socketLine = regexp.MustCompile(`^\S+: \S+ \S+ \S+ \S+ \S+ +(\d+) ([^@].*)$`)

// sockets are the paths of the sockets that somebody listens at: a mount that cannot be
// written does not keep anybody from connecting to one that lies on it. all is false
// when there are more than those.
func sockets() (paths []string, all bool) { return lookForSockets(listenedAt) }

// lookForSockets looks until it has found all, and adds up what it sees.
func lookForSockets(look func() ([]string, bool)) (paths []string, all bool) {
	for n := 0; n < socketLooks || n < maxSocketLooks && !all; n++ {
		var found []string
		found, all = look()
		paths = append(paths, found...)
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	return paths, all && len(paths) <= maxSockets
}

// listenedAt looks for sockets once.
func listenedAt() (paths []string, all bool) {
	f, err := os.Open("/proc/net/unix")
	if err != nil {
		return nil, false
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
) (paths []string, all bool) {
	all = true
	lines := bufio.NewScanner(list)
	for lines.Scan() {
		m := socketLine.FindStringSubmatch(lines.Text())
		if m == nil || m[1] == "0" {
			continue // it has no name, or is a connection that nobody has taken yet
		}
		number, name := m[1], m[2]
		found := []string{name}
		if !filepath.IsAbs(name) || files.Within("/proc", name) {
			found = boundBy(owners()[number], name, bound()[number])
		}
		all = all && found != nil
		paths = append(paths, found...)
	}
	return paths, all && lines.Err() == nil
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
