package shell

import (
	"path"
	"regexp"
	"strings"
)

// A pattern can mean a secret without spelling it: *env, .?nv, [.]env, rsa$. Such a pattern
// matches the name of a well-known secret but none of the usual names in a project.

// wellKnownSecrets are the usual targets of a search for secrets.
var wellKnownSecrets = []string{".env", "id_rsa", "id_ed25519", ".netrc", ".git-credentials", ".pgpass"}

// everydayNames are names of each kind that a search of a project usually looks for.
const everydayNames = "README.md main.go index.js app.tsx server.ts test_a.py lib.rs Main.java a.c a.h a.cpp " +
	"page.html style.css data.csv notes.txt config.yaml config.yml settings.toml package.json schema.sql deploy.sh " +
	"Makefile Dockerfile LICENSE go.mod Cargo.lock .gitignore .eslintrc .editorconfig a.log a.xml a.png a.rb a.php " +
	"a.vue a.svelte a.proto a.ini a.cfg a.conf a.lock a.map a.bak"

// secretsMeant returns the secrets that a pattern means. The pattern is a wildcard for a name,
// or an expression that matches anywhere in a path.
func secretsMeant(pattern string, expression, ignoreCase bool) []string {
	fits := func(name string) bool {
		matched, err := path.Match(strings.ToLower(lastName(pattern)), strings.ToLower(name))
		return err == nil && matched
	}
	if expression {
		if ignoreCase {
			pattern = "(?i)" + pattern
		}
		compiled, err := regexp.Compile(pattern)
		if err != nil {
			return nil
		}
		fits = func(name string) bool { return compiled.MatchString("./" + name) }
	}
	for name := range strings.FieldsSeq(everydayNames) {
		if fits(name) {
			return nil
		}
	}
	var meant []string
	for _, name := range wellKnownSecrets {
		if fits(name) {
			meant = append(meant, name)
		}
	}
	return meant
}

// lastName returns the last component of a path wildcard.
func lastName(pattern string) string { return pattern[strings.LastIndexByte(pattern, '/')+1:] }

// spelledNames returns the secret names that a pattern spells out or otherwise means.
func spelledNames(pattern string, expression bool) []string {
	names := secretsMeant(pattern, expression, false)
	if name := spelledName(pattern, expression); name != "" {
		names = append(names, name)
	}
	return names
}

// revealTails records the files that a command names below each path with a placeholder, as in
// {}/.env.
func revealTails(u *use, command []word, place string, roots []word) {
	for _, wd := range command {
		if _, tail, found := wd.after(place); found && !tail.open {
			revealBelow(u, roots, spelledName(lastName(tail.text), false))
		}
	}
}

// filterPathList returns a list of files after grep, with the secret names its pattern means. A
// program that reads the list then reads these secrets.
func (p *parsed) filterPathList(in flow) flow {
	if in.kind != flowPaths || p.gave("-v", "--invert-match") || p.has(lead) || len(p.operands) == 0 {
		return in
	}
	pattern := p.operands[0]
	if !pattern.known() || pattern.text == "" {
		return in
	}
	text := pattern.text
	if p.gave("-F", "--fixed-strings") || p.program.name() == "fgrep" {
		text = regexp.QuoteMeta(text)
	}
	return spelledPaths(in, in.dirs, secretsMeant(text, true, p.gave("-i", "--ignore-case", "-y")))
}
