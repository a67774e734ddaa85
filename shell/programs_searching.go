package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// packedSearch are the options of zgrep and similar scripts. Not all of them know which of
// grep's options take the next word, so only the two options that all of them know do; for the
// others the next word counts as a pattern or a file.
var packedSearch = []option{
	{flags: "-E -F -G -P -i -y -v -w -x -c -n -H -h -o -q -s -a -b -I -L -l -T -U -u"},
	{values: "-e", attached: "--regexp", does: plain | lead},
	{values: "-f", attached: "--file", does: reads | lead},
	{attached: "-A -B -C -m --context --after-context --before-context --max-count --color --colour --label " +
		"--binary-files", does: plain},
	{flags: "-r -R -d -D -z -Z --recursive --null --null-data",
		attached: "--directories --devices --include --exclude --exclude-dir --exclude-from", does: asks,
		consequence: harmless, why: "is an option that such scripts refuse"},
	{flags: aboutItself, does: shows},
}

// searching are the programs that look for files and text.
var searching = []program{
	// safe: grep -rn x src
	// asks: grep x /etc/shadow
	{
		names: "grep egrep fgrep ggrep", risk: umpire.Safe, why: "searches text", args: "data read…", lax: true,
		check: checkGrep, out: found, about: aboutItself, opts: []option{
			{flags: "-E -F -G -P -i -y -v -w -x -c -n -H -h -o -q -s -a -b -I -L -l -T -U -u -z -Z"},
			{flags: "-0 -1 -2 -3 -4 -5 -6 -7 -8 -9"},
			{values: "-e --regexp", does: plain | lead}, {values: "-f --file", does: reads | lead},
			{values: "--exclude-from", does: reads},
			{flags: "-r -R --recursive --dereference-recursive", does: walks},
			{values: "-C --context", does: plain},
			{values: "-A -B -m -d -D --after-context --before-context --max-count --directories --devices --include " +
				"--exclude --exclude-dir --include-dir --label --binary-files", does: plain},
			{flags: "--files-with-matches --files-without-match --count --line-number --only-matching " +
				"--with-filename --no-filename --byte-offset --quiet --silent --ignore-case --no-ignore-case " +
				"--invert-match --word-regexp --line-regexp --extended-regexp --fixed-strings --perl-regexp " +
				"--basic-regexp --no-messages --null --null-data --initial-tab --text --line-buffered",
				attached: "--color --colour", does: plain},
		},
	},
	// safe: zgrep -i x a.gz
	// asks: zgrep --context 1 /etc/motd
	{names: "zgrep zegrep zfgrep", risk: umpire.Safe, why: "searches text in packed files", args: "data read…",
		lax: true, check: checkGrep, out: found, also: []*[]option{&packedSearch}},
	// safe: bzgrep foo a.bz2
	// asks: bzgrep foo /etc/shadow
	// safe: bzgrep x a.bz2
	// asks: bzgrep x /etc/motd
	{names: "bzgrep bzegrep bzfgrep", risk: umpire.Safe, why: "searches text in packed files", args: "data read…",
		lax: true, check: checkGrep, out: found, also: []*[]option{&packedSearch}},
	// safe: xzgrep x a.xz
	// asks: xzgrep -r x
	{names: "xzgrep xzegrep xzfgrep", risk: umpire.Safe, why: "searches text in packed files", args: "data read…",
		lax: true, check: checkGrep, out: found, also: []*[]option{&packedSearch}},
	// safe: zstdgrep x a.zst
	// asks: zstdgrep x /etc/motd
	{names: "zstdgrep", risk: umpire.Safe, why: "searches text in packed files", args: "data read…", lax: true,
		check: checkGrep, out: found, also: []*[]option{&packedSearch}},
	// safe: rg -n x src
	// asks: rg --pre=./x y
	{
		names: "rg ripgrep", risk: umpire.Safe, why: "searches text", args: "data tree…", check: checkSearch,
		out: found, about: "--help --version --pcre2-version", opts: []option{
			{flags: "-i -v -w -x -c -n -N -H -I -l -o -q -s -S -a -F -P -L -u -p -U -0 -. -h -V"},
			{values: "-e --regexp", does: plain | lead},
			{values: "-f --file", does: reads | lead}, {flags: "--files --type-list", does: lead},
			{values: "--pre", does: runs, why: "runs a program on every file"},
			{values: "--hostname-bin", does: runs, why: "runs a program for the name of the host"},
			{flags: "-z --search-zip", does: asks, consequence: lost, why: "runs programs that uncompress"},
			{values: "--ignore-file", does: reads},
			{values: "-A -B -C -m -g -t -T -r -M -E -j -d --after-context --before-context --context --max-count " +
				"--glob --iglob --type --type-not --replace --max-columns --encoding --threads --max-depth " +
				"--maxdepth --max-filesize --sort --sortr --color --colors --engine --context-separator " +
				"--field-match-separator --field-context-separator --path-separator --type-add --type-clear " +
				"--pre-glob --regex-size-limit --dfa-size-limit --hyperlink-format --generate", does: plain},
			{flags: "--ignore-case --smart-case --case-sensitive --invert-match --word-regexp --line-regexp --count " +
				"--count-matches --line-number --no-line-number --with-filename --no-filename --files-with-matches " +
				"--files-without-match --only-matching --quiet --text --fixed-strings --pcre2 --no-pcre2 --follow " +
				"--no-follow --unrestricted --hidden --no-hidden --no-ignore --ignore --no-ignore-vcs " +
				"--no-ignore-parent --no-ignore-global --no-ignore-dot --no-ignore-exclude --no-ignore-files " +
				"--no-ignore-messages --multiline --no-multiline --multiline-dotall --pretty --heading --no-heading " +
				"--null --null-data --column --no-column --vimgrep --json --stats --passthru --passthrough --trim " +
				"--no-trim --no-config --no-messages --messages --debug --trace --binary --block-buffered " +
				"--line-buffered --byte-offset --crlf --glob-case-insensitive --ignore-file-case-insensitive " +
				"--include-zero --max-columns-preview --mmap --no-mmap --no-unicode --unicode --one-file-system " +
				"--auto-hybrid-regex --no-require-git --stop-on-nonmatch --no-encoding --no-pre --no-search-zip " +
				"--no-context-separator"},
		},
	},
	// safe: ag x src
	// asks: ag --pager=./x y
	{
		names: "ag", risk: umpire.Safe, why: "searches text", args: "data tree…", check: checkSearch, out: found,
		about: aboutItself, opts: []option{
			{values: "--pager", does: runs}, {values: "-p --path-to-ignore", does: reads},
			{flags: "-a -c -i -D -f -F -H -h -l -L -n -o -Q -r -R -s -S -u -U -t -v -V -w -z -0 --all-text " +
				"--all-types --case-sensitive --count --debug --files-with-matches --files-without-matches " +
				"--filename --nofilename --follow --hidden --ignore-case --literal --fixed-strings --nobreak --break " +
				"--nocolor --color --nogroup --group --noheading --heading --nonumbers --numbers --norecurse " +
				"--recurse --null --no-recurse --one-device --only-matching --parallel --passthrough " +
				"--print-all-files --print-long-lines --search-binary --search-files --search-zip --silent " +
				"--skip-vcs-ignores --smart-case --stats --stats-only --unrestricted --vimgrep --word-regexp " +
				"--column --ackmate --affinity --noaffinity --mmap --nommap --multiline --nomultiline " +
				"--list-file-types"},
			{values: "-g", does: plain | lead},
			{values: "-G -m -W --depth --file-search-regex --ignore --ignore-dir --max-count --width --workers " +
				"--color-line-number --color-match --color-path", attached: "-A -B -C --after --before --context",
				does: plain},
			{flags: "--cc --clojure --cpp --css --elixir --go --haskell --html --java --js --json --kotlin --lua " +
				"--make --markdown --ocaml --perl --php --proto --python --ruby --rust --sass --scala --shell --sql " +
				"--swift --ts --xml --yaml"},
		},
	},
	// safe: ack x src
	// asks: ack --pager=./x y
	{
		names: "ack ack-grep", risk: umpire.Safe, why: "searches text", args: "data tree…", check: checkSearch,
		out: found, about: "--help --version --help-types --help-colors --man --dump --thpppt --bar", opts: []option{
			{values: "--pager", does: runs}, {values: "--ackrc", does: obeys, why: "obeys a file of options"},
			{values: "--output", does: asks, consequence: harmless, why: "prints what a template names"},
			{flags: "-c -i -I -h -H -l -L -n -o -r -R -s -S -u -v -w -Q -k -1 --count --nofilter " +
				"--files-with-matches --files-without-matches --ignore-case --no-ignore-case --smart-case " +
				"--no-smart-case --literal --invert-match --word-regexp --with-filename --no-filename --column " +
				"--nocolumn --color --nocolor --colour --nocolour --group --nogroup --heading --noheading --break " +
				"--nobreak --print0 --passthru --range-invert --recurse --no-recurse --follow --nofollow --noenv " +
				"--ignore-ack-defaults --known-types --nopager --underline --sort-files --show-types --filter"},
			{values: "-A -B -m -t -T --after-context --before-context --max-count --type --ignore-dir --noignore-dir " +
				"--ignore-file --ignore-directory --match --range-start --range-end --lines --color-filename " +
				"--color-match --color-lineno --color-colno", attached: "-C --context --proximate", does: plain},
			{flags: "-g", why: "its pattern is for names"},
			{flags: "-f", does: lead, why: "lists files and searches nothing"},
			{values: "--files-from", does: reads | asks, consequence: harmless,
				why: "searches the files that a file names"},
			{flags: "-x", does: asks, consequence: harmless, why: "searches the files that its input names"},
			{flags: "--cc --clojure --cpp --css --elixir --go --haskell --html --java --js --json --kotlin --lua " +
				"--make --markdown --ocaml --perl --php --python --ruby --rust --sass --scala --shell --sql --swift " +
				"--ts --xml --yaml"},
		},
	},
	// safe: find . -name x
	// asks: find . -delete
	{names: "find gfind", peeks: true, risk: umpire.Safe, why: "looks for files", style: bare, check: checkFind,
		out: finds},
	// safe: fd x src
	// asks: fd -x rm
	{names: "fd fdfind", peeks: true, risk: umpire.Safe, why: "looks for files", style: bare, check: checkFd,
		out: fdPaths},
	// safe: locate x
	// asks: locate -d /root/db x
	{names: "locate plocate mlocate", risk: umpire.Safe, why: "looks names up in a list of all files", args: "data…",
		lax: true, about: aboutItself, opts: []option{{values: "-d --database", does: reads}}},
}

