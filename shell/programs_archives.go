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
			{flags: "-c --create -r --append -u --update -A --catenate --concatenate --delete"},
			{flags: "-x --extract --get"}, {flags: "-t --list -d --diff --compare --test-label"},
			{flags: "-O --to-stdout"}, {flags: "--force-local"},
			{flags: "-v -z -j -J -Z -a -p -P -w -k -m -o -S -B -h -l -W -U -i -n -G -M -R -0 --verbose --gzip " +
				"--gunzip --ungzip --bzip2 --xz --lzma --lzip --lzop --zstd --compress --uncompress --auto-compress " +
				"--no-auto-compress --preserve-permissions --same-permissions --no-same-permissions --same-owner " +
				"--no-same-owner --absolute-names --interactive --confirmation --keep-old-files --keep-newer-files " +
				"--skip-old-files --overwrite --overwrite-dir --no-overwrite-dir --keep-directory-symlink " +
				"--unlink-first --recursive-unlink --touch --sparse --read-full-records --dereference " +
				"--hard-dereference --verify --wildcards --no-wildcards --wildcards-match-slash " +
				"--no-wildcards-match-slash --anchored --no-anchored --ignore-case --no-ignore-case --exclude-vcs " +
				"--exclude-vcs-ignores --exclude-backups --exclude-caches --exclude-caches-all --one-file-system " +
				"--no-recursion --recursion --null --no-null --numeric-owner --full-time --utc --acls --no-acls " +
				"--xattrs --no-xattrs --selinux --no-selinux --ignore-zeros --seek --delay-directory-restore " +
				"--no-ignore-command-error --ignore-command-error --ignore-failed-read --show-transformed-names " +
				"--show-omitted-dirs --block-number --incremental --multi-volume --no-mac-metadata --no-xattr " +
				"--no-fflags --check-links --clamp-mtime --no-quote-chars --quote-chars --verbatim-files-from " +
				"--no-verbatim-files-from --unquote --no-unquote --posix --portability --old-archive --restrict",
				values: "--warning", attached: "--totals --checkpoint --backup --atime-preserve --occurrence"},
			{values: "-b --blocking-factor --record-size -L --tape-length -V --label -H --format --exclude " +
				"--exclude-tag --exclude-ignore --exclude-ignore-recursive --strip-components --strip --transform " +
				"--xform -s --mode --mtime --owner --group --sort --suffix --pax-option --options --starting-file -K " +
				"--level --quoting-style --hole-detection --sparse-version --include --uid --gid --uname --gname",
				does: plain},
			{values: "--owner-map --group-map", does: reads},
			{values: "-N --newer --after-date --newer-mtime"},
			{values: "-f --file", does: plain},
			{values: "-C --directory --cd", attached: "--one-top-level", does: plain},
			{values: "-T --files-from -X --exclude-from --add-file", does: reads},
			{values: "-g --listed-incremental --volno-file --index-file", does: writes},
			{flags: "--remove-files", does: harms, consequence: lost, why: "deletes what it has packed"},
			{values: "-I --use-compress-program -F --info-script --new-volume-script --rsh-command --to-command " +
				"--use-compress-prog", does: runs, why: "runs a program"},
			{values: "--rmt-command", does: obeys},
			{values: "--checkpoint-action", does: asks, consequence: lost, why: "can run a program"},
		},
	},
	// safe: gzip -dc a.gz
	// asks: gzip a
	{names: "gzip gunzip", risk: umpire.Safe, why: packs, check: checkPacker, out: filters, opts: []option{
		{flags: "-c --stdout --to-stdout -l --list -t --test"},
		{flags: "-d -f -h -k -L -n -N -q -v -V -0 -1 -2 -3 -4 -5 -6 -7 -8 -9 --decompress --uncompress --force " +
			"--keep --no-name --name --quiet --verbose --fast --best --rsyncable --synchronous"},
		{values: "-S --suffix -b --bits", does: plain},
		{flags: "-r --recursive"},
	}, about: aboutItself},
	// safe: pigz -l a.gz
	// asks: pigz a
	{names: "pigz unpigz", risk: umpire.Safe, why: packs, check: checkPacker, out: filters, opts: []option{
		{flags: "-c --stdout --to-stdout -l --list -t --test"},
		{flags: "-d -f -h -k -L -n -N -q -v -V -z -i -K -m -M -O -R -U -Y -0 -1 -2 -3 -4 -5 -6 -7 -8 -9 --decompress " +
			"--uncompress --force --keep --no-name --name --quiet --verbose --fast --best --zlib --zip --rsyncable " +
			"--independent --synchronous"},
		{values: "-S --suffix -b --blocksize -p --processes -I --iterations", does: plain},
		{flags: "-r --recursive"},
	}, about: aboutItself},
	// safe: bzip2 -t a.bz2
	// asks: bzip2 -l a
	{names: "bzip2 bunzip2", risk: umpire.Safe, why: packs, check: checkPacker, out: filters, opts: []option{
		{flags: "-c --stdout -t --test"},
		{flags: "-d -f -k -q -v -L -V -s -z -0 -1 -2 -3 -4 -5 -6 -7 -8 -9 --decompress --compress --force --keep " +
			"--quiet --verbose --small --fast --best"},
	}, about: aboutItself},
	// safe: pbzip2 -dc a.bz2
	// asks: pbzip2 -l a
	{names: "pbzip2", risk: umpire.Safe, why: packs, check: checkPacker, out: filters, opts: []option{
		{flags: "-c --stdout -t --test"},
		{flags: "-d -f -k -q -v -l -L -V -r -z -0 -1 -2 -3 -4 -5 -6 -7 -8 -9 --decompress --compress --force --keep " +
			"--quiet --verbose --loadavg --read --fast --best"},
		{values: "-b -m -p -S --ignore-trailing-garbage", does: plain},
	}, about: aboutItself},
	// safe: xz -l a.xz
	// asks: xz a
	{names: "xz unxz lzma unlzma", risk: umpire.Safe, why: packs, check: checkPacker, out: filters, opts: []option{
		{flags: "-c --stdout --to-stdout -l --list -t --test"},
		{flags: "-d -f -k -q -v -z -e -H -Q -0 -1 -2 -3 -4 -5 -6 -7 -8 -9 --decompress --uncompress --compress " +
			"--force --keep --quiet --verbose --extreme --robot --single-stream --no-sparse --ignore-check --no-warn " +
			"--no-adjust --fast --best"},
		{values: "-T --threads -S --suffix -F --format -C --check -M --memlimit --memlimit-compress " +
			"--memlimit-decompress --block-size --filters", attached: "--lzma1 --lzma2 --x86", does: plain},
		{attached: "--files --files0", does: reads | asks, consequence: lost,
			why: "prints the files that a file names"},
	}, about: aboutItself},
	// safe: lzip -l a.lz
	// asks: lzip a
	{names: "lzip", risk: umpire.Safe, why: packs, check: checkPacker, out: filters, about: aboutItself, opts: []option{
		{flags: "-c --stdout -l --list -t --test"},
		{flags: "-d -f -k -q -v -F -a -0 -1 -2 -3 -4 -5 -6 -7 -8 -9 --decompress --force --keep --quiet --verbose " +
			"--recompress --loose-trailing --trailing-error --fast --best"},
		{values: "-b --member-size -m --match-length -s --dictionary-size -S --volume-size", does: plain},
		{values: "-o --output", does: writes},
	}},
	// safe: zstd -l a.zst
	// asks: zstd a
	{names: "zstd unzstd zstdmt", risk: umpire.Safe, why: packs, check: checkPacker, out: filters, opts: []option{
		{flags: "-c --stdout -l --list -t --test"},
		{flags: "-d -f -k -q -v -z -C -0 -1 -2 -3 -4 -5 -6 -7 -8 -9 --decompress --uncompress --compress --force " +
			"--keep --quiet --verbose --ultra --rsyncable --no-check --check --no-dictID --progress --no-progress " +
			"--sparse --no-sparse --exclude-compressed --single-thread --content-size --no-content-size " +
			"--pass-through --no-pass-through", values: "--auto-threads", attached: "--fast --long --adapt",
			does: plain},
		{values: "--threads --memory --format --block-size", attached: "-T -M -B", does: plain},
		{values: "--filelist", does: reads | asks, consequence: lost, why: "prints the files that a file names"},
		{values: "-D --patch-from", does: reads}, {values: "-o --output-dir-flat --output-dir-mirror", does: writes},
		{flags: "-r --recursive"},
		{flags: "--rm", does: asks, consequence: lost, why: "deletes what it has packed or unpacked"},
	}, about: aboutItself},
	// safe: lz4 -t a.lz4
	// asks: lz4 -l a
	{names: "lz4 unlz4", risk: umpire.Safe, why: packs, check: checkPacker, out: filters, opts: []option{
		{flags: "-c --stdout -t --test --list"},
		{flags: "-d -f -k -q -v -z -l -m -0 -1 -2 -3 -4 -5 -6 -7 -8 -9 --decompress --compress --force --keep " +
			"--quiet --verbose --best --multiple --no-frame-crc --content-size --sparse --no-sparse --favor-decSpeed",
			attached: "--fast", does: plain},
		{values: "-D", does: reads},
		{flags: "-r --recursive"},
		{flags: "--rm", does: asks, consequence: lost, why: "deletes what it has packed or unpacked"},
	}, about: aboutItself},
	// safe: compress -c a
	// asks: compress -l a
	{names: "compress uncompress", risk: umpire.Safe, why: packs, check: checkPacker, out: filters, opts: []option{
		{flags: "-c"}, {flags: "-d -f -k -v -V --decompress --force --keep"}, {values: "-b", does: plain},
	}, about: aboutItself},
	// safe: brotli -t a.br
	// asks: brotli -j -t a.br
	{names: "brotli", risk: umpire.Safe, why: packs, check: checkPacker, out: filters, opts: []option{
		{flags: "-c --stdout -t --test"},
		{flags: "-d -f -k -n -v -0 -1 -2 -3 -4 -5 -6 -7 -8 -9 --decompress --force --keep --no-copy-stat --verbose " +
			"--best"},
		{values: "-q --quality -w --lgwin -S --suffix --large_window -C --comment", does: plain},
		{values: "-D --dictionary", does: reads}, {values: "-o --output", does: writes},
		{flags: "--rm -j", does: asks, consequence: lost, why: "deletes what it has packed or unpacked"},
	}, about: aboutItself},
	// safe: zstdcat a.zst
	// asks: zstdcat /root/a.zst
	{names: "zstdcat", risk: umpire.Safe, why: "prints what is packed", args: "read…", out: filters, opts: []option{
		{flags: "-q -v -f -k --quiet --verbose --force --keep --no-progress", attached: "--long", does: plain},
		{values: "--threads --memory", attached: "-T -M", does: plain}, {values: "-D", does: reads},
	}, about: aboutItself},
	// safe: lz4cat a.lz4
	// asks: lz4cat a.lz4 --rm
	{names: "lz4cat", risk: umpire.Safe, why: "prints what is packed", args: "read…", out: filters, opts: []option{
		{flags: "-q -v -f -k --quiet --verbose --keep"}, {values: "-D", does: reads},
	}, about: aboutItself},
	// safe: zcat a.gz
	// asks: zcat /root/a.gz
	{names: "zcat gzcat", risk: umpire.Safe, why: "prints what is packed", args: "read…", out: filters, opts: []option{
		{flags: "-d -c -f -h -k -l -L -n -N -q -t -v -V --decompress --stdout --force --list --quiet --test " +
			"--verbose --keep"},
	}, about: aboutItself},
	// safe: bzcat a.bz2
	// asks: bzcat /etc/motd
	{names: "bzcat", risk: umpire.Safe, why: "prints what is packed", args: "read…", out: filters, opts: []option{
		{flags: "-d -c -k -q -s -t -v -f -0 -1 -2 -3 -4 -5 -6 -7 -8 -9 --decompress --stdout --keep --quiet --small " +
			"--test --verbose --force"},
	}, about: aboutItself},
	// safe: xzcat a.xz
	// asks: xzcat --files=list
	{names: "xzcat lzcat", risk: umpire.Safe, why: "prints what is packed", args: "read…", out: filters, opts: []option{
		{flags: "-d -c -k -f -q -v -l -t --decompress --stdout --keep --force --quiet --verbose --list --test"},
		{values: "-T --threads -M --memlimit", does: plain},
		{attached: "--files --files0", does: reads | asks, consequence: lost,
			why: "prints the files that a file names"},
	}, about: aboutItself},
	// safe: zipinfo -1 a.zip
	// asks: zipinfo /etc/a.zip
	{names: "zipinfo", risk: umpire.Safe, why: "lists an archive", args: "read data…",
		opts: []option{{flags: "-1 -2 -s -m -l -v -h -t -T -z -C -M"}, {values: "-x", does: plain}}},
	// safe: lsar a.zip
	// asks: lsar /etc/a.zip
	{names: "lsar", risk: umpire.Safe, why: "lists an archive", args: "read data…",
		opts: []option{{flags: "-l -L -t -j --long --verylong --test --json"}, {values: "-p -e -E", does: plain}}},
	// safe: zdump -v Europe/Berlin
	// asks: zdump -x
	{names: "zdump", risk: umpire.Safe, why: "prints times of zones", args: "read…",
		about: aboutItself, opts: []option{{flags: "-v -V -i"}, {values: "-c -t", does: plain}}},
	// safe: zip --version
	// asks: zip a.zip b
	{
		names: "zip", risk: umpire.Medium, consequence: reversible, why: "packs files", args: "write tree…",
		check: checkZip, about: "--help --version -h --license", opts: []option{
			{flags: "-0 -1 -2 -3 -4 -5 -6 -7 -8 -9 -q -v -r -R -j -k -l -u -o -f -y -X -D -F -e -E -n -N -g -A -J -U " +
				"-w -z -S -T -c -L -@ --recurse-paths --quiet --verbose --junk-paths --update --freshen --symlinks " +
				"--no-extra --no-dir-entries --encrypt --test --latest-time --fix --fixfix --adjust-sfx --grow " +
				"--show-files"},
			{values: "-i --include -x --exclude"},
			{flags: "-d --delete", values: "-P --password -s --split-size -Z --compression-method -t --suffixes",
				does: plain},
			{values: "-b --temp-path -O --output-file --logfile-path", does: writes},
			{flags: "-m --move", does: drops | harms, consequence: lost, why: "deletes what it has packed"},
			{values: "--unzip-command", does: runs, why: "runs a program to test"},
		},
	},
	// safe: unzip -l a.zip
	// asks: unzip a.zip
	{names: "unzip", risk: umpire.Safe, why: "lists an archive", check: checkUnzip, out: filters, opts: []option{
		{flags: "-l -v -z -Z -t -p -c -q -n -o -j -a -u -b -U -C -L -V -K -X -f -M -: -^ -h -D -1 -s -T -x"},
		{values: "-d -P -I -O", does: plain},
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
			{flags: "-0 -a -A -b -B -c -d -f -i -k -l -L -m -n -r -s -S -u -v -V -w -z -y --extract " +
				"--make-directories --preserve-modification-time --no-absolute-filenames --absolute-filenames " +
				"--quiet --verbose --unconditional --null --numeric-uid-gid --to-stdout --dereference --link " +
				"--sparse --dot --swap --only-verify-crc --reset-access-time --append --nonmatching " +
				"--no-preserve-owner"},
			{values: "-H --format -C --io-size --block-size -R --owner -M --message -x", does: plain},
			{values: "-F --file -I -E --pattern-file", does: reads}, {values: "-O", does: writes},
			{flags: "-t --list"}, {flags: "-o -p --create --pass-through"}, {values: "-D --directory", does: plain},
			{values: "--rsh-command", does: runs}, {values: "--rmt-command -G", does: obeys},
		},
	},
	{
		names: "pax", risk: umpire.Medium, consequence: reversible, why: "packs or unpacks files", args: "write…",
		lax: true, opts: []option{{values: "-f -s -x -o -b -B -E -G -U -T", does: plain}},
		check: func(u *use) { noteUnknownNames(u, lit(".")) },
	},
}

