package trees

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// A tree is a release of a package, with the programs that are installed in it and the commands
// that are run in it.
type tree struct {
	registry, name string // name@version
	tools          []string
	commands       []string
}

// hereDocument finds the word that ends one.
var hereDocument = regexp.MustCompile(`<<-?'(\w+)'`)

// readList reads testdata/commands.txt.
func readList(t *testing.T) []tree {
	t.Helper()
	text, err := os.ReadFile("testdata/commands.txt")
	if err != nil {
		t.Fatal(err)
	}
	var trees []tree
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		words := strings.Fields(line)
		switch {
		case line == "" || strings.HasPrefix(line, "# "):
		case words[0] == "tree":
			trees = append(trees, tree{registry: words[1], name: words[2], tools: words[3:]})
		default:
			if end := hereDocument.FindStringSubmatch(line); end != nil {
				for i++; lines[i] != end[1]; i++ {
					line += "\n" + lines[i]
				}
				line += "\n" + lines[i]
			}
			last := &trees[len(trees)-1]
			last.commands = append(last.commands, line)
		}
	}
	return trees
}

// version is a release, and not a range.
var version = regexp.MustCompile(`@v?\d+\.\d+\.\d+$`)

// TestList: there are two hundred commands in ten trees, and every version is pinned.
func TestList(t *testing.T) {
	t.Parallel()
	trees := readList(t)
	commands, registries := 0, map[string]int{}
	for _, tree := range trees {
		commands += len(tree.commands)
		registries[tree.registry]++
		for _, name := range append(tree.tools, tree.name) {
			if !version.MatchString(name) {
				t.Errorf("%s: the version is not pinned", name)
			}
		}
	}
	if commands != 200 || registries["go"] != 5 || registries["npm"] != 5 {
		t.Errorf("%d commands over %v", commands, registries)
	}
}