// checkGrep adds the working directory if a recursive search names no folder, and refuses a
// pattern that may expand to several words.
func checkGrep(u *use) {
	if g := u.got("-C"); g != nil && strings.Trim(g.value.text, "0123456789") != "" {
		u.doubt = "the value of -C is not a number" // for some greps -C takes no value
	}
	checkWholePattern(u)
	noteSearchedFiles(u, "--include")
	if u.has(walks) && len(u.searchRoots()) == 0 {
		u.touch(umpire.KindRead, lit("."), accessOf{tree: true, follows: u.followsLinks()})
	}
}

// checkSearch is checkGrep for programs that always search recursively.
func checkSearch(u *use) {
	checkWholePattern(u)
	noteSearchedFiles(u, "-g --glob --iglob -G --file-search-regex")
	if u.in.kind == flowNone && len(u.searchRoots()) == 0 {
		u.touch(umpire.KindRead, lit("."), accessOf{tree: true, follows: u.followsLinks()})
	}
}

// checkWholePattern doubts a use whose pattern may expand to several words: those after the
// first would be files.
func checkWholePattern(u *use) {
	if !u.has(lead) && len(u.operands) > 0 && u.operands[0].split {
		u.doubt = "the pattern may turn out to be several words"
	}
}

// searchRoots returns the operands after the pattern.
func (a *arguments) searchRoots() []word {
	if a.has(lead) || len(a.operands) == 0 {
		return a.operands
	}
	return a.operands[1:]
}

