package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

const packs = "packs or unpacks its input"

// archivers pack and unpack files.
var archivers = []program{
	// safe: tar -tf a.tar
	// asks: tar -xf a.tar
	{
		names: "tar gtar bsdtar", risk: umpire.Safe, why: "lists an archive", check: checkTar, out: filters,
		about: "--help --version --usage --show-defaults", opts: []option{
			{names: "-c --create -r --append -u --update -A --catenate --concatenate --delete"},
			{names: "-x --extract --get"}, {names: "-t --list -d --diff --compare --test-label"},
			{names: "-O --to-stdout"}, {names: "--force-local"},
			{names: "-vzjJZapPwkmoSBhlWUinGMR0 --verbose --gzip --gunzip --ungzip --bzip2 --xz --lzma --lzip --lzop " +
				"--zstd --compress --uncompress --auto-compress --no-auto-compress --preserve-permissions " +
				"--same-permissions --no-same-permissions --same-owner --no-same-owner --absolute-names " +
				"--interactive --confirmation --keep-old-files --keep-newer-files --skip-old-files --overwrite " +
				"--overwrite-dir --no-overwrite-dir --keep-directory-symlink --unlink-first --recursive-unlink " +
				"--touch --sparse --read-full-records --dereference --hard-dereference --verify --wildcards " +
				"--no-wildcards --wildcards-match-slash --no-wildcards-match-slash --anchored --no-anchored " +
				"--ignore-case --no-ignore-case --exclude-vcs --exclude-vcs-ignores --exclude-backups " +
				"--exclude-caches --exclude-caches-all --one-file-system --no-recursion --recursion --null --no-null " +
				"--numeric-owner --full-time --totals? --utc --checkpoint? --acls --no-acls --xattrs --no-xattrs " +
				"--selinux --no-selinux --ignore-zeros --seek --delay-directory-restore --no-ignore-command-error " +
				"--ignore-command-error --ignore-failed-read --warning= --show-transformed-names --show-omitted-dirs " +
				"--block-number --incremental --multi-volume --backup? --atime-preserve? --occurrence? " +
				"--no-mac-metadata --no-xattr --no-fflags --check-links --clamp-mtime --no-quote-chars --quote-chars " +
				"--verbatim-files-from --no-verbatim-files-from --unquote --no-unquote --posix --portability " +
				"--old-archive --restrict"},
			{names: "-b= --blocking-factor= --record-size= -L= --tape-length= -V= --label= -H= " +
				"--format= --exclude= --exclude-tag= --exclude-ignore= --exclude-ignore-recursive= " +
				"--strip-components= --strip= --transform= --xform= -s= --mode= --mtime= " +
				"--owner= --group= --sort= --suffix= --pax-option= --options= --starting-file= -K= --level= " +
				"--quoting-style= --hole-detection= --sparse-version= --include= --uid= --gid= --uname= --gname=",
				does: plain},
			{names: "--owner-map= --group-map=", does: reads},
			{names: "-N= --newer= --after-date= --newer-mtime="},
			{names: "-f= --file=", does: plain}, {names: "-C= --directory= --cd= --one-top-level?", does: plain},
			{names: "-T= --files-from= -X= --exclude-from= --add-file=", does: reads},
			{names: "-g= --listed-incremental= --volno-file= --index-file=", does: writes},
			{names: "--remove-files", does: harms, consequence: lost, why: "deletes what it has packed"},
			{names: "-I= --use-compress-program= -F= --info-script= --new-volume-script= --rsh-command= " +
				"--to-command= --use-compress-prog=", does: runs, why: "runs a program"},
			{names: "--rmt-command=", does: obeys},
			{names: "--checkpoint-action=", does: asks, consequence: lost, why: "can run a program"},
		},
	},
	// safe: gzip -dc a.gz
	// asks: gzip a
	{names: "gzip gunzip", risk: umpire.Safe, why: packs, check: checkPacker, out: filters, opts: []option{
		{names: "-c --stdout --to-stdout -l --list -t --test"},
		{names: "-dfhkLnNqvV0123456789 --decompress --uncompress --force --keep --no-name --name --quiet --verbose " +
			"--fast --best --rsyncable --synchronous"},
		{names: "-S= --suffix= -b= --bits=", does: plain},
		{names: "-r --recursive"},
	}, about: aboutItself},
	// safe: pigz -l a.gz
	// asks: pigz a
	{names: "pigz unpigz", risk: umpire.Safe, why: packs, check: checkPacker, out: filters, opts: []option{
		{names: "-c --stdout --to-stdout -l --list -t --test"},
		{names: "-dfhkLnNqvVziKmMORUY0123456789 --decompress --uncompress --force --keep --no-name --name --quiet " +
			"--verbose --fast --best --zlib --zip --rsyncable --independent --synchronous"},
		{names: "-S= --suffix= -b= --blocksize= -p= --processes= -I= --iterations=", does: plain},
		{names: "-r --recursive"},
	}, about: aboutItself},
	// safe: bzip2 -t a.bz2
	// asks: bzip2 -l a
	{names: "bzip2 bunzip2", risk: umpire.Safe, why: packs, check: checkPacker, out: filters, opts: []option{
		{names: "-c --stdout -t --test"},
		{names: "-dfkqvLVsz0123456789 --decompress --compress --force --keep --quiet --verbose --small --fast --best"},
	}, about: aboutItself},
	// safe: pbzip2 -dc a.bz2
	// asks: pbzip2 -l a
	{names: "pbzip2", risk: umpire.Safe, why: packs, check: checkPacker, out: filters, opts: []option{
		{names: "-c --stdout -t --test"},
		{names: "-dfkqvlLVrz0123456789 --decompress --compress --force --keep --quiet --verbose --loadavg --read " +
			"--fast --best"},
		{names: "-b= -m= -p= -S= --ignore-trailing-garbage=", does: plain},
	}, about: aboutItself},
	// safe: xz -l a.xz
	// asks: xz a
	{names: "xz unxz lzma unlzma", risk: umpire.Safe, why: packs, check: checkPacker, out: filters, opts: []option{
		{names: "-c --stdout --to-stdout -l --list -t --test"},
		{names: "-dfkqvzeHQ0123456789 --decompress --uncompress --compress --force --keep --quiet --verbose " +
			"--extreme --robot --single-stream --no-sparse --ignore-check --no-warn --no-adjust --fast --best"},
		{names: "-T= --threads= -S= --suffix= -F= --format= -C= --check= -M= --memlimit= --memlimit-compress= " +
			"--memlimit-decompress= --block-size= --lzma1? --lzma2? --x86? --filters=", does: plain},
		{names: "--files? --files0?", does: reads | asks, consequence: lost, why: "prints the files that a file names"},
	}, about: aboutItself},
	// safe: lzip -l a.lz
	// asks: lzip a
	{names: "lzip", risk: umpire.Safe, why: packs, check: checkPacker, out: filters, about: aboutItself, opts: []option{
		{names: "-c --stdout -l --list -t --test"},
		{names: "-dfkqvFa0123456789 --decompress --force --keep --quiet --verbose --recompress --loose-trailing " +
			"--trailing-error --fast --best"},
		{names: "-b= --member-size= -m= --match-length= -s= --dictionary-size= -S= --volume-size=", does: plain},
		{names: "-o= --output=", does: writes},
	}},
	// safe: zstd -l a.zst
	// asks: zstd a
	{names: "zstd unzstd zstdmt", risk: umpire.Safe, why: packs, check: checkPacker, out: filters, opts: []option{
		{names: "-c --stdout -l --list -t --test"},
		{names: "-dfkqvzC0123456789 --decompress --uncompress --compress --force --keep --quiet --verbose --fast? " +
			"--ultra --long? --adapt? --rsyncable --no-check --check --no-dictID --progress --no-progress --sparse " +
			"--no-sparse --exclude-compressed --single-thread --auto-threads= --content-size --no-content-size " +
			"--pass-through --no-pass-through", does: plain},
		{names: "-T? --threads= -M? --memory= --format= -B? --block-size=", does: plain},
		{names: "--filelist=", does: reads | asks, consequence: lost, why: "prints the files that a file names"},
		{names: "-D= --patch-from=", does: reads}, {names: "-o= --output-dir-flat= --output-dir-mirror=", does: writes},
		{names: "-r --recursive"},
		{names: "--rm", does: asks, consequence: lost, why: "deletes what it has packed or unpacked"},
	}, about: aboutItself},
	// safe: lz4 -t a.lz4
	// asks: lz4 -l a
	{names: "lz4 unlz4", risk: umpire.Safe, why: packs, check: checkPacker, out: filters, opts: []option{
		{names: "-c --stdout -t --test --list"},
		{names: "-dfkqvzlm0123456789 --decompress --compress --force --keep --quiet --verbose --fast? --best " +
			"--multiple --no-frame-crc --content-size --sparse --no-sparse --favor-decSpeed", does: plain},
		{names: "-D=", does: reads},
		{names: "-r --recursive"},
		{names: "--rm", does: asks, consequence: lost, why: "deletes what it has packed or unpacked"},
	}, about: aboutItself},
	// safe: compress -c a
	// asks: compress -l a
	{names: "compress uncompress", risk: umpire.Safe, why: packs, check: checkPacker, out: filters, opts: []option{
		{names: "-c"}, {names: "-dfkvV --decompress --force --keep"}, {names: "-b=", does: plain},
	}, about: aboutItself},
	// safe: brotli -t a.br
	// asks: brotli -j -t a.br
	{names: "brotli", risk: umpire.Safe, why: packs, check: checkPacker, out: filters, opts: []option{
		{names: "-c --stdout -t --test"},
		{names: "-dfknv0123456789 --decompress --force --keep --no-copy-stat --verbose --best"},
		{names: "-q= --quality= -w= --lgwin= -S= --suffix= --large_window= -C= --comment=", does: plain},
		{names: "-D= --dictionary=", does: reads}, {names: "-o= --output=", does: writes},
		{names: "--rm -j", does: asks, consequence: lost, why: "deletes what it has packed or unpacked"},
	}, about: aboutItself},
	// safe: zstdcat a.zst
	// asks: zstdcat /root/a.zst
	{names: "zstdcat", risk: umpire.Safe, why: "prints what is packed", args: "read…", out: filters, opts: []option{
		{names: "-qvfk --quiet --verbose --force --keep --no-progress --long?", does: plain},
		{names: "-T? --threads= -M? --memory=", does: plain}, {names: "-D=", does: reads},
	}, about: aboutItself},
	// safe: lz4cat a.lz4
	// asks: lz4cat a.lz4 --rm
	{names: "lz4cat", risk: umpire.Safe, why: "prints what is packed", args: "read…", out: filters, opts: []option{
		{names: "-qvfk --quiet --verbose --keep"}, {names: "-D=", does: reads},
	}, about: aboutItself},
	// safe: zcat a.gz
	// asks: zcat /root/a.gz
	{names: "zcat gzcat", risk: umpire.Safe, why: "prints what is packed", args: "read…", out: filters, opts: []option{
		{names: "-dcfhklLnNqtvV --decompress --stdout --force --list --quiet --test --verbose --keep"},
	}, about: aboutItself},
	// safe: bzcat a.bz2
	// asks: bzcat /etc/motd
	{names: "bzcat", risk: umpire.Safe, why: "prints what is packed", args: "read…", out: filters, opts: []option{
		{names: "-dckqstvf0123456789 --decompress --stdout --keep --quiet --small --test --verbose --force"},
	}, about: aboutItself},
	// safe: xzcat a.xz
	// asks: xzcat --files=list
	{names: "xzcat lzcat", risk: umpire.Safe, why: "prints what is packed", args: "read…", out: filters, opts: []option{
		{names: "-dckfqvlt --decompress --stdout --keep --force --quiet --verbose --list --test"},
		{names: "-T= --threads= -M= --memlimit=", does: plain},
		{names: "--files? --files0?", does: reads | asks, consequence: lost, why: "prints the files that a file names"},
	}, about: aboutItself},
	// safe: zipinfo -1 a.zip
	// asks: zipinfo /etc/a.zip
	{names: "zipinfo", risk: umpire.Safe, why: "lists an archive", args: "read data…",
		opts: []option{{names: "-12smlvhtTzCM"}, {names: "-x=", does: plain}}},
	// safe: lsar a.zip
	// asks: lsar /etc/a.zip
	{names: "lsar", risk: umpire.Safe, why: "lists an archive", args: "read data…",
		opts: []option{{names: "-lLtj --long --verylong --test --json"}, {names: "-p= -e= -E=", does: plain}}},
	// safe: zdump -v Europe/Berlin
	// asks: zdump -x
	{names: "zdump", risk: umpire.Safe, why: "prints times of zones", args: "read…",
		about: aboutItself, opts: []option{{names: "-vVi"}, {names: "-c= -t=", does: plain}}},
	// safe: zip --version
	// asks: zip a.zip b
	{
		names: "zip", risk: umpire.Medium, consequence: reversible, why: "packs files", args: "write tree…",
		check: checkZip, about: "--help --version -h --license", opts: []option{
			{names: "-0123456789qvrRjkluofyXDFeEnNgAJUwzSTcL@ --recurse-paths --quiet --verbose --junk-paths " +
				"--update --freshen --symlinks --no-extra --no-dir-entries --encrypt --test --latest-time --fix " +
				"--fixfix --adjust-sfx --grow --show-files"},
			{names: "-i= --include= -x= --exclude="}, {names: "-d --delete -P= --password= -s= --split-size= -Z= " +
				"--compression-method= -t= --suffixes=", does: plain},
			{names: "-b= --temp-path= -O= --output-file= --logfile-path=", does: writes},
			{names: "-m --move", does: drops | harms, consequence: lost, why: "deletes what it has packed"},
			{names: "--unzip-command=", does: runs, why: "runs a program to test"},
		},
	},
	// safe: unzip -l a.zip
	// asks: unzip a.zip
	{names: "unzip", risk: umpire.Safe, why: "lists an archive", check: checkUnzip, out: filters, opts: []option{
		{names: "-lvzZtpcqnojaubUCLVKXfM:^hD1sTx"},
		{names: "-d= -P= -I= -O=", does: plain},
	}, about: aboutItself},
	// safe: unrar l a.rar
	// asks: unrar x a.rar
	{names: "unrar rar unar 7z 7za 7zr 7zz p7zip arj lha zoo cabextract", risk: umpire.Safe, why: "lists an archive",
		style: words, lax: true, check: checkPackVerb},
	// safe: ar t a.a
	// asks: ar x a.a
	{names: "ar gar llvm-ar ranlib", risk: umpire.Safe, why: "lists an archive of objects", style: bare,
		check: checkAr},
	// safe: jar tf a.jar
	// asks: jar xf a.jar
	{names: "jar", risk: umpire.Safe, why: "lists an archive", style: bare, check: checkJar},
	// safe: cpio --version
	// asks: cpio -i
	{
		names: "cpio", risk: umpire.Medium, consequence: reversible, why: "packs or unpacks files", args: "write…",
		check: checkCpio, about: aboutItself, opts: []option{
			{names: "-0aAbBcdfiklLmnrsSuvVwzy --extract --make-directories --preserve-modification-time " +
				"--no-absolute-filenames --absolute-filenames --quiet --verbose --unconditional --null " +
				"--numeric-uid-gid --to-stdout --dereference --link --sparse --dot --swap --only-verify-crc " +
				"--reset-access-time --append --nonmatching --no-preserve-owner"},
			{names: "-H= --format= -C= --io-size= --block-size= -R= --owner= -M= --message= -x=", does: plain},
			{names: "-F= --file= -I= -E= --pattern-file=", does: reads}, {names: "-O=", does: writes},
			{names: "-t --list"}, {names: "-o -p --create --pass-through"}, {names: "-D= --directory=", does: plain},
			{names: "--rsh-command=", does: runs}, {names: "--rmt-command= -G=", does: obeys},
		},
	},
	{
		names: "pax", risk: umpire.Medium, consequence: reversible, why: "packs or unpacks files", args: "write…",
		lax: true, opts: []option{{names: "-f= -s= -x= -o= -b= -B= -E= -G= -U= -T=", does: plain}},
		check: func(u *use) { noteUnknownNames(u, lit(".")) },
	},
}

