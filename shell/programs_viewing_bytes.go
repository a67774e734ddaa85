package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// comparing are the programs that show bytes, sums and differences of files.
var comparing = []program{
	// safe: sha256sum a
	// asks: md5sum /etc/shadow
	{names: "md5sum sha1sum sha224sum sha256sum sha384sum sha512sum", risk: umpire.Safe, why: countsSums, args: "read…",
		lax: true, about: aboutItself},
	// safe: b2sum a
	// asks: b2sum /etc/motd
	{names: "b2sum", risk: umpire.Safe, why: countsSums, args: "read…", lax: true,
		about: aboutItself, opts: []option{{values: "-l --length", does: plain}}},
	// safe: cksum -a sha256 a
	// asks: cksum /etc/motd
	{names: "cksum", risk: umpire.Safe, why: countsSums, args: "read…", lax: true,
		about: aboutItself, opts: []option{{values: "-a --algorithm -l --length -o", does: plain}}},
	// safe: sum a
	// asks: sum /etc/motd
	{names: "sum", risk: umpire.Safe, why: countsSums, args: "read…", lax: true, about: aboutItself},
	// safe: shasum -a 256 a
	// asks: shasum /etc/motd
	{names: "shasum", risk: umpire.Safe, why: countsSums, args: "read…", lax: true,
		about: aboutItself, opts: []option{{values: "-a --algorithm", does: plain}}},
	// safe: b3sum a
	// asks: b3sum /etc/motd
	{names: "b3sum", risk: umpire.Safe, why: countsSums, args: "read…", about: "-h -V " + aboutItself, opts: []option{
		{values: "-l --length --seek --num-threads", does: plain},
		{flags: "-c --check --raw --no-mmap --no-names --quiet --tag"},
	}},
	// safe: md5 -q a
	// asks: md5 /etc/motd
	{names: "md5 sha1 sha256 sha512", risk: umpire.Safe, why: countsSums, args: "read…",
		opts: []option{{flags: "-q -r -t -x"}, {values: "-s -c", does: plain}}},
	// safe: crc32 a
	// asks: crc32 /etc/motd
	{names: "crc32", risk: umpire.Safe, why: countsSums, args: "read…"},
	// safe: xxhsum a
	// asks: xxhsum --filelist=list
	{names: "xxhsum xxh64sum xxh128sum", risk: umpire.Safe, why: countsSums, args: "read…", opts: []option{
		{flags: "-c -q -w --check --quiet --strict --status --warn --ignore-missing --little-endian --tag --binary"},
		{attached: "-H", does: plain},
		{attached: "--files-from --filelist", does: reads | asks, consequence: lost,
			why: "reads the files that a file names"},
	}, about: "-h -V " + aboutItself},
	// safe: od -c a
	// asks: od /etc/shadow
	{names: "od", risk: umpire.Safe, why: "prints bytes", args: "read…", lax: true, about: aboutItself, opts: []option{
		{values: "-A -j -N -S -t --address-radix --skip-bytes --read-bytes --format --endian",
			attached: "-w --strings --width", does: plain},
	}},
	// safe: xxd a
	// asks: xxd -r a b
	{names: "xxd", risk: umpire.Safe, why: "prints bytes", args: "read write", style: bare, check: checkXxd},
	// safe: hexdump -C a
	// asks: hexdump /etc/shadow
	{names: "hexdump hd", risk: umpire.Safe, why: "prints bytes", args: "read…", lax: true, opts: []option{
		{values: "-e -n -s --format --length --skip", attached: "-L --color", does: plain},
		{values: "-f --format-file", does: reads},
	}, about: aboutItself},
	// safe: strings a
	// asks: strings @list
	{
		names: "strings", risk: umpire.Safe, why: "prints the text in files", args: "read…", lax: true,
		check: checkObjects, about: aboutItself, opts: []option{
			{values: "-n -t -e -s -T -U --bytes --radix --encoding --output-separator --target --unicode", does: plain},
		},
	},
	// safe: diff -u a b
	// asks: diff a /etc/shadow
	{names: "diff gdiff", risk: umpire.Safe, why: "compares files", args: "read…", lax: true, opts: []option{
		{flags: "-r --recursive", does: walks}, {values: "-X --exclude-from --from-file --to-file", does: reads},
		{values: "-U -C -W -x -I -F -S -L -D --exclude --ignore-matching-lines --show-function-line --starting-file " +
			"--label --width --ifdef --horizon-lines --tabsize --palette --line-format --old-line-format " +
			"--new-line-format --unchanged-line-format --old-group-format --new-group-format " +
			"--unchanged-group-format --changed-group-format", attached: "--color --unified --context", does: plain},
	}, about: aboutItself},
	// safe: colordiff a b
	// asks: colordiff --difftype=x --config ./x a b
	{names: "colordiff", risk: umpire.Safe, why: "compares files", args: "read…", about: aboutItself, opts: []option{
		{flags: "-r --recursive", does: walks},
		{flags: "-a -b -B -d -E -i -l -N -p -q -s -t -T -u -w -y -c --brief --text --minimal --new-file " +
			"--side-by-side --ignore-case --ignore-all-space --ignore-space-change --ignore-blank-lines " +
			"--report-identical-files --suppress-common-lines", attached: "--unified --context --color", does: plain},
		{values: "-U -C -W --width --label --difftype", does: plain},
	}},
	// safe: sdiff a b
	// asks: sdiff --diff-program=./x a b
	{names: "sdiff", risk: umpire.Safe, why: "compares files", args: "read…", about: aboutItself, opts: []option{
		{flags: "-i -E -Z -b -W -B -a -l -t -s -d -H -v --ignore-case --ignore-tab-expansion --ignore-trailing-space " +
			"--ignore-space-change --ignore-all-space --ignore-blank-lines --strip-trailing-cr --text --left-column " +
			"--suppress-common-lines --expand-tabs --minimal --speed-large-files"},
		{values: "-I -w --ignore-matching-lines --width --tabsize", does: plain},
		{values: "-o --output", does: writes},
		{values: "--diff-program", does: runs},
	}},
	// safe: diff3 a b c
	// asks: diff3 --diff-program=./x a b c
	{names: "diff3", risk: umpire.Safe, why: "compares files", args: "read…", about: aboutItself, opts: []option{
		{flags: "-A -e -E -x -X -3 -i -m -a -T -v --show-all --ed --show-overlap --overlap-only --easy-only --merge " +
			"--text --strip-trailing-cr --initial-tab"},
		{values: "-L --label", does: plain}, {values: "--diff-program", does: runs},
	}},
	// safe: cmp a b
	// asks: cmp a /etc/shadow
	{names: "cmp", risk: umpire.Safe, why: "compares files", args: "read read data…", lax: true,
		about: aboutItself, opts: []option{{values: "-i -n --ignore-initial --bytes", does: plain}}},
	// safe: comm a b
	// asks: comm a /etc/shadow
	{names: "comm", risk: umpire.Safe, why: "compares sorted files", args: "read…", lax: true,
		about: aboutItself, opts: []option{{values: "--output-delimiter", does: plain}}},
}

