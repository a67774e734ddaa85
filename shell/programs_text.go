package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
)

// textTools are the programs that transform text.
var textTools = []program{
	// safe: sed -n 1,5p a
	// asks: sed -i s/a/b/ a
	{
		names: "sed gsed", risk: umpire.Safe, why: "edits what it reads and prints it", args: "data read…",
		check: checkSed, out: selects, about: aboutItself, opts: []option{
			{flags: "-n -E -r -s -u -z -a --quiet --silent --regexp-extended --separate --unbuffered --null-data " +
				"--zero-terminated --posix --debug --sandbox --follow-symlinks"},
			{values: "-e --expression", does: plain | lead},
			{values: "-f --file", does: reads | obeys | lead, why: "runs a script from a file"},
			{values: "-l --line-length", does: plain},
			{attached: "-i -I --in-place", does: plain | edits | asks, consequence: reversible,
				why: "changes files in place"},
		},
	},
	// safe: awk '{print $1}' a
	// asks: awk 'BEGIN{system("./x")}'
	{
		names: "awk gawk", risk: umpire.Safe, why: "prints parts of what it reads", style: leading, args: "data read…",
		check: checkAwk, opts: []option{
			{values: "-F -v --field-separator --assign", does: plain}, {values: "-e --source", does: plain | lead},
			{values: "-f --file -E --exec", does: reads | obeys | lead, why: "runs a program from a file"},
			{values: "-i --include -l --load", does: obeys, why: "loads code"},
			{flags: "-b -c -M -n -O -P -r -s -S -k -t --characters-as-bytes --traditional --bignum " +
				"--non-decimal-data --optimize --no-optimize --posix --re-interval --sandbox --lint-old " +
				"--use-lc-numeric --csv", attached: "--lint", does: plain},
			{attached: "-o -d -p -D --pretty-print --dump-variables --profile --debug", does: writes | asks,
				consequence: lost, why: "writes a file about the program"},
			{flags: "-V -h", does: shows}, {flags: aboutItself, does: shows},
		},
	},
	// safe: mawk '{print $1}' a
	// asks: mawk 'BEGIN{system("./x")}'
	{
		names: "mawk", risk: umpire.Safe, why: "prints parts of what it reads", style: leading, args: "data read…",
		check: checkAwk, about: aboutItself, opts: []option{
			{values: "-F -v --assign --field-separator", does: plain},
			{values: "-f --file", does: reads | obeys | lead},
			{flags: "--posix"},
		},
	},
	// safe: nawk '{print $1}' a
	// asks: nawk -safe 'BEGIN{system("./x")}'
	{
		names: "nawk original-awk", risk: umpire.Safe, why: "prints parts of what it reads", style: leading,
		args: "data read…", check: checkAwk, about: "--version", opts: []option{
			{values: "-F -v", does: plain}, {values: "-f", does: reads | obeys | lead}, {flags: "--csv"},
		},
	},
	// safe: cut -f1 a
	// asks: cut -f1 /etc/shadow
	{
		names: "cut gcut", risk: umpire.Safe, why: "prints columns", args: "read…", lax: true, out: cutsNumbers,
		about: aboutItself, opts: []option{
			{values: "-d --delimiter", does: plain}, {values: "-f --fields", does: plain},
			{values: "-c -b --characters --bytes --output-delimiter", does: plain}, {flags: "--complement"},
		},
	},
	// safe: paste a b
	// asks: paste a /etc/shadow
	{names: "paste", risk: umpire.Safe, why: "joins lines", args: "read…", lax: true,
		about: aboutItself, opts: []option{{values: "-d --delimiters", does: plain}}},
	// safe: join a b
	// asks: join a /etc/shadow
	{names: "join", risk: umpire.Safe, why: "joins lines", args: "read read", lax: true,
		about: aboutItself, opts: []option{{values: "-t -1 -2 -j -o -e -v -a", does: plain}}},
	// safe: sort -u a
	// asks: sort -o a a
	{names: "sort gsort", risk: umpire.Safe, why: "sorts lines", args: "read…", out: passes, opts: []option{
		{flags: "-b -d -f -g -i -M -h -n -R -r -V -c -C -m -s -u -z --ignore-leading-blanks --dictionary-order " +
			"--ignore-case --general-numeric-sort --ignore-nonprinting --month-sort --human-numeric-sort " +
			"--numeric-sort --random-sort --reverse --version-sort --merge --stable --unique --zero-terminated --debug",
			attached: "--check", does: plain},
		{flags: "-0 -1 -2 -3 -4 -5 -6 -7 -8 -9"},
		{values: "-k -t -S --key --field-separator --buffer-size --batch-size --parallel --sort", does: plain},
		{values: "--files0-from", does: reads | asks, consequence: harmless, why: "prints the files that a file names"},
		{values: "--random-source", does: reads},
		{values: "-o --output", does: writes, why: "writes its result to a file"},
		{values: "-T --temporary-directory", does: writes, why: "writes to a folder"},
		{values: "--compress-program", does: runs, why: "runs a program on its temporary files"},
	}, about: aboutItself},
	// safe: uniq -c a
	// asks: uniq a b
	{
		names: "uniq guniq", risk: umpire.Safe, why: "drops repeated lines", args: "read write", lax: true,
		out: uniques, about: aboutItself, opts: []option{
			{flags: "-c --count", attached: "--group", does: plain},
			{flags: "-d -D -i -u -z --repeated --unique --ignore-case --zero-terminated", attached: "--all-repeated",
				does: plain},
			{values: "-f -s -w --skip-fields --skip-chars --check-chars", does: plain},
		},
	},
	// safe: tr a b < c
	// asks: tr a b < /etc/shadow
	{names: "tr gtr", risk: umpire.Safe, why: "changes characters", args: "data…", lax: true, out: dropsBlanks,
		about: aboutItself},
	// safe: shuf -n 1 a
	// asks: shuf -o a b
	{
		names: "shuf gshuf", risk: umpire.Safe, why: "shuffles lines", args: "read", check: checkShuf, out: passes,
		about: aboutItself, opts: []option{
			{flags: "-e --echo"}, {flags: "-r -z --repeat --zero-terminated"},
			{values: "-i -n --input-range --head-count", does: plain},
			{values: "--random-source", does: reads}, {values: "-o --output", does: writes},
		},
	},
	// safe: seq 5
	// asks: seq 5 > /etc/x
	{names: "seq gseq", risk: umpire.Safe, why: "prints numbers", args: "data…", lax: true,
		about: aboutItself, out: counts},
	// safe: jot 5
	// asks: jot 5 > /etc/x
	{names: "jot", risk: umpire.Safe, why: "prints numbers", args: "data…", lax: true, about: aboutItself},
	// safe: factor 12
	// asks: factor 12 > ../x
	{names: "factor", risk: umpire.Safe, why: "prints factors", args: "data…", lax: true, about: aboutItself},
	// safe: numfmt --to=iec 1024
	// asks: numfmt 1 > ../x
	{names: "numfmt", risk: umpire.Safe, why: "formats numbers", args: "data…", lax: true, about: aboutItself},
	// safe: envsubst '$HOME' < a
	// asks: envsubst < a
	{names: "envsubst", risk: umpire.Safe, why: "fills in variables", args: "data…", lax: true, check: checkEnvsubst,
		about: aboutItself},
	// safe: fold -w 80 a
	// asks: fold /etc/shadow
	{names: "fold gfold", risk: umpire.Safe, why: "breaks lines", args: "read…", lax: true,
		about: aboutItself, opts: []option{{values: "-w --width", does: plain}}},
	// safe: fmt -w 72 a
	// asks: fmt /etc/shadow
	{names: "fmt gfmt", risk: umpire.Safe, why: "lays out text", args: "read…", lax: true,
		about: aboutItself, opts: []option{{values: "-w -p -g --width --prefix --goal", does: plain}}},
	// safe: pr a
	// asks: pr /etc/shadow
	{names: "pr", risk: umpire.Safe, why: "lays out pages", args: "read…", lax: true, opts: []option{
		{values: "-h -l -o -w -W -D -N --header --length --indent --width --page-width --date-format " +
			"--first-line-number --columns --pages", does: plain},
	}, about: aboutItself},
	// safe: expand a
	// asks: expand /etc/shadow
	{names: "expand", risk: umpire.Safe, why: "changes tabs and blanks", args: "read…", lax: true,
		about: aboutItself, opts: []option{{values: "-t --tabs", does: plain}}},
	// safe: unexpand -a a
	// asks: unexpand /etc/motd
	{names: "unexpand", risk: umpire.Safe, why: "changes tabs and blanks", args: "read…", lax: true,
		about: aboutItself, opts: []option{{values: "-t --tabs", does: plain}}},
	// safe: column -t a
	// asks: column /etc/shadow
	{names: "column", risk: umpire.Safe, why: "lays out columns", args: "read…", lax: true, opts: []option{
		{values: "-s -o -c -N -R -H -T -E -W -O -l -i -p -r -C --separator --output-separator --output-width " +
			"--table-columns --table-right --table-hide --table-truncate --table-noextreme --table-wrap " +
			"--table-order --table-columns-limit --table-name --tree --tree-id --tree-parent --table-column",
			does: plain},
		{flags: "-n"},
	}, about: aboutItself},
	// safe: colrm 1 5 < a
	// asks: colrm 1 < /etc/shadow
	{names: "colrm", risk: umpire.Safe, why: "drops columns", args: "data…", lax: true, about: aboutItself},
	// safe: rev a
	// asks: rev /etc/shadow
	{names: "rev", risk: umpire.Safe, why: "turns lines around", args: "read…", lax: true, about: aboutItself},
	// safe: look x a
	// asks: look x /etc/shadow
	{names: "look", risk: umpire.Safe, why: "finds lines", args: "data read", lax: true,
		about: aboutItself, opts: []option{{values: "-t --terminate", does: plain}}},
	// safe: tsort a
	// asks: tsort /etc/shadow
	{names: "tsort", risk: umpire.Safe, why: "sorts by order", args: "read", lax: true, about: aboutItself},
	// safe: ptx a
	// asks: ptx -G a b
	{names: "ptx", risk: umpire.Safe, why: "prints an index", args: "read…", about: aboutItself, opts: []option{
		{flags: "-A -f -r -R -t -C --auto-reference --ignore-case --references --right-side-refs --typeset-mode " +
			"--copyright"},
		{values: "-w -g -F -M -S -W --width --gap-size --flag-truncation --macro-name --sentence-regexp " +
			"--word-regexp --format", does: plain},
		{values: "-b -i -o --break-file --ignore-file --only-file", does: reads},
		{flags: "-G --traditional", does: asks, consequence: reversible, why: "writes its second operand"},
	}},
	// asks: split -l 10 a
	{
		names: "split gsplit", risk: umpire.Medium, consequence: reversible, why: "writes the pieces of a file",
		args: "read write", about: aboutItself, opts: []option{
			{flags: "-d -x -e -u -z --elide-empty-files --unbuffered --verbose",
				attached: "--numeric-suffixes --hex-suffixes", does: plain},
			{flags: "-0 -1 -2 -3 -4 -5 -6 -7 -8 -9"},
			{values: "-a -b -C -l -n -t -p --suffix-length --additional-suffix --bytes --line-bytes --lines --number " +
				"--separator", does: plain},
			{values: "--filter", does: runs},
		},
	},
	// asks: csplit a 5
	{
		names: "csplit gcsplit", risk: umpire.Medium, consequence: reversible, why: "writes the pieces of a file",
		args: "read data…", about: aboutItself, opts: []option{
			{flags: "-k -q -s -z --keep-files --quiet --silent --elide-empty-files --suppress-matched"},
			{values: "-b -n --suffix-format --digits", does: plain},
			{values: "-f --prefix", does: writes},
		},
	},
	// safe: iconv -f latin1 -t utf-8 a
	// asks: iconv -o b a
	{names: "iconv", risk: umpire.Safe, why: "changes the encoding of text", args: "read…", opts: []option{
		{flags: "-c -l -s --list --silent --verbose"},
		{values: "-f -t --from-code --to-code", does: reads, why: "may be a file of characters"},
		{values: "-o --output", does: writes, why: "writes its result to a file"},
	}, about: aboutItself},
	// asks: dos2unix a
	{
		names: "dos2unix unix2dos mac2unix unix2mac", risk: umpire.Medium, consequence: reversible,
		why: "changes the line ends of files", args: "write…", about: aboutItself, opts: []option{
			{flags: "-a -b -e -f -k -l -m -n -o -q -r -s -u -v -F -N -O -R -S -U --add-bom --add-eol --keepdate " +
				"--force --quiet --newfile --oldfile --safe --verbose --follow-symlink --replace-symlink " +
				"--skip-symlink --allow-chown --remove-bom --keep-bom --ascii --iso --to-stdout --no-add-eol"},
			{values: "-c --convmode -D --display-enc", attached: "-i --info", does: plain},
		},
	},
	// safe: jq .a b.json
	// asks: jq env b.json
	{names: "jq gojq jaq", risk: umpire.Safe, why: "prints parts of JSON", style: bare, check: checkJq},
	// safe: yq .a b.yaml
	// asks: yq -i '.a = 1' b.yaml
	{names: "yq", risk: umpire.Safe, why: "prints parts of YAML", style: bare, check: checkYq},
	// safe: xmllint --noout a.xml
	// asks: xmllint --output b.xml a.xml
	{
		names: "xmllint", risk: umpire.Safe, why: "checks XML", style: words, args: "read…", check: checkURLs,
		about: "--version --help", opts: []option{
			{flags: "--format --noout --recover --nowarning --html --nonet --noblanks --nodefdtd --nsclean --xmlout " +
				"--c14n --c14n11 --exc-c14n --dropdtd --nocdata --push --memory --sax --sax1 --stream --timing " +
				"--huge --oldxml10 --noent-off --quiet --debug --copy --testIO --chkregister --noenc " +
				"--nofixup-base-uris --repeat --insert --walker --pedantic"},
			{values: "--xpath --encode --pretty --pattern --maxmem --max-ampl", does: plain},
			{values: "--schema --relaxng --schematron --dtdvalid", does: reads | asks, consequence: lost,
				why: "may fetch what a schema names"},
			{values: "--output -o", does: writes, why: "writes its result to a file"},
			{flags: "--shell", does: asks, consequence: lost, why: "starts a shell that can write files"},
			{flags: "--noent --loaddtd --dtdattr --valid --postvalid --xinclude --noxincludenode --catalogs " +
				"--nocatalogs --load-trace", values: "--path --dtdvalidfpi", does: asks, consequence: harmless,
				why: "reads what the document names"},
		},
	},
}

