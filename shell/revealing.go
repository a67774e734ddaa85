package shell

import (
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// A file found or stored by name is judged as if it were named: a pattern that spells a hidden
// file or a kind of key, a path within a commit or an archive.

// keyFiles are the extensions of files that contain keys, or state with passwords.
const keyFiles = ".pem .key .p12 .pfx .jks .keystore .kdbx .tfstate"

// spelledName returns the name that a pattern for names spells out, as a wildcard, or "". Of
// patterns for whole paths and regular expressions it uses only the last part. A pattern for
// just a kind of source file spells no name.
func spelledName(pattern string, expression bool) string {
	name := pattern
	if expression {
		name = strings.TrimSuffix(strings.TrimPrefix(name, "^"), "$")
		name = strings.NewReplacer(`\.`, ".", `.*`, "*", `.+`, "*", `\`, "").Replace(name)
	}
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	if i := strings.IndexAny(name, "()|+^$"); i >= 0 {
		name = name[:i] + "*"
	}
	ending := name[max(strings.LastIndexByte(name, '.'), 0):]
	switch {
	case strings.Trim(name, "*?.[]") == "" && !strings.HasPrefix(name, "."):
		return ""
	case strings.HasPrefix(name, "."),
		strings.HasPrefix(name, "*.") && scan.HasField(keyFiles, strings.ToLower(ending)),
		!strings.ContainsAny(name, "*?["):
		return name
	case strings.HasPrefix(strings.TrimLeft(name, "*"), ".env"), strings.HasPrefix(name, "id_"):
		return name
	}
	return ""
}

// revealBelow records that files with a given name below the roots are read.
func revealBelow(u *use, roots []word, name string) {
	if name == "" {
		return
	}
	for _, root := range roots {
		if root.known() {
			named := word{text: strings.TrimSuffix(root.text, "/") + "/" + name, glob: strings.ContainsAny(name, "*?[")}
			u.then(func() { u.w.path(u.s, umpire.KindRead, named, accessOf{table: u.table}) })
		}
	}
}

// spelledPaths adds the names that a search spells out to its output. A program that reads the
// output then reads a secret with such a name.
func spelledPaths(out flow, roots []word, names []string) flow {
	for _, name := range names {
		for _, root := range roots {
			if root.known() && out.kind == flowPaths {
				out.dirs = append(slices.Clip(out.dirs), word{text: strings.TrimSuffix(root.text, "/") + "/" + name,
					glob: strings.ContainsAny(name, "*?[")})
			}
		}
	}
	return out
}

// findNames returns the names that an expression of find spells out.
func findNames(expression []word) []string {
	var names []string
	for i := 0; i+1 < len(expression); i++ {
		value := expression[i+1]
		if value.open || i > 0 && scan.HasField("! -not", expression[i-1].text) {
			continue
		}
		switch expression[i].text {
		case "-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename":
			names = append(names, spelledNames(strings.ToLower(value.text), false)...)
		case "-regex", "-iregex":
			names = append(names, spelledNames(value.text, true)...)
		case "-samefile":
			if value.known() && !strings.HasPrefix(value.text, "/") {
				names = append(names, value.text)
			}
		}
	}
	for i, name := range names {
		names[i] = strings.ToLower(name)
	}
	return names
}

// listFdNames returns the names that the pattern and the extensions of fd spell out.
func listFdNames(u *use) []string {
	var names []string
	if !u.has(lead) && len(u.operands) > 0 && !u.operands[0].open {
		pattern := u.operands[0].text
		expression := !u.gave("-g", "--glob", "-F", "--fixed-strings")
		if name := spelledName(pattern, expression); name != "" {
			names = append(names, name)
		}
		if u.gave("-H", "--hidden", "-u", "--unrestricted") && pattern != "" {
			names = append(names, secretsMeant(pattern, expression, true)...)
		}
	}
	for _, g := range u.given {
		if scan.HasField("-e --extension", g.name) &&
			scan.HasField(keyFiles, "."+strings.TrimPrefix(g.value.text, ".")) {
			names = append(names, "*."+strings.TrimPrefix(g.value.text, "."))
		}
	}
	return names
}

// noteSearchedFiles records the files that a search is limited to, if they are spelled out.
func noteSearchedFiles(u *use, options string) {
	roots := u.searchRoots()
	if len(roots) == 0 {
		roots = []word{lit(".")}
	}
	for _, g := range u.given {
		if scan.HasField(options, g.name) && g.has && !g.value.open && !strings.HasPrefix(g.value.text, "!") {
			for _, name := range spelledNames(g.value.text, g.name == "-G" || g.name == "--file-search-regex") {
				revealBelow(u, roots, name)
			}
		}
	}
}

// notePathspecs records the files after "--" of a git subcommand that prints their contents.
func notePathspecs(u *use) {
	args := u.rawArguments()
	for i, arg := range args {
		if arg.text != "--" || arg.open {
			continue
		}
		for _, spec := range args[i+1:] {
			spec.text = strings.TrimPrefix(strings.TrimPrefix(spec.text, ":/"), ":")
			if strings.ContainsAny(spec.text, "*?[") {
				spec.glob = true
			}
			if leadsOut(spec) || u.program.name() != "format-patch" && strings.HasPrefix(baseName(spec.text), ".") {
				continue // recorded with the other operands
			}
			if !strings.HasPrefix(spec.text, "(") && !strings.HasPrefix(spec.text, "!") && spec.text != "." &&
				spec.text != "" && !spec.open {
				u.touch(umpire.KindRead, spec, accessOf{})
			}
		}
		return
	}
}

// noteBatchedFiles records the files of the revisions that git cat-file --batch reads.
func noteBatchedFiles(u *use) {
	if u.program.name() != "cat-file" || !u.gave("--batch", "--batch-command") {
		return
	}
	if u.in.kind != flowText && u.in.kind != flowNone {
		u.doubt = "the objects that it prints are not known before it runs"
	}
	if u.gave("--batch-all-objects") {
		u.askSecret("prints every file that was ever kept, with whatever secrets are in them")
	}
	for field := range strings.FieldsSeq(u.in.text) {
		noteVersion(u, lit(field))
	}
}

// noteMembers records the hidden files named as members of an archive.
func noteMembers(u *use, names []word) {
	for _, name := range names {
		if spelled := spelledName(name.text, false); spelled != "" && !name.open {
			u.touch(umpire.KindRead, word{text: spelled, glob: strings.ContainsAny(spelled, "*?[")}, accessOf{})
		}
	}
}

// checkInspect judges descriptions of a container or a service: they include its environment
// unless a template names other parts. top shows its processes like ps.
func checkInspect(u *use) {
	if scan.HasField(u.table, "top") && len(u.operands) > 1 {
		processesShown(u, u.operands[1:])
	}
	if scan.HasField(u.table, "inspect") && scan.HasField(u.table, "config") {
		judgeShownConfig(u)
	}
	if !scan.HasField(u.table, "inspect") || slices.ContainsFunc(strings.Fields(u.table), func(kind string) bool {
		return scan.HasField("network volume context system stack node secret config buildx", kind)
	}) {
		return
	}
	if template := u.joinTemplates(); template == "" || showsEnvironment(template) {
		u.raise(umpire.Medium, "prints the environment of a container, with whatever secrets are in it")
	}
}

// joinTemplates returns the Go templates among the arguments, joined.
func (p *parsed) joinTemplates() string {
	var templates strings.Builder
	for _, arg := range p.rawArguments() {
		if strings.Contains(arg.text, "{{") && arg.known() {
			templates.WriteString(arg.text)
		}
	}
	return templates.String()
}

// wholeParts are the parts of docker's objects that contain an environment.
const wholeParts = "Config ContainerConfig Spec TaskTemplate ContainerSpec Settings"

// showsEnvironment reports whether a Go template names an environment, everything, or a part
// that contains an environment.
func showsEnvironment(template string) bool {
	if lower := strings.ToLower(template); strings.Contains(lower, "env") || strings.Contains(lower, "json") {
		return true
	}
	for _, action := range strings.Split(template, "{{")[1:] {
		action, _, _ = strings.Cut(action, "}}")
		for _, name := range strings.FieldsFunc(action, func(c rune) bool {
			return strings.ContainsRune(" \t\n|(),=:-", c)
		}) {
			last := name[strings.LastIndexByte(name, '.')+1:]
			if name == "." || name == "$" || strings.Contains(name, ".") && scan.HasField(wholeParts, last) {
				return true
			}
		}
	}
	return false
}

// composeNames are the options with which compose prints names instead of settings.
const composeNames = "--services --volumes --images --profiles --networks --hash -q --quiet --no-interpolate"

// checkComposeConfig judges printing the settings of compose, which contain the values of
// variables and variable files.
func checkComposeConfig(u *use) {
	if !scan.HasField(u.table, "config") && !scan.HasField(u.table, "convert") {
		return
	}
	for _, g := range u.given {
		if scan.HasField(composeNames, g.name) {
			return
		}
	}
	u.raise(umpire.Medium, "prints settings in which variables are filled in, with whatever secrets are in them")
}

// checkHelmGet judges the parts of a release that helm shows.
func checkHelmGet(u *use) {
	if lastField(u.table) == "env" {
		u.askSecret(printsEnvironment)
	}
	if scan.HasField(u.table, "get") && len(u.operands) > 0 && !scan.HasField("notes metadata", u.operands[0].text) {
		u.raise(umpire.Medium, "prints the values of a release, with whatever secrets are in them")
	}
	localChart(u)
}

// checkXsel judges xsel, which prints the selection unless an option sets or clears it.
func checkXsel(u *use) {
	if !u.gave("-i", "--input", "-a", "--append", "-f", "--follow", "-c", "--clear", "-d", "--delete", "-k", "--keep",
		"-x", "--exchange") || u.gave("-o", "--output") {
		u.raise(umpire.Medium, printsClipboard)
	}
}

const printsClipboard = "prints the clipboard, which may hold a secret"

// following are the options with which recursive programs follow the links that they find.
var following = map[string]string{
	"grep": "-R --dereference-recursive", "rg": "-L --follow", "ag": "-f --follow", "ack": "--follow",
	"cp": "-L --dereference", "tar": "-h --dereference -L",
	"rsync": "-L --copy-links -k --copy-dirlinks --copy-unsafe-links", "zip": "", "scp": "-r", "fd": "-L --follow",
	"diff": "-r --recursive",
}

// followsLinks reports whether links below the operands are followed. zip and scp do so by
// default.
func (p *parsed) followsLinks() bool {
	options := following[p.program.name()]
	if p.program.name() == "zip" {
		return !p.gave("-y", "--symlinks")
	}
	for _, g := range p.given {
		if scan.HasField(options, g.name) {
			return true
		}
	}
	return false
}
