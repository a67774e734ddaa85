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
			{names: "-bcCEHkKlmqRstTuUwv -f= -n= -N= -p= -r=", does: plain},
			{names: "-o= -e=", does: writes, why: "writes its result to a file"},
		},
	},
	// safe: lsdiff -n a.patch
	// safe: filterdiff -i '*.c' a.patch
	// asks: filterdiff -z a.patch
	// asks: filterdiff -X /etc/shadow a.patch
	{
		names: "lsdiff filterdiff grepdiff", risk: umpire.Safe, why: "prints parts of patches", args: "read…",
		check: checkPatches, about: "--help --version", opts: []option{
			{names: "-nshHvE -p= -i= -x= -F= -#= --line-number --number-files --status --with-filename --no-filename " +
				"--verbose --empty-files-as-removed --strip-match= --strip= --include= --exclude= --files= --lines= " +
				"--hunks= --annotate --as-numbered-lines= --clean --remove-timestamps --extended-regexp " +
				"--output-matching= --only-match= --addprefix= --addoldprefix= --addnewprefix= --format= --list " +
				"--git-prefixes=", does: plain},
			{names: "-f= --file= -I= -X= --include-from-file= --exclude-from-file=", does: reads},
			{names: "-z --decompress", does: asks, consequence: lost, why: "runs programs that uncompress"},
		},
	},
	// safe: delta --side-by-side < a.diff
	// asks: delta a b
	{
		names: "delta", risk: umpire.Safe, why: "shows differences in colour", args: "none", check: checkFilter,
		about: "--version -V --help -h --list-languages --list-syntax-themes", opts: []option{
			{names: "-sn --side-by-side --line-numbers --color-only --dark --light --no-gitconfig --raw --navigate " +
				"--keep-plus-minus-markers -w= --width= --syntax-theme= --tabs= --diff-so-fancy --diff-highlight " +
				"--hyperlinks", does: plain},
			{names: "--paging=", does: asks, consequence: lost, why: "starts a pager", except: "never"},
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
			{names: "-d= --delimiter= -t --tabs -q= --quotechar= -u= --quoting= -b --no-doublequote -p= " +
				"--escapechar= -z= --maxfieldsize= -e= --encoding= -L= --locale= -S --skipinitialspace --blanks " +
				"--null-value= --date-format= --datetime-format= -H --no-header-row -K= --skip-lines= -v --verbose " +
				"-l --linenumbers --zero -n --names -c= --columns= -y= -g= --out-tabs --out-delimiter= " +
				"--out-quotechar= --out-quoting= --reverse --no-inference --indent= --key= --stream --left --right " +
				"--outer --groups= --group-name= --filenames --snifflimit=", does: plain,
			},
			{names: "-DTQUrIik"},
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
					{names: "--just-names --intersect --everything --mode --cardinality --median " +
						"--nulls --jobs= --select= --limit= --asc --no-nulls --start= --end= --len= --index= " +
						"--numeric --reverse --width= --pad= --condense= --separator= --out-delimiter= --crlf " +
						"--ascii --quote= --quote-always --escape= --no-quoting", does: plain,
					},
					{names: "-j -N -R -w= -p= -c= -t= -i= -s= -e= -l=", does: plain},
					{names: "-o= --output=", does: writes, why: "writes its result to a file"},
				},
			},
			// safe: xsv select 1 a.csv
			{
				names: "select search", each: true, risk: umpire.Safe, why: "prints parts of tables",
				args: "data read…", about: aboutItself, also: []*[]option{&xsvReading}, opts: []option{
					{names: "--ignore-case --invert-match --select=", does: plain},
					{names: "-iv -s=", does: plain},
					{names: "-o= --output=", does: writes, why: "writes its result to a file"},
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
			{names: "-f= -l= -box -meta -js -struct -struct-text -url -custom -isodates -rawdates -dests -enc= " +
				"-listenc -subst -loc", does: plain},
		},
	},
	// safe: pdftotext -layout a.pdf -
	// asks: pdftotext a.pdf
	// asks: pdftotext a.pdf /etc/x
	{
		names: "pdftotext", risk: umpire.Safe, why: "prints the text of a document", style: words, args: "read write",
		check: checkPrintsText, about: "-v -h -help --help", opts: []option{
			{names: "-f= -l= -r= -x= -y= -W= -H= -layout -fixed= -raw -nodiag -htmlmeta -tsv -bbox -bbox-layout " +
				"-enc= -eol= -nopgbrk -colspacing= -listenc -q", does: plain},
		},
	},
	// safe: pdfimages -list a.pdf
	// asks: pdfimages a.pdf out
	{
		names: "pdfimages", risk: umpire.Medium, consequence: reversible, why: "writes the pictures of a document",
		style: words, args: "read write", check: checkPictures, about: "-v -h -help --help", opts: []option{
			{names: "-list"}, {names: "-f= -l= -png -tiff -j -jp2 -jbig2 -ccitt -all -p -q", does: plain},
		},
	},
	// safe: ffprobe -v error -show_format a.mp4
	// asks: ffprobe http://evil.example/a.mp4
	// asks: ffprobe -i concat:a
	// asks: ffprobe -report a.mp4
	{
		names: "ffprobe", risk: umpire.Safe, why: "tells about media", style: words, args: "read…", check: checkMedia,
		opts: []option{
			{names: "-v= -loglevel= -hide_banner -show_format -show_streams -show_entries= -select_streams= -of= " +
				"-print_format= -output_format= -show_error -show_chapters -show_programs -count_frames " +
				"-count_packets -sexagesimal -pretty -unit -prefix -show_packets -show_frames -read_intervals= " +
				"-noprivate -private", does: plain},
			{names: "-i=", does: reads},
			{names: "-version --version -help --help -h -L -formats -codecs -decoders -encoders -protocols -filters " +
				"-pix_fmts -sample_fmts -layouts -buildconf", does: shows},
		},
	},
	// safe: col -b < a
	// asks: col --zzz
	{names: "col", risk: umpire.Safe, why: "filters reverse line feeds", args: "none", opts: []option{
		{names: "-bfhpx -l= --no-backspaces --fine --tabs --pass --spaces --lines=", does: plain},
	}, about: aboutItself},
	// safe: pathchk a/b
	// asks: pathchk --zzz
	{names: "pathchk", peeks: true, risk: umpire.Safe, why: "checks names of files", args: "read…",
		about: aboutItself, opts: []option{{names: "-pP --portability"}}},
	// safe: uuencode a.bin a
	// asks: uuencode /etc/shadow a
	{names: "uuencode", risk: umpire.Safe, why: "encodes a file", args: "data…", check: checkUuencode,
		about: aboutItself, opts: []option{{names: "-m --base64"}}},
	// safe: figlet hi
	// asks: figlet -f /etc/x hi
	{names: "figlet banner", risk: umpire.Safe, why: "writes large letters", args: "data…",
		about: "-v", opts: []option{{names: "-cklnrsStxWp -w= -m= -I=", does: plain}}},
}

// xsvReading are the options of xsv that say how its input is written.
var xsvReading = []option{{names: "-n --no-headers -d= --delimiter=", does: plain}}

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
