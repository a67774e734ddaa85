package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// ownerTools change the owners and permissions of files.
var ownerTools = []program{
	// asks: chmod +x a
	{
		names: "chmod gchmod", risk: umpire.High, consequence: reversible, why: "changes who may use files",
		args: "data write…", check: checkMode, about: aboutItself, opts: []option{
			{flags: "-c -f -v -h -E -H -L -P --changes --silent --quiet --verbose --preserve-root --no-preserve-root " +
				"--dereference --no-dereference"},
			{flags: "-R --recursive", does: walks, why: "changes everything below"},
			{values: "--reference", does: reads | lead},
			{flags: "-r -w -x -X -s -t -u -g -o -a", does: lead},
		},
	},
	// asks: chown x a
	{
		names: "chown chgrp gchown", risk: umpire.High, consequence: lost, why: "changes whom files belong to",
		args: "data write…", about: aboutItself, opts: []option{
			{flags: "-c -f -v -h -H -L -P -n -x --changes --silent --quiet --verbose --dereference --no-dereference " +
				"--preserve-root --no-preserve-root", values: "--from", does: plain},
			{flags: "-R --recursive", does: walks, why: "changes everything below"},
			{values: "--reference", does: reads | lead},
		},
	},
	// asks: chattr +i a
	{
		names: "chattr", risk: umpire.High, consequence: lost, why: "changes what may be done with files",
		args: "data write…", about: aboutItself, opts: []option{
			{flags: "-V -f -h -H -L -x", values: "-v -p", does: plain},
			{flags: "-a -A -c -C -d -D -e -i -j -m -P -s -S -t -T -u -F", does: lead},
			{flags: "-R", does: walks},
		},
	},
	{names: "chflags", risk: umpire.High, consequence: lost, why: "changes what may be done with files",
		args: "data write…", opts: []option{{flags: "-f -h -H -L -P -v -x"}, {flags: "-R", does: walks}}},
	// asks: setfacl -m u:x:r a
	{
		names: "setfacl", risk: umpire.High, consequence: reversible, why: "changes who may use files", args: "write…",
		about: aboutItself, opts: []option{
			{flags: "-b -k -d -n -L -P -t --remove-all --remove-default --default --no-mask --mask --logical " +
				"--physical --test"},
			{values: "-m --modify -x --remove --set", does: plain},
			{values: "-M --modify-file -X --remove-file --set-file --restore", does: reads},
			{flags: "-R --recursive", does: walks},
		},
	},
	// asks: setcap x a
	{names: "setcap setfattr chcon restorecon", risk: umpire.High, consequence: lost, why: "changes what files may do",
		args: "data write…", lax: true, opts: []option{{flags: "-r -R --recursive", does: walks}}},
	// safe: getfacl a
	// asks: getfacl /root
	{names: "getfacl getcap getfattr lsattr", risk: umpire.Safe, why: "tells who may use files", args: "read…",
		lax: true, opts: []option{{flags: "-r -R --recursive", does: walks}}},
}

// checkMode judges a mode that removes all access: a folder that no one may enter is lost with
// everything below it, as is one whose files all change at once.
func checkMode(u *use) {
	if len(u.operands) > 0 && !u.has(lead) && mayRaise(u.operands[0]) {
		u.extras = append(u.extras, "set-id")
	}
	for i, operand := range u.operands {
		if i == 0 && !u.has(lead) || u.has(walks) {
			continue
		}
		if strings.HasSuffix(operand.text, "/*") || len(u.operands) > 1 && shutsOut(u.operands[0].text) {
			u.touch(umpire.KindWrite, operand, accessOf{tree: true})
		}
	}
}

// mayRaise reports whether a mode may let a program run with the rights of its owner.
func mayRaise(mode word) bool {
	octal := strings.TrimLeft(mode.text, "0")
	return !mode.known() || strings.Contains(mode.text, "s") || len(octal) > 3 && strings.Trim(octal, "01234567") == ""
}

// shutsOut reports whether a mode removes all permissions.
func shutsOut(mode string) bool {
	return mode != "" && strings.Trim(mode, "0") == "" || scan.HasField("a-rwx a-x -x -rwx ugo-rwx ugo-x a=", mode)
}