// filters returns the output of a program that transforms its input. Input from the network
// stays marked as such.
func filters(_ *use, in flow) flow { return filteredFlow(in, "") }

// means reports whether an option has that spelling, or another spelling of the same option.
func (g *given) means(name string) bool { return hasSpelling(g.option.names, name) }

// tarValues are the letters of tar's old style that take a value from the following words, in
// the order of the letters.
const tarValues = "fCTXbLNVHIgFKs"

// addDashes rewrites `tar xzf a -C b` as `tar -x -z -f a -C b`.
func addDashes(args []word) []word {
	letters, rest := args[0].text, args[1:]
	out := make([]word, 0, len(args)+len(letters))
	for i := range len(letters) {
		out = append(out, lit("-"+letters[i:i+1]))
		if strings.IndexByte(tarValues, letters[i]) >= 0 && len(rest) > 0 {
			out, rest = append(out, rest[0]), rest[1:]
		}
	}
	return append(out, rest...)
}

// checkTar judges tar by its mode: -t looks, -x writes into a folder, and -c and similar modes
// write the archive.
func checkTar(u *use) {
	if args := argumentsOf(u); len(args) > 0 && args[0].known() && args[0].text != "" && args[0].text[0] != '-' {
		reparseArguments(u, addDashes(args), false)
	}
	members := u.takeOperands()
	walkCheckpoints(u)
	folder := u.tarFolder()
	lists := u.got("-t") != nil
	switch {
	case u.got("-x") != nil && u.got("-O") != nil:
		u.why = "prints what an archive holds"
		judgeTarFile(u, umpire.KindRead)
		noteMembers(u, members)
	case u.got("-x") != nil:
		u.raiseTo(umpire.Medium, reversible, "unpacks files")
		judgeTarFile(u, umpire.KindRead)
		noteUnknownNames(u, folder)
	case lists && u.got("-c") == nil:
		judgeTarFile(u, umpire.KindRead)
	default:
		judgePacking(u, members)
	}
}