// listing are the options with which searches print names of files, and framing those that
// change the printed lines.
const (
	listing = "-l -L --files-with-matches --files-without-match --files-without-matches --files"
	framing = "-c -n -o -b -H -T -r -f --count --line-number --only-matching --byte-offset --with-filename --json " +
		"--vimgrep --column --replace --passthru --output --count-matches --stats --heading --pretty -p"
)

// found returns the output of a search: names of files, or the matching lines of its input.
func found(u *use, in flow) flow {
	names := false
	for _, g := range u.given {
		names = names || scan.HasField(listing, g.name) || g.name == "-g" && u.program.name() != "rg"
	}
	roots := u.searchRoots()
	if names {
		if len(roots) == 0 {
			roots = []word{{}} // names without a folder before them
		}
		return pathsBelow(roots, u.program0())
	}
	if counts := u.flowOfLineNumbers(roots); counts.numbers || counts.numbered {
		return counts
	}
	if len(roots) > 0 || u.has(walks) {
		return foreignFlow(u.program0())
	}
	for _, g := range u.given {
		if scan.HasField(framing, g.name) {
			return foreignFlow(u.program0())
		}
	}
	return u.filterPathList(pickedFlow(in, u.program0()))
}

// flowOfLineNumbers returns the output of grep for one file with -c, a number, or with -n,
// lines that begin with their number.
func (p *parsed) flowOfLineNumbers(roots []word) flow {
	out := foreignFlow(p.program0())
	if p.program.name() != "grep" || len(roots) > 1 || len(roots) == 1 && !roots[0].known() {
		return out
	}
	for _, g := range p.given {
		if !scan.HasField(choosesLines, g.name) {
			return out
		}
	}
	out.numbers = p.gave("-c", "--count")
	out.numbered = p.gave("-n", "--line-number")
	return out
}

// choosesLines are options of grep that select lines, count them or number them.
const choosesLines = "-n --line-number -c --count -i --ignore-case -E --extended-regexp -F --fixed-strings -P " +
	"--perl-regexp -G -w --word-regexp -x --line-regexp -e --regexp -m --max-count -v --invert-match -o " +
	"--only-matching -s --no-messages"

