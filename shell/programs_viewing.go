package shell

import (
	"cmp"
	"path"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// viewing are the programs that print files and folders.
var viewing = []program{
	// safe: cat a
	// asks: cat /etc/shadow
	{names: "cat gcat", risk: umpire.Safe, why: "prints files", args: "read…", lax: true, out: copies},
	// safe: tac a
	// asks: tac /etc/shadow
	{names: "tac", risk: umpire.Safe, why: "prints files backwards", args: "read…", lax: true, out: passes,
		about: aboutItself, opts: []option{{values: "-s --separator", does: plain}}},
	// safe: nl a
	// asks: nl /etc/shadow
	{names: "nl", risk: umpire.Safe, why: "numbers lines", args: "read…", lax: true, about: aboutItself, opts: []option{
		{values: "-b -d -f -h -i -l -n -s -v -w --body-numbering --section-delimiter --footer-numbering " +
			"--header-numbering --line-increment --join-blank-lines --number-format --number-separator " +
			"--starting-line-number --number-width", does: plain},
	}},
	// safe: head -n 5 a
	// asks: head /etc/shadow
	{
		names: "head ghead", risk: umpire.Safe, why: "prints the beginning of files", args: "read…", lax: true,
		about: aboutItself, opts: []option{
			{flags: "-q -v -z --quiet --silent --verbose --zero-terminated"}, {flags: "-0 -1 -2 -3 -4 -5 -6 -7 -8 -9"},
			{values: "-n --lines -c --bytes", does: plain},
		},
		out: passes,
	},
	// safe: tail -n +5 a
	// asks: tail /etc/shadow
	{
		names: "tail gtail", risk: umpire.Safe, why: "prints the end of files", args: "read…", lax: true,
		about: aboutItself, opts: []option{
			{flags: "-q -v -z -f -F -r --quiet --silent --verbose --zero-terminated --retry", attached: "--follow",
				does: plain},
			{flags: "-0 -1 -2 -3 -4 -5 -6 -7 -8 -9"},
			{values: "-n --lines -c --bytes -b -s --sleep-interval --pid --max-unchanged-stats", does: plain},
		},
		out: passes,
	},
	// safe: less +/x a
	// asks: less +!id a
	{
		names: "less", risk: umpire.Safe, why: "shows files", args: "read…", check: checkPager, out: passes,
		about: aboutItself, opts: []option{
			{flags: "-a -A -c -C -d -e -E -f -F -g -G -i -I -J -K -L -m -M -n -N -q -Q -r -R -s -S -u -U -V -w -W -X " +
				"-~ -? -0 -1 -2 -3 -4 -5 -6 -7 -8 -9"},
			{values: "-b -h -j -p -P -x -y -z -D -#", does: plain},
			{values: "-o -O --log-file --LOG-FILE", does: writes, why: "writes a log"},
			{values: "-k --lesskey-file --lesskey-src --lesskey-content --lesskey-context", does: obeys,
				why: "obeys a file of key bindings, which can run commands"},
			{values: "-T --tag-file", does: reads},
			{values: "-t --tag", does: asks, consequence: harmless, why: "shows the file that a list of tags names"},
			{flags: "--wordwrap", values: "--pattern --prompt --tabs --jump-target --color --window --buffers " +
				"--max-back-scroll --max-forw-scroll --shift --header --rscroll", does: plain},
			{flags: "--use-color --raw-control-chars --RAW-CONTROL-CHARS --no-init --quit-if-one-screen " +
				"--quit-at-eof --QUIT-AT-EOF --chop-long-lines --line-numbers --LINE-NUMBERS --squeeze-blank-lines " +
				"--ignore-case --IGNORE-CASE --quiet --silent --QUIET --no-lessopen --long-prompt --LONG-PROMPT " +
				"--mouse --incsearch --clear-screen --force --quit-on-intr --status-column --tilde " +
				"--underline-special --UNDERLINE-SPECIAL --exit-follow-on-close --no-keypad --no-histdups " +
				"--follow-name --search-skip-screen --file-size", values: "--intr", does: plain},
		},
	},
	// safe: more a
	// asks: more /etc/shadow
	{
		names: "more", risk: umpire.Safe, why: "shows files", args: "read…", check: checkPager, out: passes,
		about: aboutItself, opts: []option{
			{flags: "-d -l -e -f -p -c -s -u -i -b -t -v -w -z -V -0 -1 -2 -3 -4 -5 -6 -7 -8 -9 --silent --logical " +
				"--exit-on-eof --no-pause --print-over --clean-print --squeeze --plain"},
			{values: "-n --lines", does: plain},
		},
	},
	// safe: most README.md
	// asks: most +x README.md
	{names: "most", risk: umpire.Safe, why: "shows files", args: "read…", check: checkPager, out: passes,
		about: aboutItself, opts: []option{{flags: "-1 -4 -b -C -d -M -r -R -k -s -t -u -v -w -z"}}},
	// safe: bat -p a
	// asks: bat --pager=./x a
	{
		names: "bat batcat", risk: umpire.Safe, why: "prints files", args: "read…", check: checkBat, out: passes,
		about: "--help --version -h -V --config-file --config-dir --cache-dir --diagnostic", opts: []option{
			{values: "--pager", does: runs},
			{flags: "-p -P -n -A -S -f -u -d -s --plain --number --show-all --list-languages --list-themes " +
				"--no-pager --force-colorization --unbuffered --diff --squeeze-blank --chop-long-lines --no-config " +
				"--acknowledgements --set-terminal-title", values: "--line-range --strip-ansi --completion",
				does: plain},
			{values: "-l -r -H -m --language --highlight-line --file-name --diff-context --tabs --wrap " +
				"--terminal-width --color --italic-text --decorations --paging --map-syntax --ignored-suffix --theme " +
				"--theme-dark --theme-light --style --nonprintable-notation --squeeze-limit --binary", does: plain},
		},
	},
	// safe: wc -l a
	// asks: wc --files0-from=/etc/shadow
	{names: "wc", risk: umpire.Safe, why: "counts", args: "read…", lax: true, out: countsInput,
		about: aboutItself, opts: []option{{values: "--files0-from", does: reads}, {values: "--total", does: plain}}},
	// safe: ls -la
	// safe: ls -S sub/*.go | xargs cat
	// asks: ls /root
	// safe: ls | fzf --filter foo
	// asks: ls | fzf
	// asks: ls | fzf -f a --bind start:x
	{
		names: "ls gls dir vdir", peeks: true, risk: umpire.Safe, why: "lists folders", args: "read…", lax: true,
		out: lists, about: aboutItself, opts: []option{
			{flags: "-d --directory"},
			{flags: "-a -A -b -B -c -C -D -f -F -g -G -h -H -i -k -l -L -m -n -N -o -p -q -Q -r -s -S -t -u -U -v -x " +
				"-X -Z -1 -O -e -P -@"},
			{flags: "-R --recursive", does: walks}, {flags: "-I -w -T"},
			{values: "--ignore --hide --block-size --time-style --sort --time --format --width --tabsize " +
				"--quoting-style --indicator-style", does: plain},
			{flags: "--almost-all --reverse"},
			{flags: "--all --size --inode --file-type --context --full-time --author --zero",
				attached: "--color --hyperlink --classify", does: plain},
		},
	},
	// safe: eza -l
	// asks: eza /root
	{names: "eza", risk: umpire.Safe, why: "lists folders", args: "read…", lax: true, opts: []option{
		{flags: "-X --group-directories-first",
			values:   "-L -s -I -t -w --level --sort --ignore-glob --time --time-style --width --color --colour",
			attached: "--icons --absolute", does: plain},
		{flags: "-R -T --recurse --tree", does: walks},
	}, about: aboutItself},
	// safe: exa -T src
	// asks: exa /etc
	{names: "exa", risk: umpire.Safe, why: "lists folders", args: "read…", lax: true, opts: []option{
		{values: "-L -s -I -t --level --sort --ignore-glob --time --time-style --color --colour", does: plain},
		{flags: "-R -T --recurse --tree", does: walks},
	}, about: aboutItself},
	// safe: lsd -l
	// asks: lsd --surprise
	{names: "lsd", peeks: true, risk: umpire.Safe, why: "lists folders", args: "read…", opts: []option{
		{flags: "-a -A -F -l -1 -h -d -g -L -t -S -G -X -U -r -v -i -N -Z -V --all --almost-all --classify --long " +
			"--oneline --human-readable --directory-only --git --dereference --timesort --sizesort --gitsort " +
			"--extensionsort --versionsort --no-sort --reverse --inode --literal --no-symlink --total-size --classic " +
			"--header --context", attached: "--group-dirs --hyperlink", does: plain},
		{flags: "-R -T --recursive --tree", does: walks},
		{values: "-I --ignore-glob --depth --color --icon --icon-theme --permission --size --date --sort --blocks",
			does: plain},
		{flags: "--ignore-config"}, {values: "--config-file", does: reads},
	}, about: aboutItself},
	// safe: tree -L 2
	// asks: tree -o out
	{
		names: "tree", peeks: true, risk: umpire.Safe, why: "lists folders", args: "tree…", check: checkTreeRoot,
		about: aboutItself, opts: []option{
			{flags: "-a -d -f -i -l -x -q -N -Q -p -s -u -h -D -F -v -t -c -r -U -n -C -A -S -X -J -g --gitignore " +
				"--ignore-case --matchdirs --metafirst --noreport --prune --du --si --dirsfirst --filesfirst " +
				"--inodes --device --nolinks --info --condense --fflinks --opt-toggle", values: "--compress",
				does: plain},
			{flags: "--hyperlink", values: "-L -P -I -H -T --filelimit --charset --timefmt --sort --scheme --authority",
				does: plain},
			{flags: "--fromfile --fromtabfile"}, {values: "--gitfile --infofile --hintro --houtro", does: reads},
			{values: "-o --output", does: writes, why: "writes its list to a file"},
			{flags: "-R", does: asks, consequence: reversible, why: "may write a file in every folder"},
		},
	},
	// safe: stat a
	// asks: stat /etc/shadow
	{names: "stat gstat", peeks: true, risk: umpire.Safe, why: "tells about files", args: "read…", lax: true,
		about: aboutItself, opts: []option{{values: "-c --format --printf --cached", does: plain}, {flags: "-t"}}},
	// safe: file a
	// asks: file -m magic a
	{names: "file", risk: umpire.Safe, why: "tells what files are", args: "read…", about: aboutItself, opts: []option{
		{flags: "-b -c -i -E -h -k -L -l -N -n -p -r -s -S -v -0 -d --brief --mime --mime-type --mime-encoding " +
			"--keep-going --dereference --no-dereference --extension --apple --list --no-pad --no-buffer --print0 " +
			"--raw --special-files --preserve-date --checking-printout --no-sandbox --debug"},
		{flags: "-I"}, {values: "-e -F -P --exclude --exclude-quiet --separator --parameter", does: plain},
		{values: "-f --files-from", does: reads},
		{values: "-m -M --magic-file", does: reads | obeys, why: "obeys a file of patterns"},
		{flags: "-C --compile", does: asks, consequence: reversible, why: "writes a file of patterns"},
		{flags: "-z -Z --uncompress --uncompress-noreport", does: asks, consequence: lost,
			why: "runs programs that uncompress"},
	}},
	// safe: du -sh .
	// asks: du /root
	{
		names: "du gdu", peeks: true, risk: umpire.Safe, why: "counts the size of folders", args: "tree…", lax: true,
		check: checkTreeRoot, about: aboutItself, opts: []option{
			{values: "-X --exclude-from", does: reads}, {values: "--files0-from", does: reads},
			{values: "-d -B -t -I --max-depth --block-size --threshold --exclude --time-style", attached: "--time",
				does: plain},
		},
	},
	// safe: df -h .
	// asks: df > /etc/x
	// safe: df -h /
	{
		names: "df", peeks: true, risk: umpire.Safe, why: "tells the size of file systems", args: "data…", lax: true,
		about: aboutItself, opts: []option{
			{values: "-B -t -x --block-size --type --exclude-type", attached: "--output", does: plain},
		},
	},
	// safe: basename a/b
	// asks: basename x > ../y
	{names: "basename", risk: umpire.Safe, why: "cuts a name", args: "data…", lax: true,
		about: aboutItself, opts: []option{{values: "-s --suffix", does: plain}}, out: cutsName},
	// safe: dirname a/b
	// asks: dirname x > ../y
	{names: "dirname", risk: umpire.Safe, why: "cuts a name", args: "data…", lax: true,
		about: aboutItself, out: cutsName},
	// safe: realpath a
	// asks: realpath /root
	{names: "realpath grealpath", peeks: true, risk: umpire.Safe, why: "follows links", args: "read…", lax: true,
		about: aboutItself, opts: []option{{values: "--relative-to --relative-base", does: reads}}},
	// safe: readlink -f src
	// asks: readlink -f /etc/motd
	{names: "readlink greadlink", peeks: true, risk: umpire.Safe, why: "follows links", args: "read…", lax: true,
		about: aboutItself},
}

// copies returns the output of a program that copies its whole input.
func copies(u *use, in flow) flow {
	if len(u.operands) == 0 && len(u.given) == 0 {
		return in
	}
	return passes(u, in)
}

// passes returns the output of a program that passes on lines of its input.
func passes(u *use, in flow) flow {
	if len(u.operands) == 0 {
		return pickedFlow(in, u.program0())
	}
	return foreignFlow(u.program0())
}

// countsInput returns the output of wc: numbers, without the name of a file.
func countsInput(u *use, _ flow) flow {
	if len(u.operands) == 0 && u.got("--files0-from") == nil {
		return numberFlow(u.program0())
	}
	return u.printedFlow()
}

// plainListing are the options with which ls prints only names.
const plainListing = "-1 -A -b -c -d -r -S -t -u -U -v -X --almost-all --reverse --directory"

// lists returns the output of ls: names in the working directory and below its operands.
func lists(u *use, _ flow) flow {
	for _, g := range u.given {
		if !scan.HasField(plainListing, g.name) {
			return foreignFlow(u.program0())
		}
	}
	roots := u.operands
	if len(roots) == 0 || u.got("-d") == nil {
		roots = append([]word{{}}, roots...) // names alone, of the working directory
	}
	out := pathsBelow(roots, u.program0())
	if u.gave("-A") && out.kind == flowPaths {
		out.dirs = append(out.dirs, word{text: ".*", glob: true})
	}
	return out
}

// pathsBelow returns a list of files below the roots. A wildcard stands for its matches, below
// the folder before it.
func pathsBelow(roots []word, program string) flow {
	out := flow{kind: flowPaths, from: program}
	for _, root := range roots {
		if root.unplaced() {
			return foreignFlow(program)
		}
		dir := folderBeforeGlob(root)
		dir.picked, dir.listed = root.picked, root.listed
		out.dirs = append(out.dirs, dir)
		if root.glob && spelledName(root.text, false) != "" {
			out.dirs = append(out.dirs, root)
		}
	}
	return out
}

// folderBeforeGlob returns the folder of a word before its first wildcard.
func folderBeforeGlob(wd word) word {
	i := strings.IndexAny(wd.text, "*?[")
	if !wd.glob || i < 0 {
		return wd
	}
	dir := wd.text[:strings.LastIndexByte(wd.text[:i], '/')+1]
	return lit(cmp.Or(dir, "."))
}

// cutsName returns the output of basename and dirname for one name, and of basename for a name
// and its ending.
func cutsName(u *use, _ flow) flow {
	names := u.operands
	ending := word{}
	if len(names) == 2 && u.program.name() == "basename" {
		names, ending = names[:1], names[1]
	}
	if u.program.name() == "dirname" && len(u.given) == 0 && len(names) == 1 && names[0].under {
		return foldersOf(names[0])
	}
	if len(names) != 1 || len(u.given) > 0 || !names[0].known() || !ending.known() || names[0].text == "" {
		return foreignFlow(u.program0())
	}
	if u.program.name() == "dirname" {
		return flow{kind: flowText, text: folderOf(names[0].text) + "\n"}
	}
	name := path.Base(names[0].text)
	if name != ending.text {
		name = strings.TrimSuffix(name, ending.text)
	}
	return flow{kind: flowText, text: name + "\n"}
}

// foldersOf returns the output of dirname for a path below a folder: a path below that folder's
// parent.
func foldersOf(name word) flow {
	if path.IsAbs(name.text) || strings.Contains(name.text, "..") {
		return foreignFlow("dirname")
	}
	return flow{kind: flowPaths, dirs: []word{{text: path.Dir(path.Clean("./" + name.text))}}}
}

// folderOf returns a path without its last element. It does not clean the path, because ".."
// after a link may lead elsewhere.
func folderOf(name string) string {
	name = strings.TrimRight(name, "/")
	if name == "" {
		return "/"
	}
	i := strings.LastIndexByte(name, '/')
	if i < 0 {
		return "."
	}
	return cmp.Or(strings.TrimRight(name[:i], "/"), "/")
}

// checkPager judges a pager's initial commands: +10 and +/text move, others may run a program.
func checkPager(u *use) {
	kept := u.operands[:0:0]
	for _, operand := range u.operands {
		command, ok := strings.CutPrefix(operand.text, "+")
		if !ok {
			kept = append(kept, operand)
			continue
		}
		place := strings.Trim(command, "0123456789")
		jumps := place == "" || place == "G" || place == "g" || place == "F" ||
			command[0] == '/' && !strings.ContainsAny(command, "\n\r")
		if operand.open || !jumps {
			u.raise(umpire.Medium, umpire.Say("runs the pager's command %s", operand.display()))
		}
	}
	u.operands = kept
}

// checkBat judges `bat cache`, which changes bat's configuration.
func checkBat(u *use) {
	if len(u.operands) > 0 && u.operands[0].text == "cache" {
		u.raise(umpire.Medium, "changes the cache of bat")
	}
}

// checkTreeRoot adds the working directory if no folder is named.
func checkTreeRoot(u *use) {
	lists := u.gave("--fromfile", "--fromtabfile")
	if len(u.operands) == 0 && u.got("--files0-from") == nil && !lists {
		u.touch(umpire.KindRead, lit("."), accessOf{tree: true})
	}
	if lists { // its operands are lists, whose lines it prints
		u.touchAll(umpire.KindRead, u.operands, accessOf{inside: true})
		u.operands = nil
	}
}
