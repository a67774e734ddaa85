package shell

import (
	"encoding/base64"
	"strings"

	"github.com/umpirehq/umpire"
)

// reckoners are programs that calculate, encode or show the contents of a file, and change
// nothing.
var reckoners = []program{
	// safe: bc < a
	// asks: bc --surprise
	{names: "bc", risk: umpire.Safe, why: "calculates", args: "read…", about: "-v -h --version --help", opts: []option{
		{flags: "-i -l -q -s -w"}, {flags: "--interactive --mathlib --quiet --standard --warn"},
	}},
	// safe: dc -e '1 2 + p'
	// asks: dc -e '!id'
	{names: "dc", risk: umpire.Safe, why: "calculates", check: checkDc,
		about: "-V -h --version --help", opts: []option{{values: "-e --expression", does: plain}}},
	// safe: base64 a
	// asks: base64 /etc/shadow
	{names: "base64 base32", risk: umpire.Safe, why: "encodes or decodes", args: "read…", out: decodes, opts: []option{
		{flags: "-d -D -i", values: "-w", does: plain},
		{flags: "--decode --ignore-garbage", values: "--wrap", does: plain},
	}, about: aboutItself},
	// safe: basenc --base16 a
	// asks: basenc --base16 /etc/shadow
	{names: "basenc", risk: umpire.Safe, why: "encodes or decodes", args: "read…", about: aboutItself, opts: []option{
		{flags: "-d -i", values: "-w", does: plain},
		{flags: "--base64 --base64url --base32 --base32hex --base16 --base2lsbf --base2msbf --z85 --decode " +
			"--ignore-garbage", values: "--wrap", does: plain},
	}},
	// safe: zless a.gz
	// asks: zless /etc/shadow
	{names: "zless zmore", risk: umpire.Safe, why: "prints files", args: "read…", check: checkPager,
		about: aboutItself},
	// safe: rpm2cpio a.rpm
	// asks: rpm2cpio /etc/a.rpm
	{names: "rpm2cpio", risk: umpire.Safe, why: "prints files", args: "read…", about: aboutItself},
	// safe: difft a b
	// asks: difft --no-such a
	{names: "difft", risk: umpire.Safe, why: "compares files", args: "read…", about: aboutItself},
	// safe: zdiff a.gz b.gz
	// asks: zdiff a.gz /etc/shadow
	{names: "zdiff zcmp bzdiff bzcmp xzdiff xzcmp", risk: umpire.Safe, why: "compares files", args: "read…",
		about: aboutItself, opts: []option{{flags: "-u -q -c -s -w -i -b"}}},
	// safe: zipnote a.zip
	// asks: zipnote -w a.zip
	{names: "zipnote", risk: umpire.Safe, why: "prints the notes of an archive", args: "read…", about: "-h"},
	// safe: csvlook a.csv
	// asks: csvlook /etc/shadow
	{names: "csvlook csvcut csvstat", risk: umpire.Safe, why: "prints parts of a table", args: "read…", opts: []option{
		{flags: "-t -n -H -l", values: "-c -d -q", does: plain},
		{flags: "--tabs --names --no-header-row --linenumbers", values: "--columns --delimiter", does: plain},
	}, about: aboutItself},
	// safe: csvgrep -c 1 -m x a.csv
	// asks: csvgrep -f /etc/shadow a.csv
	{names: "csvgrep", risk: umpire.Safe, why: "prints parts of a table", args: "read…", opts: []option{
		{flags: "-t -n -H -l -i -a", values: "-c -d -m -r", does: plain},
		{flags: "--tabs --names --invert-match --any-match", values: "--columns --delimiter --match --regex",
			does: plain},
		{values: "-f --file", does: reads},
	}, about: aboutItself},
	// safe: duf
	// asks: duf --surprise
	{names: "duf dust", peeks: true, risk: umpire.Safe, why: "prints how much space is taken", args: "read…",
		about: aboutItself},
	// safe: lslocks
	// asks: lslocks --surprise
	{names: "lslocks lslogins", risk: umpire.Safe, why: "lists locks or users", args: "data…",
		about: aboutItself, opts: []option{{flags: "-n -J", values: "-o", does: plain}}},
	// safe: shfmt -d a.sh
	// asks: shfmt -w a.sh
	{names: "shfmt", risk: umpire.Safe, why: "prints formatted shell code", style: words, args: "tree…", opts: []option{
		{flags: "-d --diff -l --list -f --find -s --simplify -bn --binary-next-line -ci --case-indent -sr " +
			"--space-redirects -fn --func-next-line -p --posix", values: "-i --indent -ln --language-dialect",
			does: plain},
		{flags: "-w --write", does: edits | asks, consequence: reversible, why: changesSources},
	}, about: "-version --version -h --help"},
	// asks: fzf
	// asks: fzf --filter foo --preview x
	{names: "fzf", risk: umpire.Medium, consequence: lost, why: "can start programs", check: checkFzf, opts: []option{
		{values: "-f --filter", does: plain},
		{flags: "-e -i -x -0 --exact --no-sort --tac --read0 --print0",
			values: "-n --nth -d --delimiter --algo --scheme --tiebreak", does: plain},
	}, about: "--version --help"},
	{
		names: "ffmpeg pandoc convert magick identify mogrify zoxide mlr exiftool", risk: umpire.Medium,
		consequence: reversible, why: "can write files or start programs", style: words,
		about: "-version --version -help --help",
	},
}

// checkFzf allows fzf to filter its input. All other uses draw on the terminal and can start
// programs.
func checkFzf(u *use) {
	if u.got("--filter") != nil && u.in.kind != flowNone && len(u.operands) == 0 {
		u.onlyShows("prints the lines that match")
	}
}

// checkDc judges the code given to dc: ! starts a program, ? and x run code that is read or
// assembled.
func checkDc(u *use) {
	given := len(u.operands) > 0
	for _, g := range u.given {
		if g.means("-e") {
			given = true
			judgeDcCode(u, g.value.text, g.value.known())
		}
	}
	switch {
	case len(u.operands) > 0:
		u.raise(umpire.Medium, umpire.Say(RunsCodeOf, u.operands[0].display()))
	case !given:
		judgeDcCode(u, u.in.text, u.in.kind == flowText)
	}
}

func judgeDcCode(u *use, text string, known bool) {
	if !known || strings.Trim(text, "0123456789. \n\t+-*/%^~|v_pnfcdrzkoiKOI") != "" {
		u.raise(umpire.Medium, "runs code of dc that is not plain arithmetic")
	}
}

// decodes returns the output of base64 -d for known text.
func decodes(u *use, in flow) flow {
	if u.program0() != "base64" || !u.gave("-d", "-D", "--decode") || len(u.operands) > 0 || in.kind != flowText {
		return foreignFlow(u.program0())
	}
	text, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(in.text), ""))
	if err != nil {
		return foreignFlow(u.program0())
	}
	return flow{kind: flowText, text: string(text)}
}