// The options of xxd, which compares only their beginnings.
const (
	xxdFlags = "-a -autoskip -b -bits -C -capitalize -d -e -E -EBCDIC -i -include -p -ps -plain -postscript -r " +
		"-revert -u -uppercase -v -version -h -help --help --version"
	xxdValues = "-c -cols -g -group -groupsize -l -len -n -name -o -offset -R -s -seek -skip"
)

// checkXxd sorts the arguments of xxd; it writes the second operand.
func checkXxd(u *use) {
	args := u.takeOperands()
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg.open && arg.text == "":
			u.doubt = doubtOption
			u.operands = append(u.operands, arg)
		case !strings.HasPrefix(arg.text, "-") || arg.text == "-":
			u.operands = append(u.operands, arg)
		case scan.HasField(xxdValues, arg.text) && arg.known():
			i++
		case !scan.HasField(xxdFlags, arg.text) && !xxdNumber(arg):
			u.raise(umpire.Medium, unjudgedOption(arg.display(), "xxd"))
		}
	}
}

// xxdNumber reports whether an option has its number attached, such as -c16 or -s-0x10.
func xxdNumber(arg word) bool {
	if len(arg.text) < 3 || !strings.ContainsAny(arg.text[1:2], "cglos") {
		return false
	}
	return strings.Trim(arg.text[2:], "0123456789abcdefxABCDEF+-") == "" &&
		!strings.ContainsAny(arg.text[2:3], "abcdefxABCDEF")
}

const countsSums = "computes sums"