// judgePacking records the files that tar -c reads, and the archive that it writes.
func judgePacking(u *use, members []word) {
	if u.got("--files-from") != nil {
		u.doubt = "the files that a list names are not known before it runs"
	}
	if file := u.got("-f", "--file"); file == nil || file.value.text != "-" && file.value.text != "/dev/null" ||
		file.value.open {
		u.raiseTo(umpire.Medium, reversible, "packs files")
	}
	kind := umpire.KindRead
	if u.got("--remove-files") != nil {
		kind = umpire.KindDelete
	}
	judgeTarFile(u, umpire.KindWrite)
	s := u.s
	for i := range u.given {
		if g := &u.given[i]; g.has && g.means("-C") {
			s = s.clone()
			s.enterFolder(g.value, func(string) bool { return true })
		}
	}
	for _, member := range members {
		u.then(func() { u.w.path(s, kind, member, accessOf{tree: true, table: u.table, follows: followsLinks(u)}) })
	}
}

// judgeTarFile records the access of tar's -f, which may be on another machine.
func judgeTarFile(u *use, kind umpire.AccessKind) {
	for _, g := range u.given {
		if !g.has || !g.means("-f") || g.value.text == "-" && !g.value.open {
			continue
		}
		if isRemotePath(g.value.text) && u.got("--force-local") == nil {
			u.raiseTo(umpire.High, sent, "reaches an archive on another machine")
			u.then(func() { u.w.network(g.value.display(), "holds the archive") })
			continue
		}
		u.touch(kind, g.value, accessOf{})
	}
}

