package shell

import (
	"path"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// removers are the package managers that can remove packages the system needs: the words that
// remove, and those for a dry run.
var removers = []struct{ programs, verbs, dry string }{
	{"dpkg", "-r --remove -P --purge", "--dry-run --no-act --simulate"},
	{
		"apt apt-get aptitude", "remove purge autoremove autopurge",
		"-s --simulate --just-print --dry-run --recon --no-act",
	},
	{"rpm", "-e --erase", "--test"},
	{"dnf yum microdnf zypper tdnf", "remove erase rm autoremove", "--assumeno --dry-run"},
	{"apk", "del", "-s --simulate"},
	{"pacman yay paru", "-R --remove", "-p --print"},
	{"emerge", "-C --unmerge -c --depclean", "-p --pretend"},
	{"xbps-remove", "", "-n --dry-run"},
}

// essentials are packages without which a system cannot start or be repaired: those that Debian
// marks as essential, and similar ones. Versioned kernel packages are not included.
const essentials = "libc6 libc-bin glibc glibc-common musl systemd systemd-sysv systemd-libs libsystemd0 init " +
	"sysvinit sysvinit-core openrc runit bash dash coreutils busybox util-linux login passwd mount dpkg apt rpm " +
	"rpm-libs dnf yum zypper pacman apk-tools xbps portage base base-files base-passwd base-system filesystem setup " +
	"bsdutils debianutils diffutils findutils grep gzip hostname init-system-helpers ncurses-base perl-base sed " +
	"sysvinit-utils tar alpine-base alpine-baselayout kernel kernel-core kernel-default linux linux-lts linux-virt " +
	"linux-zen linux-hardened linux-generic linux-image-generic linux-image-amd64 linux-image-arm64"

// checkRemoval refuses to remove an essential package.
func checkRemoval(u *use) {
	for _, r := range removers {
		if !scan.HasField(r.programs, u.program0()) || givesAny(u.rawArguments(), r.dry) {
			continue
		}
		removes := r.verbs == "" || givesAny(u.rawArguments(), r.verbs)
		for _, arg := range u.rawArguments() {
			taken := strings.HasPrefix(r.programs, "apt ") &&
				strings.HasSuffix(arg.text, "-") // install NAME- removes it
			if (removes || taken) && isEssential(arg) {
				u.raise(umpire.Critical,
					umpire.Say("removes %s, without which the system does not work", arg.display()))
			}
		}
	}
}

// givesAny reports whether one of the words is on a list; a letter with a dash may be part of a
// cluster.
func givesAny(args []word, list string) bool {
	for _, arg := range args {
		if arg.known() && scan.HasField(list, arg.text) && arg.text != "" {
			return true
		}
		if len(arg.text) < 2 || arg.text[0] != '-' || arg.text[1] == '-' {
			continue
		}
		for name := range strings.FieldsSeq(list) {
			if len(name) == 2 && strings.Contains(arg.text, name[1:]) {
				return true
			}
		}
	}
	return false
}

// isEssential reports whether a word names, or may name, one of the essentials.
func isEssential(arg word) bool {
	name := strings.TrimSuffix(arg.text, "-")
	if i := strings.IndexAny(name, ":="); i >= 0 {
		name = name[:i]
	}
	name = strings.ToLower(path.Base(name))
	for known := range strings.FieldsSeq(essentials) {
		fits, _ := path.Match(name, known)
		version, versioned := strings.CutPrefix(name, known+"-")
		versioned = versioned && version != "" && '0' <= version[0] && version[0] <= '9' &&
			!strings.HasPrefix(known, "kernel") && !strings.HasPrefix(known, "linux")
		if fits || versioned || arg.open && len(name) > 3 && strings.HasPrefix(known, name) {
			return true
		}
	}
	return arg.open && strings.HasSuffix(arg.text, "-image-")
}

// checkAccounts refuses to remove an account together with its home, and to remove root.
func checkAccounts(u *use) {
	name := u.program0()
	removes := scan.HasField("userdel deluser", name) || name == "pw" && u.firstOperandIn("userdel")
	homes := map[string]string{
		"userdel": "-r --remove", "deluser": "--remove-home --remove-all-files", "pw": "-r",
	}[name]
	if name == "sysadminctl" {
		removes = givesAny(u.rawArguments(), "-deleteUser")
	}
	if locksOut(name, u.rawArguments()) {
		u.raise(umpire.Critical, "locks out the account that administers the system")
	}
	if !removes {
		return
	}
	if homes != "" && givesAny(u.rawArguments(), homes) ||
		name == "sysadminctl" && !givesAny(u.rawArguments(), "-keepHome") {
		u.raise(umpire.Critical, "deletes a home directory")
	}
	for i, arg := range u.rawArguments() {
		if arg.text == "root" && (name != "deluser" || i+1 == len(u.rawArguments())) {
			u.raise(umpire.Critical, "removes the account that administers the system")
		}
	}
}

// locking are the options that lock an account, and those that do so depending on their value.
var locking = map[string]struct{ options, shell, expires string }{
	"passwd":  {options: "-l --lock"},
	"usermod": {options: "-L --lock", shell: "-s --shell", expires: "-e --expiredate"},
	"chsh":    {shell: "-s --shell"},
	"chage":   {expires: "-E --expiredate"},
	"pw":      {options: "lock"},
}

// locksOut reports whether root can no longer log in after a command.
func locksOut(name string, args []word) bool {
	l, known := locking[name]
	if !known || len(args) < 2 || args[len(args)-1].text != "root" {
		return false
	}
	if givesAny(args, l.options) {
		return true
	}
	for i, arg := range args[:len(args)-1] {
		option, value, attached := arg.after("=")
		if !attached {
			value = args[i+1]
		}
		switch {
		case scan.HasField(l.shell, option) && scan.HasField("false nologin true", baseName(value.text)):
			return true
		case scan.HasField(l.expires, option) && scan.HasField("0 1 1970-01-01 1970-01-02", value.text):
			return true
		}
	}
	return false
}
