package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
)

// editors change files and run commands at will; without a terminal they follow their options.
var editors = []program{
	// asks: vi a
	{
		names: "vi vim nvim view vimdiff nvimdiff gvim mvim ex rvim vimtutor", risk: umpire.Medium, consequence: lost,
		why: "edits files, and runs what its commands say", args: "write…", check: checkVi,
		about: "--version --help -h", opts: []option{
			{flags: "-e -E -s -R -n -N -b -d -H -v -y -Z -g -f -m -M -p -O -o -l -L -A -C -D -F -X -0 -1 -2 -3 -4 -5 " +
				"-6 -7 -8 -9 --clean --noplugin --headless --literal --nofork", attached: "-V"},
			{values: "-c --cmd -T -q -i -t -W -P"},
			{values: "-S -u -U", does: reads | obeys, why: "runs a script of the editor"},
			{values: "-w", does: writes}, {values: "--startuptime", does: writes},
		},
	},
	{names: "nano pico micro hx helix kak kakoune joe mcedit jed mg ne", risk: umpire.Medium, consequence: reversible,
		why: "edits files", args: "write…", about: "--version --help"},
	{
		names: "emacs emacsclient", every: guessCode, risk: umpire.Medium, consequence: lost,
		why: "edits files, and runs Lisp", args: "write…", style: words, about: aboutItself, opts: []option{
			{flags: "-nw --no-window-system -q --no-init-file -Q --quick --batch -batch -n --no-wait -c " +
				"--create-frame"},
			{values: "-l --load --script -script", does: reads | obeys, why: "runs a file of Lisp"},
			{values: "-e --eval -eval -f --funcall", does: asks, consequence: lost, why: "runs Lisp"},
		},
	},
	{names: "ed red", risk: umpire.Medium, consequence: lost, why: "edits a file, and runs what its commands say",
		args: "write…", check: checkEd, about: aboutItself, opts: []option{{flags: "-s -E -G -l -p -r -v"}}},
	{
		names: "code code-insiders codium cursor subl zed atom gedit kate notepad mate bbedit idea webstorm",
		risk:  umpire.Medium, consequence: reversible, why: "opens an editor", args: "write…",
		about: "--list-extensions --show-versions --version --help -v -h", opts: []option{
			{flags: "-n -d -g -r -w -a --new-window --diff --goto --reuse-window --wait --add --verbose " +
				"--disable-extensions"},
			{values: "--install-extension --uninstall-extension", does: harms, consequence: lost,
				why: "installs or removes code of others"},
		},
	},
	// safe: man ls
	// asks: man -P ./x ls
	{
		names: "man", risk: umpire.Low, why: "shows a manual in a pager", args: "data…", check: checkManual,
		opts: []option{
			{flags: "-k -f -w -W -a -K -d -i -I -u -D -c -7 --apropos --whatis --where --path --location --where-cat " +
				"--all --global-apropos --ignore-case --match-case --regex --wildcard --names-only --no-subpages " +
				"--no-hyphenation --nh --no-justification --nj --update --debug --ascii --catman"},
			{values: "-s -S --sections -e --extension -L --locale -m --systems -E --encoding -R --recode"},
			{flags: "-l --local-file", does: asks, consequence: reversible, why: "formats a file with what it says"},
			{values: "-P --pager", does: runs, why: "runs a program as pager"},
			{attached: "-H --html", does: asks, consequence: lost, why: "starts a browser"},
			{flags: "-t --troff -Z --ditroff", values: "-C --config-file -M --manpath -p --preprocessor -r --prompt",
				attached: "-T --troff-device -X --gxditview", does: obeys},
			{flags: aboutItself, does: shows},
			{flags: "-h -V --usage", does: shows},
		},
	},
	// safe: apropos x
	// asks: apropos -C conf x
	{names: "apropos whatis manpath", risk: umpire.Safe, why: "looks up manuals", lax: true, opts: []option{
		{values: "-C --config-file", does: reads | asks, consequence: lost, why: "obeys another configuration"},
		{values: "-M --manpath", does: reads}, {values: "-m -s -L --systems --sections --locale"},
	}, about: aboutItself},
	// safe: tldr tar
	// asks: tldr --update
	{names: "tldr", risk: umpire.Safe, why: "looks up a short manual", about: aboutItself, opts: []option{
		{flags: "--list -l --no-color -q --quiet --offline", values: "-p -L --platform --language --color"},
		{flags: "-u --update -c --clear-cache", does: asks, consequence: lost, why: "downloads or deletes the manuals"},
	}},
	// safe: info ls
	// asks: info --init-file=x ls
	{names: "info", risk: umpire.Low, why: "shows a manual", args: "data…", check: checkManual, opts: []option{
		{flags: "-a -O -v -w --all --usage --where --location --subnodes",
			values: "-n --apropos -k --index-search --node"},
		{values: "-f --file -d --directory", does: reads},
		{values: "-o --output --dribble", does: writes}, {values: "--init-file --restore", does: obeys},
	}, about: aboutItself},
	{names: "pinfo", risk: umpire.Medium, consequence: reversible,
		why: "shows a manual, and starts programs on its links"},
}

// checkManual records the pages given by their path.
func checkManual(u *use) {
	for _, operand := range u.operands {
		operand = pageFile(operand)
		if strings.Contains(operand.text, "/") || operand.open {
			u.raise(umpire.Medium, "formats a file with what it says")
			u.touch(umpire.KindRead, operand, accessOf{})
		}
	}
}

// pageFile returns the file of an info page written as (file)node.
func pageFile(operand word) word {
	if !strings.HasPrefix(operand.text, "(") {
		return operand
	}
	name, _, closed := operand.cut(1).after(")")
	return word{text: name, open: operand.open && !closed}
}

// checkVi finds shell commands in `-c` and `+`. Commands that begin with `!` are walked; all
// others may have the same effect in other words.
func checkVi(u *use) {
	for _, g := range u.given {
		if g.has && (g.name == "-c" || g.name == "--cmd") {
			judgeExCommand(u, g.value)
		}
	}
	var files []word
	for _, operand := range u.operands {
		if rest, ok := strings.CutPrefix(operand.text, "+"); ok {
			judgeExCommand(u, word{text: rest, open: operand.open})
			continue
		}
		files = append(files, operand)
	}
	u.operands = files
}

// judgeExCommand judges one command of vi.
func judgeExCommand(u *use, command word) {
	u.raise(umpire.Medium, "runs commands of the editor")
	text := strings.TrimLeft(command.text, ": ")
	text = strings.TrimPrefix(strings.TrimPrefix(text, "silent"), "! ")
	if code, ok := strings.CutPrefix(strings.TrimLeft(text, " "), "!"); ok {
		u.then(func() { u.w.walkCode(u.outsideState(), word{text: code, open: command.open}, flow{}) })
	}
}

// checkEd walks the lines of ed's script that begin with `!`.
func checkEd(u *use) {
	if u.in.kind != flowText {
		return
	}
	for line := range strings.Lines(u.in.text) {
		if code, ok := strings.CutPrefix(line, "!"); ok {
			u.then(func() { u.w.walkCode(u.outsideState(), lit(code), flow{}) })
		}
	}
}