// fdOptions are the options of fd that come before a command.
var fdOptions = program{names: "fd", peeks: true, risk: umpire.Safe, args: "data tree…", opts: []option{
	{flags: "-H -I -u -s -i -g -a -p -L -F -1 -q -0 -h -V --hidden --no-hidden --no-ignore --ignore --no-ignore-vcs " +
		"--no-ignore-parent --no-global-ignore-file --unrestricted --case-sensitive --ignore-case --glob --regex " +
		"--fixed-strings --absolute-path --relative-path --follow --no-follow --full-path --print0 --prune --quiet " +
		"--has-results --show-errors --one-file-system --mount --xdev --no-require-git", values: "--and",
		attached: "--strip-cwd-prefix --hyperlink", does: plain},
	{values: "-d -t -e -E -S -o -c -j --max-depth --maxdepth --min-depth --exact-depth --type --extension --exclude " +
		"--size --owner --color --threads --changed-within --newer --change-newer-than --changed-after " +
		"--changed-before --older --change-older-than --max-results --max-buffer-time --batch-size --path-separator",
		does: plain},
	{flags: "-l --list-details", values: "--format", does: plain, why: "prints more than names"},
	{values: "--search-path", does: reads | lead | walks}, {values: "--base-directory -C", does: enters},
	{values: "--ignore-file", does: reads},
}, about: "--help --version"}

// checkFd parses the arguments of fd: a command may follow its options.
func checkFd(u *use) {
	before, commands := fdCommands(u.operands)
	u.program = &fdOptions
	u.arguments = fdOptions.parseArguments(before, false)
	u.judgeOptions()
	if u.onlyInforms() {
		return
	}
	checkWholePattern(u)
	if len(u.searchRoots()) == 0 && !u.has(lead) {
		u.touch(umpire.KindRead, lit("."), accessOf{tree: true})
	}
	roots := u.fdRoots()
	for _, command := range commands {
		u.why = "looks for files and runs a command on them"
		if len(command) > 0 && !looksAtNames(u.w, command[0]) {
			for _, name := range listFdNames(u) {
				revealBelow(u, roots, name)
			}
			revealTails(u, command, "{}", roots)
		}
		walkOnFiles(u, fdPlaces(command), roots, false)
	}
}

// fdRoots returns the folders that fd searches.
func (a *arguments) fdRoots() []word {
	var roots []word
	for _, g := range a.given {
		if g.name == "--search-path" {
			roots = append(roots, g.value)
		}
	}
	if !a.has(lead) {
		roots = append(roots, a.searchRoots()...)
	}
	if len(roots) == 0 {
		return []word{lit(".")}
	}
	return roots
}

// fdCommands splits arguments at the options that begin a command, which ends at a semicolon.
func fdCommands(args []word) (options []word, commands [][]word) {
	for i := 0; i < len(args); i++ {
		name, value, attached := args[i].after("=")
		var command []word
		switch {
		case scan.HasField("--exec --exec-batch", name) && attached:
			command = append(command, value)
		case scan.HasField("--exec --exec-batch -x -X", name):
		case execCluster(args[i].text):
			options = append(options, lit(args[i].text[:len(args[i].text)-1]))
		default:
			options = append(options, args[i])
			continue
		}
		for i++; i < len(args) && args[i].text != ";"; i++ {
			command = append(command, args[i])
		}
		commands = append(commands, command)
	}
	return options, commands
}

// fdPlaces replaces the placeholders of fd with unknown text, and appends the path if there are
// none.
func fdPlaces(command []word) []word {
	out := make([]word, 0, len(command)+1)
	placed := false
	for _, wd := range command {
		for _, part := range [...]string{"{/}", "{//}", "{.}", "{/.}"} {
			if before, _, found := wd.after(part); found {
				wd, placed = word{text: before, open: true}, true
			}
		}
		placed = placed || strings.Contains(wd.text, "{}")
		out = append(out, wd)
	}
	if !placed {
		out = append(out, lit("{}"))
	}
	return out
}

// execCluster reports whether the last of several clustered letters begins a command.
func execCluster(text string) bool {
	if len(text) < 2 || text[0] != '-' || text[1] == '-' || strings.ContainsAny(text[1:len(text)-1], "dteESoc=jCxX") {
		return false
	}
	return text[len(text)-1] == 'x' || text[len(text)-1] == 'X'
}

// fdPaths returns the output of fd.
func fdPaths(u *use, _ flow) flow {
	if _, commands := fdCommands(u.words[1:]); len(commands) > 0 || u.got("-l", "--base-directory") != nil {
		return foreignFlow(u.program0())
	}
	return spelledPaths(pathsBelow(u.fdRoots(), u.program0()), u.fdRoots(), listFdNames(u))
}
