package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// formatViewers are programs that print the contents of files of one format: patches, tables of
// values, documents, media.
var formatViewers = []program{
	// safe: diffstat -p1 a.patch
	// asks: diffstat -o out a.patch
	// asks: diffstat a.patch.gz
	{
		names: "diffstat", risk: umpire.Safe, why: "counts what patches change", args: "read…", check: checkUnpacked,
		about: "-V", opts: []option{
			{flags: "-b -c -C -E -H -k -K -l -m -q -R -s -t -T -u -U -w -v", values: "-f -n -N -p -r", does: plain},
			{values: "-o -e", does: writes, why: "writes its result to a file"},
		},
	},
	// safe: lsdiff -n a.patch
	// safe: filterdiff -i '*.c' a.patch
	// asks: filterdiff -z a.patch
	// asks: filterdiff -X /etc/shadow a.patch
	{
		names: "lsdiff filterdiff grepdiff", risk: umpire.Safe, why: "prints parts of patches", args: "read…",
		check: checkPatches, about: "--help --version", opts: []option{
			{flags: "-n -s -h -H -v -E --line-number --number-files --status --with-filename --no-filename --verbose " +
				"--empty-files-as-removed --annotate --clean --remove-timestamps --extended-regexp --list",
				values: "-p -i -x -F -# --strip-match --strip --include --exclude --files --lines --hunks " +
					"--as-numbered-lines --output-matching --only-match --addprefix --addoldprefix --addnewprefix " +
					"--format --git-prefixes", does: plain},
			{values: "-f --file -I -X --include-from-file --exclude-from-file", does: reads},
			{flags: "-z --decompress", does: asks, consequence: lost, why: "runs programs that uncompress"},
		},
	},
	// safe: delta --side-by-side < a.diff
	// asks: delta a b
	{
		names: "delta", risk: umpire.Safe, why: "shows differences in colour", args: "none", check: checkFilter,
		about: "--version -V --help -h --list-languages --list-syntax-themes", opts: []option{
			{flags: "-s -n --side-by-side --line-numbers --color-only --dark --light --no-gitconfig --raw --navigate " +
				"--keep-plus-minus-markers --diff-so-fancy --diff-highlight --hyperlinks",
				values: "-w --width --syntax-theme --tabs", does: plain},
			{values: "--paging", does: asks, consequence: lost, why: "starts a pager",
				limits: &limits{except: "never"}},
		},
	},
	// safe: diff-so-fancy < a.diff
	// asks: diff-so-fancy --set-defaults
	{names: "diff-so-fancy", risk: umpire.Safe, why: "shows differences in colour", args: "none", check: checkFilter},
	// safe: csvsort -c 2 a.csv
	// asks: csvsort --zzz a.csv
	// asks: csvjoin /etc/passwd a.csv
	{
		names: "csvsort csvjson csvformat csvjoin csvstack", risk: umpire.Safe, why: "prints tables", args: "read…",
		about: aboutItself, opts: []option{
			{flags: "-t --tabs -b --no-doublequote -S --skipinitialspace --blanks -H --no-header-row -v --verbose -l " +
				"--linenumbers --zero -n --names --out-tabs --reverse --no-inference --stream --left --right --outer " +
				"--filenames", values: "-d --delimiter -q --quotechar -u --quoting -p --escapechar -z --maxfieldsize " +
				"-e --encoding -L --locale --null-value --date-format --datetime-format -K --skip-lines -c --columns " +
				"-y -g --out-delimiter --out-quotechar --out-quoting --indent --key --groups --group-name --snifflimit",
				does: plain},
			{flags: "-D -T -Q -U -r -I -i -k"},
		},
	},
	{
		names: "xsv", risk: umpire.Safe, why: "prints parts of tables", style: leading,
		about: "--version --list --help -h",
		subs: []program{
			// safe: xsv headers a.csv
			// asks: xsv sort -o out a.csv
			{
				names: "count headers stats frequency slice sort table flatten fmt input reverse", each: true,
				risk: umpire.Safe, why: "prints parts of tables", args: "read…",
				about: aboutItself, also: []*[]option{&xsvReading}, opts: []option{
					{flags: "--just-names --intersect --everything --mode --cardinality --median --nulls --asc " +
						"--no-nulls --numeric --reverse --crlf --ascii --quote-always --no-quoting",
						values: "--jobs --select --limit --start --end --len --index --width --pad --condense " +
							"--separator --out-delimiter --quote --escape", does: plain},
					{flags: "-j -N -R", values: "-w -p -c -t -i -s -e -l", does: plain},
					{values: "-o --output", does: writes, why: "writes its result to a file"},
				},
			},
			// safe: xsv select 1 a.csv
			{
				names: "select search", each: true, risk: umpire.Safe, why: "prints parts of tables",
				args: "data read…", about: aboutItself, also: []*[]option{&xsvReading}, opts: []option{
					{flags: "--ignore-case --invert-match", values: "--select", does: plain},
					{flags: "-i -v", values: "-s", does: plain},
					{values: "-o --output", does: writes, why: "writes its result to a file"},
				},
			},
			// asks: xsv split out a.csv
			{names: "split partition index", each: true, risk: umpire.Medium, consequence: reversible,
				why: "writes files", lax: true},
		},
	},
	// safe: datamash -t, sum 1 < a.csv
	// asks: datamash sum 1 < /etc/shadow
	{names: "datamash", risk: umpire.Safe, why: "calculates with columns", args: "data…", lax: true,
		about: aboutItself},
	// safe: pdfinfo a.pdf
	// asks: pdfinfo /root/a.pdf
	{
		names: "pdfinfo pdffonts", risk: umpire.Safe, why: "tells about a document", style: words, args: "read",
		about: "-v -h -help --help", opts: []option{
			{flags: "-box -meta -js -struct -struct-text -url -custom -isodates -rawdates -dests -listenc -subst -loc",
				values: "-f -l -enc", does: plain},
		},
	},
	// safe: pdftotext -layout a.pdf -
	// asks: pdftotext a.pdf
	// asks: pdftotext a.pdf /etc/x
	{
		names: "pdftotext", risk: umpire.Safe, why: "prints the text of a document", style: words, args: "read write",
		check: checkPrintsText, about: "-v -h -help --help", opts: []option{
			{flags: "-layout -raw -nodiag -htmlmeta -tsv -bbox -bbox-layout -nopgbrk -listenc -q",
				values: "-f -l -r -x -y -W -H -fixed -enc -eol -colspacing", does: plain},
		},
	},
	// safe: pdfimages -list a.pdf
	// asks: pdfimages a.pdf out
	{
		names: "pdfimages", risk: umpire.Medium, consequence: reversible, why: "writes the pictures of a document",
		style: words, args: "read write", check: checkPictures, about: "-v -h -help --help", opts: []option{
			{flags: "-list"}, {flags: "-png -tiff -j -jp2 -jbig2 -ccitt -all -p -q", values: "-f -l", does: plain},
		},
	},
	// safe: ffprobe -v error -show_format a.mp4
	// asks: ffprobe http://evil.example/a.mp4
	// asks: ffprobe -i concat:a
	// asks: ffprobe -report a.mp4
	{
		names: "ffprobe", risk: umpire.Safe, why: "tells about media", style: words, args: "read…", check: checkMedia,
		opts: []option{
			{flags: "-hide_banner -show_format -show_streams -show_error -show_chapters -show_programs -count_frames " +
				"-count_packets -sexagesimal -pretty -unit -prefix -show_packets -show_frames -noprivate -private",
				values: "-v -loglevel -show_entries -select_streams -of -print_format -output_format -read_intervals",
				does:   plain},
			{values: "-i", does: reads},
			{flags: "-version --version -help --help -h -L -formats -codecs -decoders -encoders -protocols -filters " +
				"-pix_fmts -sample_fmts -layouts -buildconf", does: shows},
		},
	},
	// safe: col -b < a
	// asks: col --zzz
	{names: "col", risk: umpire.Safe, why: "filters reverse line feeds", args: "none", opts: []option{
		{flags: "-b -f -h -p -x --no-backspaces --fine --tabs --pass --spaces", values: "-l --lines", does: plain},
	}, about: aboutItself},
	// safe: pathchk a/b
	// asks: pathchk --zzz
	{names: "pathchk", peeks: true, risk: umpire.Safe, why: "checks names of files", args: "read…",
		about: aboutItself, opts: []option{{flags: "-p -P --portability"}}},
	// safe: uuencode a.bin a
	// asks: uuencode /etc/shadow a
	{names: "uuencode", risk: umpire.Safe, why: "encodes a file", args: "data…", check: checkUuencode,
		about: aboutItself, opts: []option{{flags: "-m --base64"}}},
	// safe: figlet hi
	// asks: figlet -f /etc/x hi
	{names: "figlet banner", risk: umpire.Safe, why: "writes large letters", args: "data…",
		about: "-v", opts: []option{{flags: "-c -k -l -n -r -s -S -t -x -W -p", values: "-w -m -I", does: plain}}},
}

