package shell

import (
	"path"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// fileTools are the programs that create, change, move, pack and remove files, and the editors.
var fileTools = []program{
	// asks: rm a
	{names: "rm", risk: umpire.High, consequence: lost, why: "deletes files for good", args: "delete…", opts: []option{
		{flags: "-f -i -I -v -d -P -W -x --force --verbose --dir --one-file-system --no-preserve-root",
			attached: "--interactive --preserve-root", does: plain},
		{flags: "-r -R --recursive", does: walks, why: "deletes everything below"},
	}, about: aboutItself},
	{
		names: "Remove-Item remove-item", each: true, risk: umpire.High, consequence: lost,
		why: "deletes files for good", style: words, args: "delete…", lax: true, opts: []option{
			{flags: "-Recurse -recurse -r", does: walks, why: "deletes everything below"},
			{flags: "-Force -force -fo -Verbose -Confirm"},
		},
	},
	// asks: rmdir a
	{
		names: "rmdir", risk: umpire.High, consequence: reversible, why: "deletes folders", args: "delete…",
		about: aboutItself, opts: []option{{flags: "-p -v --parents --verbose --ignore-fail-on-non-empty"}},
	},
	// asks: unlink a
	{names: "unlink", risk: umpire.High, consequence: lost, why: "deletes a file for good", args: "delete…",
		about: aboutItself},
	// asks: shred a
	{
		names: "shred srm wipe", risk: umpire.High, consequence: lost, why: "overwrites files so that nothing is left",
		args: "write…", check: checkShred, about: aboutItself, opts: []option{
			{flags: "-f -v -x -z -r -R -d -l -m -M -q -Q -e -c -C --force --verbose --exact --zero --recursive"},
			{flags: "-u", attached: "--remove", does: plain},
			{values: "-n --iterations -s --size", does: plain},
			{values: "--random-source", does: reads},
		},
	},
	// asks: mv a b
	{names: "mv", risk: umpire.Medium, consequence: reversible, why: "moves files", check: checkMove, opts: []option{
		{flags: "-f -i -n -u -v -Z -h --force --interactive --no-clobber --verbose --strip-trailing-slashes " +
			"--context --exchange --no-copy --debug", attached: "--update", does: plain},
		{flags: "-b", values: "-S --suffix", attached: "--backup"},
		{values: "-t --target-directory", does: plain}, {flags: "-T --no-target-directory"},
	}, about: aboutItself},
	// asks: cp a b
	{
		names: "cp gcp", risk: umpire.Medium, consequence: reversible, why: "copies files", check: checkCopy,
		about: aboutItself, opts: []option{
			{flags: "-l --link"},
			{flags: "-f -i -n -p -s -u -v -x -L -P -H -d -Z -c -X --force --interactive --no-clobber " +
				"--no-dereference --dereference --parents --verbose --one-file-system --symbolic-link " +
				"--attributes-only --strip-trailing-slashes --debug --copy-contents --keep-directory-symlink " +
				"--remove-destination", values: "--no-preserve --sparse",
				attached: "--preserve --update --reflink --context", does: plain},
			{flags: "-a -r -R --archive --recursive", does: walks},
			{flags: "-b", values: "-S --suffix", attached: "--backup"},
			{values: "-t --target-directory", does: plain}, {flags: "-T --no-target-directory"},
		},
	},
	// asks: ln -s a b
	{
		names: "ln link", peeks: true, risk: umpire.Medium, consequence: reversible,
		why: "makes another name for a file", check: checkLink, about: aboutItself, opts: []option{
			{flags: "-b -d -F -f -i -n -L -P -r -s -v -h --force --interactive --logical --no-dereference --physical " +
				"--relative --symbolic --verbose --directory"},
			{values: "-S --suffix", attached: "--backup"},
			{values: "-t --target-directory", does: plain}, {flags: "-T --no-target-directory"},
		},
	},
	// asks: install a b
	{
		names: "install ginstall", risk: umpire.Medium, consequence: reversible,
		why: "copies files and sets who may do what with them", check: checkInstall, about: aboutItself, opts: []option{
			{flags: "-b -c -C -D -p -v -s -Z --compare --preserve-timestamps --strip --verbose --preserve-context " +
				"--debug", attached: "--context", does: plain},
			{values: "-m --mode -o --owner -g --group -S --suffix", attached: "--backup"},
			{values: "-t --target-directory", does: plain}, {flags: "-T --no-target-directory"},
			{flags: "-d --directory"},
			{values: "--strip-program", does: runs, why: "runs a program on what it installs"},
		},
	},
	// asks: rename s/a/b/ c
	{
		names: "rename prename file-rename", risk: umpire.Medium, consequence: reversible,
		why: "renames files, by an expression that may be code", args: "data write…",
		about: "--help --version -V -h", opts: []option{
			{flags: "-v -n -s -o -f -i -a -l -N -0 --verbose --no-act --nono --symlink --no-overwrite --last " +
				"--interactive --force"},
			{values: "-e --expr", does: asks, consequence: lost, why: "runs Perl code"},
		},
	},
	// asks: mkdir a
	{names: "mkdir", risk: umpire.Medium, consequence: reversible, why: "makes folders", args: "write…", opts: []option{
		{flags: "-p -v -Z --parents --verbose", attached: "--context", does: plain},
		{values: "-m --mode", does: plain},
	}, about: aboutItself},
	// asks: touch a
	{
		names: "touch", risk: umpire.Medium, consequence: reversible, why: "makes files, or changes their times",
		args: "write…", about: aboutItself, opts: []option{
			{flags: "-a -c -f -h -m --no-create --no-dereference"}, {values: "-d --date -t --time -A", does: plain},
			{values: "-r --reference", does: reads},
		},
	},
	// asks: truncate -s 0 a
	{
		names: "truncate", risk: umpire.High, consequence: reversible, why: "cuts files to a size", args: "write…",
		about: aboutItself, opts: []option{
			{flags: "-c -o --no-create --io-blocks"},
			{values: "-s --size", does: plain}, {values: "-r --reference", does: reads},
		},
	},
	// asks: fallocate -l 5 a
	{
		names: "fallocate", risk: umpire.High, consequence: reversible, why: "changes the size of files",
		args: "write…", about: aboutItself, opts: []option{
			{flags: "-c -d -i -n -p -v -w -x -z --keep-size --dig-holes --zero-range --punch-hole --collapse-range " +
				"--insert-range --posix --verbose"},
			{values: "-l --length -o --offset", does: plain},
		},
	},
	// asks: tee a
	// safe: tee < a
	{
		names: "tee", risk: umpire.Safe, why: "passes its input on", args: "write…", check: checkTee, out: passesAll,
		about: aboutItself,
		opts:  []option{{flags: "-a -i -p --append --ignore-interrupts", attached: "--output-error", does: plain}},
	},
	// safe: mktemp -u
	// asks: mktemp -p /etc
	{names: "mktemp", risk: umpire.Low, why: "makes a temporary file of a new name", check: checkTemp, opts: []option{
		{flags: "-d -q -u -t --directory --quiet --dry-run", values: "--suffix"}, {values: "-p", attached: "--tmpdir"},
	}, about: aboutItself},
	{
		names: "tempfile", risk: umpire.Medium, consequence: reversible, why: "makes a temporary file", args: "none",
		about: aboutItself, opts: []option{
			{values: "-d --directory", does: writes}, {values: "-n --name", does: writes},
			{values: "-m --mode -p --prefix -s --suffix"},
		},
	},
	// asks: mkfifo a
	{names: "mkfifo", risk: umpire.Medium, consequence: reversible, why: "makes a named pipe", args: "write…",
		about: aboutItself, opts: []option{{flags: "-Z", values: "-m --mode", attached: "--context", does: plain}}},
	// asks: mknod a c 1 3
	{names: "mknod", risk: umpire.High, consequence: lost, why: "makes a device file", args: "write data…",
		about: aboutItself, opts: []option{{flags: "-Z", values: "-m --mode", attached: "--context", does: plain}}},
	// safe: sync
	// asks: sync /root
	{names: "sync", risk: umpire.Low, why: "writes what is cached to disk", args: "read…",
		about: aboutItself, opts: []option{{flags: "-d -f --data --file-system"}}},
	// asks: patch -p1 -i a.patch
	{
		names: "patch", risk: umpire.Medium, consequence: reversible, why: "changes the files that a patch names",
		check: checkPatch, about: aboutItself, opts: []option{
			{flags: "-b -c -E -f -l -N -n -R -s -t -T -u -v -Z --backup --force --batch --forward --reverse --silent " +
				"--quiet --unified --context --normal --dry-run --verbose --binary --remove-empty-files --posix " +
				"--ignore-whitespace"},
			{values: "-p --strip -F --fuzz -V --version-control -z --suffix -B --prefix -Y -D --ifdef " +
				"--reject-format --read-only --quoting-style -g --get", attached: "--merge"},
			{values: "-i --input", does: reads}, {values: "-o --output -r --reject-file", does: writes},
			{values: "-d --directory", does: plain},
			{flags: "-e --ed", does: asks, consequence: lost, why: "runs the patch as commands of an editor"},
		},
	},
}

// passesAll returns the output of a program that copies its input.
func passesAll(_ *use, in flow) flow { return in }

// A transfer describes the operation of cp, mv, ln and install: sources and one target.
type transfer struct {
	sources []word
	target  word
	has     bool // there is a target
	folder  bool // the target is certainly a folder
	file    bool // the target is certainly not a folder
}

// splitTransfer splits the operands.
func (p *parsed) splitTransfer() transfer {
	t := transfer{sources: p.operands, file: p.got("-T", "--no-target-directory") != nil}
	p.operands = nil
	if into := p.got("-t", "--target-directory"); into != nil && into.has {
		t.target, t.has, t.folder = into.value, true, true
		return t
	}
	if n := len(t.sources); n > 1 {
		t.sources, t.target, t.has = t.sources[:n-1], t.sources[n-1], true
		t.folder = n > 2
	}
	return t
}

// noteTransferWrites records the files that the transfer creates or overwrites: the target
// itself, and if it may be a folder, the files in it with the names of the sources.
func noteTransferWrites(u *use, t transfer) {
	u.doubtSuffix("-S", "--suffix")
	if !t.has {
		return
	}
	u.touch(umpire.KindWrite, t.target, accessOf{})
	if t.file || !t.target.known() || !t.folder && !mayBeFolder(t.target.text) {
		return
	}
	for _, source := range t.sources {
		name := baseName(source.text)
		switch {
		case source.known() && name != "." && name != ".." && name != "/":
			u.touch(umpire.KindWrite, lit(joinPath(t.target.text, name)), accessOf{tree: u.has(walks)})
		case u.has(walks):
			noteUnknownNames(u, t.target)
			return
		}
	}
}

// mayBeFolder reports whether a name looks like a folder's rather than a file's.
func mayBeFolder(name string) bool {
	last := baseName(name)
	return strings.HasSuffix(name, "/") || strings.HasSuffix(last, ".d") || strings.LastIndexByte(last, '.') <= 0 ||
		last == ".."
}

// noteUnknownNames records that files with unknown names are created below a folder. Within the
// project anything there may change. Elsewhere that would overstate the effect: unpacking into
// a home does not replace all of it.
func noteUnknownNames(u *use, folder word) {
	below := !path.IsAbs(folder.text) || strings.HasPrefix(folder.text+"/", u.w.env.Dir+"/")
	u.touch(umpire.KindWrite, folder, accessOf{tree: below})
}

func checkMove(u *use) {
	t := u.splitTransfer()
	moved := accessOf{tree: true, risk: umpire.Medium, moved: true, why: "is moved away"}
	u.touchAll(umpire.KindDelete, t.sources, moved)
	noteTransferWrites(u, t)
}

func checkCopy(u *use) {
	t := u.splitTransfer()
	for _, source := range t.sources {
		u.touch(umpire.KindRead, source, accessOf{tree: u.has(walks), follows: u.followsLinks()})
		if u.program0() != "install" && u.got("-l", "--link") != nil {
			u.touch(umpire.KindWrite, source, accessOf{tree: u.has(walks), why: "gets another name"})
		}
	}
	noteTransferWrites(u, t)
}

// checkLink judges ln. With one operand it creates the link in the working folder. The target
// of a link counts as read, because later commands reach it through the link.
func checkLink(u *use) {
	t := u.splitTransfer()
	if !t.has && len(t.sources) == 1 {
		t.target, t.has, t.folder = lit("."), true, true
	}
	u.touchAll(umpire.KindRead, t.sources, accessOf{tree: true, why: "gets another name"})
	noteTransferWrites(u, t)
}

func checkInstall(u *use) {
	if u.got("-d", "--directory") != nil {
		u.touchAll(umpire.KindWrite, u.operands, accessOf{})
		u.operands = nil
		return
	}
	checkCopy(u)
}

// checkShred judges shred -u, which deletes as well.
func checkShred(u *use) {
	if u.got("-u", "--remove") == nil && u.program0() == "shred" {
		return
	}
	u.touchAll(umpire.KindDelete, u.operands, accessOf{tree: u.gave("-r", "-R")})
}

// checkTee raises the risk of tee if it writes more than the terminal.
func checkTee(u *use) {
	for _, operand := range u.operands {
		if !operand.known() || !scan.HasField("/dev/null /dev/stdout /dev/stderr -", operand.text) {
			u.raiseTo(umpire.High, reversible, "writes its input to files")
		}
	}
}

// checkTemp judges mktemp, which writes where a template or a folder says.
func checkTemp(u *use) {
	if u.gave("-u", "--dry-run") {
		u.operands, u.why = nil, "prints a new name"
		return
	}
	for _, operand := range u.operands {
		if strings.Contains(operand.text, "/") || operand.open || !u.gave("-t", "-p", "--tmpdir") {
			u.touch(umpire.KindWrite, operand, accessOf{})
		}
	}
	u.operands = nil
	if dir := u.got("-p", "--tmpdir"); dir != nil && dir.has {
		u.touch(umpire.KindWrite, dir.value, accessOf{})
	}
}

// checkPatch judges patch by the file that it names, or any file that the patch may name.
func checkPatch(u *use) {
	switch {
	case len(u.operands) > 0:
		u.touch(umpire.KindWrite, u.operands[0], accessOf{})
		u.touchAll(umpire.KindRead, u.operands[1:], accessOf{})
	case u.got("-d", "--directory") != nil:
		noteUnknownNames(u, u.got("-d", "--directory").value)
	default:
		noteUnknownNames(u, lit("."))
	}
	u.operands = nil
}
