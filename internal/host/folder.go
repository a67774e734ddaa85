package host

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/umpirehq/umpire"
)

// A Root says below which folder of the user a host keeps something.
type Root uint8

// The roots. Each is a real folder of this user's: see [Folder].
const (
	RootSettings Root = iota // the host's settings, ~/.claude for Claude Code
	RootScratch              // its folder for temporary files, /tmp/claude-UID
)

// A Folder is a part of the file system that is the host's own: it made it, and tells
// its model to use it.
type Folder struct {
	Root Root
	// Path is where the root lies, with links resolved. A Folder without one matches
	// nothing. Whoever fills it in has checked that the folder is this user's and does
	// not lie in the project.
	Path string
	// Pattern is what below the root belongs to it.
	Pattern string
	// Writes says that the model is to write there; Plan that it is where plan mode
	// writes its plan.
	Writes, Plan bool
	Why          string
}

// ClaudeVersion is the release of Claude Code that the tables of its folders and tools
// were checked against.
const ClaudeVersion = "2.1.330"

// claudeFolders are the folders of Claude Code.
var claudeFolders = []Folder{
	{Root: RootSettings, Pattern: "plans/*.md", Writes: true, Plan: true, Why: "the plan of plan mode"},
	{Root: RootSettings, Pattern: "projects/*/memory/**", Writes: true, Why: "what the model keeps between sessions"},
	{Root: RootSettings, Pattern: "projects/*/*/tool-results/**", Why: "results too long for the conversation"},
	{Root: RootSettings, Pattern: "todos/*.json", Why: "the list of what is to be done"},
	{Root: RootSettings, Pattern: "tasks/**", Why: "the list of what is to be done"},
	{Root: RootScratch, Pattern: "*/*/tasks/**", Why: "the output of background commands"},
	{Root: RootScratch, Pattern: "*/*/scratchpad/**", Writes: true, Why: "the model's temporary files"},
}

// ClaudeFolders are the folders of Claude Code below the roots that were found; a root
// that is "" was not.
func ClaudeFolders(settings, scratch string) []Folder {
	var found []Folder
	for _, f := range claudeFolders {
		f.Path = settings
		if f.Root == RootScratch {
			f.Path = scratch
		}
		if f.Path != "" {
			found = append(found, f)
		}
	}
	return found
}

// findFolder returns the folder that an access to a path is about. Where its links lead
// counts, and a tree that reaches beyond one file does not belong to the host.
func findFolder(own []Folder, a *umpire.Access) *Folder {
	if a == nil || !a.Paths() || a.Resolved == "" || a.Glob {
		return nil
	}
	for i := range own {
		rest, below := strings.CutPrefix(a.Resolved, own[i].Path+"/")
		if !below || own[i].Path == "" {
			continue
		}
		if ok, err := doublestar.Match(own[i].Pattern, rest); ok && err == nil {
			return &own[i]
		}
	}
	return nil
}
