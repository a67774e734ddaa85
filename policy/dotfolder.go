package policy

import (
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/secret/sensitive"
)

// newDotFolder returns a missing dot-folder that the access would create, or "". The tables
// cannot name every editor and tool that runs files from its own folder, so autonomy never
// creates one. A trial may create one that tools fill or that git ignores.
func newDotFolder(j *judge) string {
	a := j.access()
	if a.Kind != umpire.KindWrite || j.policy.opts.Root == "" || j.given.Missing == nil {
		return ""
	}
	below, inside := strings.CutPrefix(a.Resolved, j.policy.opts.Root+"/")
	if !inside {
		return ""
	}
	folder := a.Table == "mkdir" || a.Table == "mv" || a.Table == "git mv"
	for _, name := range sensitive.DotFolders(below, folder) {
		full := j.policy.opts.Root + "/" + name
		if !j.given.Missing(full) || a.Table == "cp" && partWrites(j, a.Part, full) ||
			a.Observed && j.given.Ignored != nil && j.given.Ignored(name) {
			continue
		}
		return name
	}
	return ""
}

// partWrites reports whether a part writes path itself. cp without options does not turn it into a folder.
func partWrites(j *judge, part int, path string) bool {
	for i := range j.accesses {
		if a := &j.accesses[i]; a.Part == part && a.Kind == umpire.KindWrite && a.Resolved == path {
			return true
		}
	}
	return false
}