// tarFolder returns the folder that tar unpacks to.
func (a *arguments) tarFolder() word {
	folder := lit(".")
	for _, g := range a.given {
		if !g.has || !g.means("-C") {
			continue
		}
		switch {
		case folder.text == "." && folder.known():
			folder = g.value
		case !folder.known() || !g.value.known():
			folder = word{open: true}
		default:
			folder = lit(joinPath(folder.text, g.value.text))
		}
	}
	return folder
}

// walkCheckpoints walks the commands of --checkpoint-action=exec=….
func walkCheckpoints(u *use) {
	for _, g := range u.given {
		if _, code, ok := g.value.after("exec="); ok && g.means("--checkpoint-action") {
			u.then(func() { u.w.walkCode(u.outsideState(), code, flow{}) })
		}
	}
}

// checkPacker judges gzip and similar programs, which replace files unless an option makes them print.
func checkPacker(u *use) {
	files := u.takeOperands()
	prints := u.got("-c") != nil
	for _, file := range files {
		switch {
		case file.text == "-" && !file.open:
		case prints:
			u.touch(umpire.KindRead, file, accessOf{})
		default:
			u.raiseTo(umpire.Medium, reversible, "replaces files")
			u.touch(umpire.KindWrite, file, accessOf{tree: u.got("-r", "--recursive") != nil})
			noteUnpacked(u, file)
		}
	}
}

