package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// markElsewhere raises the risk of a program that runs code of a folder outside the project. A
// person's permission to read there does not permit running the code.
func markElsewhere(u *use, a *umpire.Access) {
	if !a.Code || a.Risk.AtLeast(umpire.Medium) || u.w.away > 0 {
		return
	}
	paths := slices.Concat(a.Dirs, a.CodeFiles)
	if u.why == runsTests && u.program0() != "cargo" { // its operands are names of tests
		for _, wd := range u.named {
			if strings.HasPrefix(wd.text, "/") || strings.HasPrefix(wd.text, "..") {
				paths = append(paths, u.s.absolutePaths(wd)...)
			}
		}
	}
	if at := slices.IndexFunc(paths, u.w.leavesProject); at >= 0 {
		a.Risk, a.Reason = umpire.Medium, umpire.Say(RunsCodeOf, paths[at])
	}
}

// markWritten raises the risk of a program that runs code of the project if another command of
// the line may write such code: `echo … > conftest.py && pytest`. The order does not count,
// because a loop or a background job may reverse it.
func (w *walker) markWritten() {
	for i := range w.accesses {
		a := &w.accesses[i]
		looks := a.Kind == umpire.KindExec && (a.Code || a.Reason == readsAndPrints) && !a.Risk.AtLeast(umpire.Medium)
		for k := range w.accesses {
			if b := &w.accesses[k]; looks && b.Part != a.Part && w.mayWriteCode(b) {
				a.Risk, a.Reason = umpire.Medium, umpire.Say("may run what the same line writes: %s", b.Target)
			}
		}
	}
}

// mayWriteCode reports whether a program could read a write as code: it is not a folder, a text or a log.
func (w *walker) mayWriteCode(b *umpire.Access) bool {
	name := path.Base(b.Target)
	text := scan.HasField(".log .out .md .txt", path.Ext(name)) && name != "CMakeLists.txt"
	return b.Kind == umpire.KindWrite && !strings.HasPrefix(b.Table, "mkdir") && b.Target != "/dev/null" && !text &&
		!w.leavesProject(b.Target) && !derives(w.accesses, b)
}

// derives reports whether the content of a write follows from the project's code alone: the
// built program, which go never writes over a source, or the formatted sources.
func derives(line []umpire.Access, b *umpire.Access) bool {
	i := slices.IndexFunc(line, func(a umpire.Access) bool {
		return a.Kind == umpire.KindExec && a.Part == b.Part
	})
	if i < 0 || line[i].Risk.AtLeast(umpire.High) || line[i].Doubt != "" {
		return false
	}
	options := slices.DeleteFunc(slices.Clone(line[i].Line), func(text string) bool {
		return !strings.HasPrefix(text, "-") || scan.HasField("-w -l -d -s", text)
	})
	if target := path.Clean(b.Target); b.Table == "go build -o" {
		hidden := strings.Contains(target, "/.") || strings.Contains(target, "/node_modules/")
		return path.Ext(target) == "" && !hidden && buildsOwnCode(&line[i])
	}
	return scan.HasField("gofmt gofumpt goimports rustfmt", b.Table) && len(options) == 0
}

// buildsOwnCode reports whether a build takes packages of the folder instead of named files.
func buildsOwnCode(a *umpire.Access) bool {
	return !slices.ContainsFunc(a.Line, func(text string) bool {
		return strings.HasPrefix(text, "/") || strings.HasPrefix(text, "..") || strings.HasSuffix(text, ".go") ||
			strings.HasPrefix(text, "-overlay") || strings.HasPrefix(text, "-mod")
	})
}

// leavesProject reports whether a path is neither below the folder of the line nor in its git
// work tree.
func (w *walker) leavesProject(p string) bool {
	dir := w.env.Dir
	if dir == "" || !path.IsAbs(p) {
		return false
	}
	top := ""
	if w.env.GitTop != nil {
		top = w.env.GitTop(dir)
	}
	p = path.Clean(p) + "/"
	return !strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/") && (top == "" || !strings.HasPrefix(p, top+"/"))
}