// uniques returns the output of uniq: lines of its input, unless it counts them.
func uniques(u *use, in flow) flow {
	if u.got("-c") != nil {
		return foreignFlow(u.program0())
	}
	return passes(u, in)
}

// cutsNumbers returns the output of cut: the numbers of numbered lines, if it selects these.
func cutsNumbers(u *use, in flow) flow {
	by, field := u.got("--delimiter"), u.got("--fields")
	first := len(u.given) == 2 && by != nil && by.value.known() && by.value.text == ":" && field != nil &&
		field.value.known() && field.value.text == "1"
	if len(u.operands) == 0 && first && (in.numbered || in.numbers) {
		return numberFlow(u.program0())
	}
	return u.printedFlow()
}

// dropsBlanks returns the output of tr: numbers stay numbers if it only deletes characters.
func dropsBlanks(u *use, in flow) flow {
	deletes := len(u.words) == 3 && u.words[1].known() && u.words[1].text == "-d" && u.words[2].known()
	if in.numbers && deletes {
		return numberFlow(u.program0())
	}
	return u.printedFlow()
}

// checkURLs records operands that are URLs in place of files.
func checkURLs(u *use) {
	files := u.operands[:0:0]
	for _, operand := range u.operands {
		if strings.Contains(operand.text, "://") {
			u.visit(operand, umpire.Medium, "downloads from it")
			continue
		}
		files = append(files, operand)
	}
	u.operands = files
}

// checkShuf judges `shuf -e`, whose operands are the lines themselves.
func checkShuf(u *use) {
	if u.got("-e") != nil {
		u.operands = nil
	}
}
