package tool

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/umpirehq/umpire"
)

// maxEntries is the maximum number of listed entries of one folder.
const maxEntries = 1000

var listTool = tool{
	about: "Lists a folder: folders end in /, a link shows where it leads.",
	schema: `{"type":"object","properties":{
		"path":{"type":"string","description":"the folder (default: the working directory)"},
		"ignore":{"type":"array","items":{"type":"string"},"description":"patterns of names to leave out"}}}`,
	run: (*Set).list,
}

// base opens the folder of a search or a listing: the path of the input, or the working
// directory of the call.
func (o *Options) base(u *use) (*place, error) {
	path, err := u.in.path()
	if err != nil {
		return nil, err
	}
	decide := func() (string, error) { return o.decided(u, path, umpire.KindRead) }
	if path == "" {
		decide = func() (string, error) { return linkFree(u.call.Dir) }
	}
	decided, err := decide()
	if err != nil {
		return nil, err
	}
	return o.openPlace(decided, false)
}

func (s *Set) list(_ context.Context, u *use) (string, error) {
	ignore, err := readIgnored(u.in)
	if err != nil {
		return "", err
	}
	p, err := s.options.base(u)
	if err != nil {
		return "", err
	}
	defer p.closeDir()
	dir, err := p.folder()
	if err != nil {
		return "", err
	}
	defer dir.Close()
	entries, err := fs.ReadDir(dir.FS(), ".")
	if err != nil {
		return "", namePathOnce(p.path, err)
	}
	return listEntries(dir, entries, ignore), nil
}

// readIgnored reads the patterns of names to leave out.
func readIgnored(in input) ([]string, error) {
	_, raw := in.field("ignore")
	if raw == nil {
		return nil, nil
	}
	return readWords("ignore", raw)
}

// listEntries writes a line for each entry.
func listEntries(dir *os.Root, entries []fs.DirEntry, ignore []string) string {
	var out strings.Builder
	shown, left := 0, 0
	for _, e := range entries {
		if matchesAny(ignore, e.Name()) {
			continue
		}
		if shown++; shown > maxEntries {
			left++
			continue
		}
		out.WriteString(visibleName(e.Name()))
		switch {
		case e.IsDir():
			out.WriteString("/")
		case e.Type()&fs.ModeSymlink != 0:
			if to, err := dir.Readlink(e.Name()); err == nil {
				out.WriteString(" -> " + visibleName(to))
			}
		}
		out.WriteByte('\n')
	}
	if left > 0 {
		fmt.Fprintf(&out, "[%d more]\n", left)
	}
	if shown == 0 {
		return "[the folder is empty]\n"
	}
	return out.String()
}

// visibleName keeps a name on its line: a newline in it would look like two.
func visibleName(name string) string {
	if strings.ContainsAny(name, "\n\r") {
		return strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace(name)
	}
	return name
}