// noteUnpacked records the file that unpacking file would write.
func noteUnpacked(u *use, file word) {
	for suffix := range strings.FieldsSeq(".gz .bz2 .xz .lzma .zst .lz4 .lz .Z .br") {
		if name, ok := strings.CutSuffix(file.text, suffix); ok && file.known() {
			u.touch(umpire.KindWrite, lit(name), accessOf{})
		}
	}
}

// checkZip judges -TT, which names a program that tests the archive.
func checkZip(u *use) {
	tests := 0
	for _, g := range u.given {
		if g.name == "-T" {
			tests++
		}
	}
	if tests > 1 {
		u.raise(umpire.High, "runs a program to test the archive")
		for _, operand := range u.operands {
			u.then(func() { u.w.walkCode(u.outsideState(), operand, flow{}) })
		}
	}
}

func checkUnzip(u *use) {
	if len(u.operands) > 0 {
		u.touch(umpire.KindRead, u.operands[0], accessOf{})
	}
	shown := u.got("-l", "-t", "-p", "-c", "-v", "-z", "-Z") != nil
	if len(u.operands) > 0 && !shown {
		u.raiseTo(umpire.Medium, reversible, "unpacks files")
		folder := lit(".")
		if g := u.got("-d"); g != nil && g.has {
			folder = g.value
		}
		noteUnknownNames(u, folder)
	}
	if len(u.operands) > 1 {
		noteMembers(u, u.operands[1:])
	}
	u.operands = nil
}

