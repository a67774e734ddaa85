package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/rulefile/wildcard"
)

// pathRule returns the rule of a width for a path.
func (s *suggester) pathRule(a asking, width umpire.Width) (umpire.Suggestion, bool) {
	if a.Target == "" {
		return umpire.Suggestion{}, false
	}
	tool, opts := pathTool(s.tool, a.Access), s.opts
	inside := a.row == rowMode && slices.Contains(writeTools, s.tool)
	r := umpire.Suggestion{Tool: tool, Scope: umpire.ScopeProject}
	switch {
	case width == umpire.WidthExact && !a.Glob && !isSearch(a.Access) && !(a.Kind == umpire.KindDelete && a.Tree):
		r.Match.PathGlob = PathPattern(&umpire.Access{Target: a.Target}, opts.Root)
	case width == umpire.WidthFolder && a.Kind == umpire.KindRead && a.row == rowExternal:
		folder, ok := GrantableFolder(a.Access, opts)
		if !ok {
			return r, false
		}
		r.Match.PathGlob, r.Scope = wildcard.Escape(folder)+"/**", umpire.ScopeSession
	case width == umpire.WidthParent && a.Kind == umpire.KindRead && a.row == rowExternal:
		folder, ok := parentFolder(a.Access, opts)
		if !ok {
			return r, false
		}
		r.Match.PathGlob, r.Scope = wildcard.Escape(folder)+"/**", umpire.ScopeSession
	case width == umpire.WidthFolder && inside:
		rest, ok := strings.CutPrefix(path.Dir(path.Clean(a.Target)), opts.Root+"/")
		if !ok || opts.Root == "" {
			return r, false
		}
		r.Match.PathGlob = wildcard.Escape(rest) + "/**"
	case width == umpire.WidthTool && inside:
	default:
		return r, false
	}
	return r, true
}

// GrantableFolder returns the folder that a read outside the project may be widened to, with
// links resolved: the read folder itself, or the folder of the file. It never returns one that
// contains the project, a home, umpire's own files or an agent's settings.
func GrantableFolder(a *umpire.Access, o *Options) (string, bool) {
	folder := path.Clean(a.Resolved)
	switch {
	case a.Resolved == "" || a.Place != umpire.PlaceOutside:
		return "", false
	case a.Glob:
		segs := splitSegments(folder, false)
		names := cutPath(folder)
		folder = "/" + strings.Join(names[:min(countLiterals(segs), len(names))], "/")
	case !a.Tree && !a.Names:
		folder = path.Dir(folder)
	}
	return folder, folder != "." && !holdsGuarded(folder, o)
}

// ungrantable are folders that describe all running processes, or contain homes.
var ungrantable = []string{"/{root,home,Users,proc,sys,dev}", "/{proc,sys,dev}/**"}

// parentFolder returns the folder that contains the project, for a read in it. Apart from
// containing the project, the folder must be grantable.
func parentFolder(a *umpire.Access, o *Options) (string, bool) {
	folder, without := path.Dir(o.Root), *o
	without.Root = ""
	return folder, o.Root != "" && a.Place == umpire.PlaceOutside && isBelow(a.Resolved, folder) &&
		!holdsGuarded(folder, &without)
}

// holdsGuarded reports whether a folder is, or contains, a place that a grant for a folder must
// not include.
func holdsGuarded(folder string, o *Options) bool {
	names := newForm(folder)
	if len(names.segs) == 0 {
		return true
	}
	for _, kept := range []string{o.Root, o.Home, o.StateDir} {
		if kept != "" && isWithin(folder, kept) {
			return true
		}
	}
	for _, pattern := range append(slices.Clip(homeFolders), ungrantable...) {
		for _, g := range newGlobs(pattern, umpire.Deny, o) {
			if g.match(&names, nil) {
				return true
			}
		}
	}
	for h := range controlRules(o) {
		for _, pattern := range h.patterns {
			for _, g := range newGlobs(pattern, umpire.Deny, o) {
				if holdsAnchor(&g, &names) {
					return true
				}
			}
		}
	}
	return false
}

// holdsAnchor reports whether the literal folder that a pattern starts from lies at or below
// the named one.
func holdsAnchor(g *glob, names *form) bool {
	if g.anyDepth || len(g.segs) == 0 || g.segs[0].sort == deep {
		return false
	}
	n := countLiterals(g.segs)
	if n == len(g.segs) {
		n-- // drop the file itself to compare its folder
	}
	return n >= len(names.folded) && matchSegments(g.segs[:len(names.folded)], names.folded)
}

// isWithin reports whether a path is the folder or lies below it.
func isWithin(folder, name string) bool {
	return folder == "/" || name == folder || strings.HasPrefix(name, folder+"/")
}

// pathTool returns the tool for the rule: the call's own if it is a path tool, else the
// plainest one of the kind.
func pathTool(tool string, a *umpire.Access) string {
	family := familyTools(a.Kind, true)
	if slices.Contains(family[0], tool) {
		return tool
	}
	if tool := map[umpire.AccessKind]string{umpire.KindRead: "Read", umpire.KindDelete: "Delete"}[a.Kind]; tool != "" {
		return tool
	}
	return "Edit"
}

// PathPattern returns the path of an access as a pattern that matches only it, or all matches
// of a target with wildcards. Within the project the pattern is relative.
func PathPattern(a *umpire.Access, root string) string {
	target := path.Clean(a.Target)
	if a.Glob {
		segs := splitSegments(target, false)
		names := []string{""}
		for _, s := range segs[:countLiterals(segs)] {
			names = append(names, s.text)
		}
		target = strings.Join(names, "/")
	}
	pattern := wildcard.Escape(target)
	if rest, ok := strings.CutPrefix(target, root+"/"); ok && root != "" && rest != "" {
		pattern = wildcard.Escape(rest)
	}
	if a.Glob || a.Tree {
		pattern += "/**"
	}
	return pattern
}