// filters returns the output of a program that transforms its input. Input from the network
// stays marked as such.
func filters(_ *use, in flow) flow { return filteredFlow(in, "") }

// means reports whether an option has that spelling, or another spelling of the same option.
func (g *given) means(name string) bool { return g.option.hasName(name) }

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
	if args := u.rawArguments(); len(args) > 0 && args[0].known() && args[0].text != "" && args[0].text[0] != '-' {
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
		u.then(func() { u.w.path(s, kind, member, accessOf{tree: true, table: u.table, follows: u.followsLinks()}) })
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
			u.touch(umpire.KindWrite, file, accessOf{tree: u.gave("-r", "--recursive")})
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
	shown := u.gave("-l", "-t", "-p", "-c", "-v", "-z", "-Z")
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
		noteUnknownNames(u, u.findPackFolder())
	}
}

// judgeListingOptions judges the options of a listing: those of one or two letters change its
// format, and others name lists of files, logs and settings.
func judgeListingOptions(u *use) {
	for _, arg := range u.rawArguments() {
		if strings.HasPrefix(arg.text, "-") && (arg.open || !scan.HasField("-slt -ba -bd -bb -bb0 -bb1 -y -r -t7z "+
			"-tzip -ttar -p -p- -mmt -v -vt -c- -idq -inul", arg.text)) {
			u.raise(umpire.Medium, unjudgedOption(arg.display(), u.table))
		}
	}
}

// findPackFolder returns the folder of -oDIR.
func (p *parsed) findPackFolder() word {
	for _, arg := range p.rawArguments() {
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