// checkPackVerb judges archivers whose first operand is a verb.
func checkPackVerb(u *use) {
	operands := u.takeOperands()
	if len(operands) == 0 {
		return
	}
	files := operands[1:]
	switch {
	case scan.HasField("l v lb lt vb vt t i b h", operands[0].text) && operands[0].known():
		for _, file := range files {
			if strings.HasPrefix(file.text, "@") {
				u.raiseTo(umpire.Medium, harmless, "works on what a file names")
				file = file.cut(1)
			}
			u.touch(umpire.KindRead, file, accessOf{})
		}
		judgeListingOptions(u)
	case scan.HasField("a u d rn m mf f", operands[0].text) && operands[0].known():
		u.raiseTo(umpire.Medium, reversible, "packs files")
		for i, file := range files {
			kind := umpire.KindRead
			if i == 0 {
				kind = umpire.KindWrite
			}
			u.touch(kind, file, accessOf{tree: i > 0})
		}
	default:
		u.raiseTo(umpire.Medium, reversible, "unpacks files")
		u.touchAll(umpire.KindRead, files, accessOf{})
		noteUnknownNames(u, findPackFolder(u))
	}
}

// judgeListingOptions judges the options of a listing: those of one or two letters change its
// format, and others name lists of files, logs and settings.
func judgeListingOptions(u *use) {
	for _, arg := range argumentsOf(u) {
		if strings.HasPrefix(arg.text, "-") && (arg.open || !scan.HasField("-slt -ba -bd -bb -bb0 -bb1 -y -r -t7z "+
			"-tzip -ttar -p -p- -mmt -v -vt -c- -idq -inul", arg.text)) {
			u.raise(umpire.Medium, unjudgedOption(arg.display(), u.table))
		}
	}
}

