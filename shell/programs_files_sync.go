package shell

import (
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
)

// syncTools copy whole trees, to other machines too.
var syncTools = []program{
	// safe: rsync --version
	// asks: rsync -a a b
	// safe: rsync -avn --delete src/ dst/
	// safe: rsync --list-only src/
	// asks: rsync -n -e ./x a b
	// asks: rsync -avn a/ host:b
	// asks: rsync -n * b/
	// asks: rsync -avn a/ $X
	// asks: rsync -an --log-file=x a b
	// asks: rsync -a a/ b/
	{
		names: "rsync", risk: umpire.Medium, consequence: reversible, why: "copies trees of files", check: checkRsync,
		about: aboutItself, opts: []option{
			{flags: "-a -c -b -u -l -d -D -g -H -k -K -L -m -o -p -P -q -r -R -s -S -t -v -W -x -X -z -A -E -J -N -U " +
				"-y -C -F -h -i -I -0 -4 -6 -8 --archive --checksum --backup --update --inplace --append " +
				"--append-verify --dirs --links --copy-links --copy-unsafe-links --safe-links --munge-links " +
				"--copy-dirlinks --keep-dirlinks --hard-links --perms --executability --acls --xattrs --owner " +
				"--group --devices --specials --times --omit-dir-times --super --fake-super --sparse --preallocate " +
				"--whole-file --one-file-system --existing --ignore-existing --recursive --relative --no-relative " +
				"--no-implied-dirs --verbose --quiet --progress --partial --compress --stats --human-readable " +
				"--itemize-changes --cvs-exclude --numeric-ids --force --size-only --ignore-times --fuzzy " +
				"--delay-updates --prune-empty-dirs --secluded-args --protect-args --from0 --ipv4 --ipv6 --no-perms " +
				"--no-owner --no-group --no-times --mkpath --open-noatime --atimes --crtimes --no-motd --blocking-io " +
				"--8-bit-output --ignore-errors --no-compress --old-args --trust-sender"},
			{flags: "-n --dry-run --list-only"},
			{values: "-B --block-size --exclude --include -f --filter --max-size --min-size --max-delete --timeout " +
				"--contimeout --modify-window --bwlimit --info --debug --chmod --chown --usermap --groupmap " +
				"--compress-level --compress-choice --zc --skip-compress --checksum-choice --port --address " +
				"--sockopts --out-format --log-file-format --outbuf --protocol --iconv --suffix --stop-after " +
				"--stop-at --stderr", does: plain},
			{values: "--files-from --exclude-from --include-from --password-file --link-dest --compare-dest " +
				"--copy-dest --read-batch", does: reads},
			{values: "--log-file --write-batch --only-write-batch --backup-dir --partial-dir -T --temp-dir",
				does: writes},
			{values: "-e --rsh --rsync-path --early-input --copy-as", does: runs,
				why: "runs a program to reach the other side"},
			{flags: "--daemon", values: "-M --remote-option --config", does: obeys,
				why: "gives the other side options"},
			{flags: "--del --delete --delete-before --delete-during --delete-delay --delete-after --delete-excluded " +
				"--delete-missing-args", does: harms, consequence: lost, why: "deletes what the source does not have"},
			{flags: "--remove-source-files", does: harms, consequence: lost, why: "deletes what it has copied"},
		},
	},
}

// checkRsync distinguishes hosts from paths, and judges the deletions of --delete.
func checkRsync(u *use) {
	operands := u.takeOperands()
	if len(operands) == 0 {
		return
	}
	if u.got("-n", "--dry-run", "--list-only") != nil && !u.has(runs|obeys|writes|reads) && len(u.unknown) == 0 &&
		!u.doubtful && !slices.ContainsFunc(operands, anyName) {
		u.spoke = ""
		u.become(umpire.Safe, "tells what it would copy")
	}
	last := len(operands) - 1
	for i, operand := range operands {
		switch {
		case isRemotePath(operand.text) || operand.unplaced() && operand.text == "":
			u.raise(umpire.High, "copies files between machines")
			u.then(func() { u.w.network(operand.display(), "files are copied from or to it") })
		case i < last && u.got("--remove-source-files") != nil:
			u.touch(umpire.KindDelete, operand, accessOf{tree: true})
		case i < last || last == 0 || u.got("-n", "--dry-run", "--list-only") != nil:
			u.touch(umpire.KindRead, operand, accessOf{tree: true, follows: u.followsLinks()})
		case u.got("--delete") != nil:
			u.touch(umpire.KindDelete, operand, accessOf{tree: true, why: "what the source does not have is deleted"})
		default:
			noteUnknownNames(u, operand)
		}
	}
}

// anyName reports whether a wildcard may match a file with a name like an option.
func anyName(wd word) bool {
	return wd.glob && (wd.text == "" || strings.IndexByte("*?[", wd.text[0]) >= 0)
}

// isRemotePath reports whether a name is host:path, host::module or scheme:// to rsync and scp:
// it has a colon before the first slash.
func isRemotePath(name string) bool {
	colon := strings.IndexByte(name, ':')
	slash := strings.IndexByte(name, '/')
	return colon > 0 && (slash < 0 || colon < slash)
}