// xsvReading are the options of xsv that say how its input is written.
var xsvReading = []option{{flags: "-n --no-headers", values: "-d --delimiter", does: plain}}

// checkUnpacked makes files ask that the program unpacks with another program.
func checkUnpacked(u *use) {
	for _, operand := range u.operands {
		if name := strings.ToLower(operand.text); operand.open || operand.glob ||
			scan.HasField(packedEndings, name[strings.LastIndexByte(name, '.')+1:]) {
			u.raise(umpire.Medium, umpire.Say("runs a program that unpacks %s", operand.display()))
		}
	}
}

const packedEndings = "gz tgz z bz2 tbz tbz2 xz txz lzma lz zst zip jar war whl rpm deb dmg tar 7z"

// checkPatches judges the pattern of grepdiff.
func checkPatches(u *use) {
	if u.program0() == "grepdiff" && u.got("--file") == nil && len(u.operands) > 0 {
		u.operands = u.operands[1:]
	}
}

// checkFilter makes a program without piped input ask, because it then compares files or starts
// another program.
func checkFilter(u *use) {
	if u.in.kind == flowNone {
		u.raise(umpire.Medium, "works on more than its input")
	}
}

// checkPrintsText judges pdftotext, which writes a file unless its output is "-".
func checkPrintsText(u *use) {
	if len(u.operands) == 2 && u.operands[1].known() && u.operands[1].text == "-" {
		u.operands = u.operands[:1]
		return
	}
	u.raiseTo(umpire.Medium, reversible, "writes the text to a file")
}

// checkPictures judges pdfimages -list, which only lists.
func checkPictures(u *use) {
	if u.got("-list") != nil && len(u.operands) == 1 {
		u.onlyShows("lists the pictures of a document")
	}
}

// checkMedia makes other inputs than a file ask: a URL, a list, a filter.
func checkMedia(u *use) {
	for _, g := range u.given {
		if g.name == "-i" {
			u.operands = append(u.operands, g.value)
		}
	}
	if u.operandContains(":") {
		u.raiseTo(umpire.Medium, harmless, "reads more than a file")
	}
}

// checkUuencode judges `uuencode FILE NAME`, where a single word is the name.
func checkUuencode(u *use) {
	if len(u.operands) > 1 {
		u.touch(umpire.KindRead, u.operands[0], accessOf{})
	}
}