// findPackFolder returns the folder of -oDIR.
func findPackFolder(u *use) word {
	for _, arg := range argumentsOf(u) {
		if strings.HasPrefix(arg.text, "-o") && len(arg.text) > 2 {
			return arg.cut(2)
		}
	}
	return lit(".")
}

// checkAr judges `ar t lib.a`: the letters need no dash.
func checkAr(u *use) {
	operands := u.takeOperands()
	if len(operands) == 0 || scan.HasField("--version --help -V", operands[0].text) {
		return
	}
	letters := strings.TrimPrefix(operands[0].text, "-")
	looks := u.program0() != "ranlib" && letters != "" && strings.Trim(letters, "tpvVOTsP") == "" &&
		strings.ContainsAny(letters, "tp")
	if !looks {
		u.raiseTo(umpire.Medium, reversible, "changes an archive of objects")
	}
	for _, operand := range operands {
		switch {
		case strings.HasPrefix(operand.text, "@"), strings.HasPrefix(operand.text, "--"), operand.open:
			u.raise(umpire.Medium, umpire.Say("obeys %s", operand.display()))
		case strings.HasPrefix(operand.text, "-") || operand.text == letters:
		case looks:
			u.touch(umpire.KindRead, operand, accessOf{})
		default:
			u.touch(umpire.KindWrite, operand, accessOf{})
		}
	}
	if strings.Contains(letters, "x") {
		noteUnknownNames(u, lit("."))
	}
}

func checkJar(u *use) {
	operands := u.takeOperands()
	if len(operands) == 0 {
		return
	}
	mode := strings.TrimLeft(operands[0].text, "-")
	looks := operands[0].known() && (mode == "list" || strings.Trim(mode, "tvf") == "" && strings.Contains(mode, "t"))
	for _, operand := range operands[1:] {
		switch {
		case strings.HasPrefix(operand.text, "-J"), strings.HasPrefix(operand.text, "@"):
			u.raise(umpire.Medium, umpire.Say("obeys %s", operand.display()))
		case !strings.HasPrefix(operand.text, "-"):
			u.touch(umpire.KindRead, operand, accessOf{tree: !looks})
		}
	}
	if !looks {
		u.raiseTo(umpire.Medium, reversible, "packs or unpacks files")
		noteUnknownNames(u, lit("."))
	}
}

// checkCpio judges cpio -t, which only lists, and the folder that -i unpacks to.
func checkCpio(u *use) {
	for _, g := range u.given {
		if g.means("-F") && g.has && isRemotePath(g.value.text) {
			u.raiseTo(umpire.High, sent, "reaches an archive on another machine")
			return
		}
	}
	if u.got("-t") != nil && u.got("-o") == nil && len(u.operands) == 0 && len(u.unknown) == 0 &&
		!u.has(runs|obeys|writes) {
		u.become(umpire.Safe, "lists an archive")
		return
	}
	folder := lit(".")
	if g := u.got("-D", "--directory"); g != nil && g.has {
		folder = g.value
	}
	noteUnknownNames(u, folder)
}
