package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// diskTools are the programs that work on disks and the machine as a whole. Their operands are
// writes, which reveals a device among them. If the operation destroys any operand, the use
// itself is critical.
var diskTools = []program{
	// asks: dd if=a of=b
	// safe: dd if=a bs=1 skip=10 count=5 status=none | xxd
	// safe: dd if=a of=/dev/null bs=1M
	// asks: dd if=a of=b
	// asks: dd if=/etc/shadow count=1
	// asks: dd if=a of=/dev/sdb
	// asks: dd $X
	{names: "dd dcfldd", risk: umpire.High, consequence: lost, why: "copies raw bytes", style: bare, check: checkDd},
	{
		names: "mkfs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat mkfs.msdos mkfs.exfat " +
			"mkfs.ntfs mkfs.f2fs mkfs.minix mkfs.bfs mkfs.cramfs mkfs.jfs mkfs.reiserfs mkfs.udf mkfs.nilfs2 " +
			"mkfs.erofs mkfs.ubifs mkfs.bcachefs mkfs.gfs2 mkfs.ocfs2 mke2fs mkswap mkdosfs mkntfs mkexfatfs mkudffs " +
			"newfs newfs_apfs newfs_hfs newfs_msdos bcache make-bcache zerofree",
		risk: umpire.High, consequence: lost, why: "makes a new file system over the existing data", args: "write…",
		lax: true, opts: []option{{values: "-t -L -b -O -E --type --label", does: plain}},
	},
	// safe: fdisk -l
	// asks: fdisk /dev/sda
	// asks: sfdisk --delete /dev/sda
	// asks: sfdisk -d /dev/sda x
	{
		names: "fdisk parted sfdisk gdisk sgdisk cfdisk cgdisk gpart", risk: umpire.High, consequence: lost,
		why: "changes the partitions of a disk", args: "write data…", lax: true, check: checkPartition, opts: []option{
			{flags: "-l --list"},
			{values: "-t --type -u --units -b --sector-size -o --output -w --wipe", does: plain},
		},
	},
	// safe: wipefs -n /dev/null
	// asks: wipefs -a /dev/sda
	{
		names: "wipefs", risk: umpire.Safe, why: "lists signatures of file systems", args: "read…", check: checkWipe,
		about: aboutItself, opts: []option{
			{flags: "-n -J -i -p -q -h -V --no-act --json --noheadings --parsable --quiet"},
			{values: "-O --output -t --types", does: plain},
			{flags: "-a --all -f --force -b", values: "-o --offset", attached: "--backup", does: edits | harms,
				consequence: lost, why: "wipes signatures of file systems"},
		},
	},
	// asks: blkdiscard /dev/sda
	{names: "blkdiscard scrub nwipe", risk: umpire.High, consequence: lost, why: "discards all that a device holds",
		args: "write…", lax: true},
	// safe: hdparm -I /dev/null
	// asks: hdparm -Y /dev/sda
	{names: "hdparm sdparm smartctl", risk: umpire.High, consequence: lost, why: "works on a disk directly",
		args: "write…", lax: true, check: checkDiskInfo},
	{
		names: "badblocks", risk: umpire.High, consequence: lost, why: "tests a disk, and may overwrite it",
		args: "read data…", lax: true, opts: []option{
			{values: "-b -c -e -d -p -t -i", does: plain}, {values: "-o", does: writes},
			{flags: "-w -n", does: edits, consequence: lost},
		},
	},
	{
		names: "vgremove lvremove", risk: umpire.Critical, consequence: lost,
		why: "destroys volumes and what is on them", args: "write…", check: checkVolumes, opts: []option{
			{flags: "-y -d -f -q -v --yes --debug --force --quiet --verbose --noudevsync --nohistory --nolocking " +
				"--longhelp",
				values: "--lockopt --profile --reportformat --config --commandprofile --driverloaded -A --autobackup",
				does:   plain},
			{values: "-S --select", does: plain}, {flags: "-t --test", does: shows}, {flags: aboutItself, does: shows},
		},
	},
	{names: "lvm", risk: umpire.High, consequence: lost, why: "changes the volumes of disks", style: leading,
		args: "command", about: aboutItself},
	// asks: pvremove x
	{names: "pvremove pvcreate vgcreate lvcreate pvmove vgreduce lvreduce lvresize vgextend lvextend lvconvert " +
		"vgcfgrestore vgchange lvchange pvresize pvscan vgscan", risk: umpire.High, consequence: lost,
		why: "changes the volumes of disks", args: "write…", lax: true},
	// safe: pvs
	// asks: pvs --config x
	{
		names: "pvs vgs lvs pvdisplay vgdisplay lvdisplay lvscan", risk: umpire.Safe, why: "lists disks and volumes",
		args: "data…", about: aboutItself, opts: []option{
			{flags: "-a -P -c -C -h -m -s -v -t --all --noheadings --nosuffix --columns --colon --maps --segments " +
				"--verbose --readonly", values: "--units --options --sort -o -O -S --select --separator --reportformat",
				does: plain},
		},
	},
	// safe: blkid --version
	// asks: blkid -w out
	{
		names: "blkid", risk: umpire.Medium, consequence: reversible,
		why: "lists disks and volumes, and keeps the list in /run/blkid", args: "read…",
		about: aboutItself, opts: []option{
			{flags: "-d -D -i -k -l -p"},
			{values: "-L -U -n -o -O -S -s -t -u --label --uuid --output --match-tag --match-token --match-types",
				does: plain},
		},
	},
	// safe: findmnt
	// safe: findmnt -l
	// asks: findmnt -F /etc/fstab
	{names: "findmnt", risk: umpire.Safe, why: "lists disks and volumes", args: "read…", opts: []option{
		{flags: "-A -a -b -c -D -e -f -h -i -J -k -l -m -n -P -R -r -s -u -U -v -y --all --ascii --bytes " +
			"--canonicalize --df --evaluate --first-only --invert --json --kernel --fstab --mtab --list --noheadings " +
			"--notruncate --pairs --raw --submounts --real --pseudo --tree --uniq --verify"},
		{values: "-o --output -O --options -S --source -T --target -t --types -M --mountpoint -N --task -d --direction",
			does: plain},
	}, about: aboutItself},
	// safe: dumpe2fs -h image
	// asks: dumpe2fs /etc/image
	{names: "dumpe2fs", risk: umpire.Safe, why: "tells about a file system", args: "read",
		opts: []option{{flags: "-b -f -g -h -m -x -V"}, {values: "-o", does: plain}}},
	// safe: xfs_info image
	// asks: xfs_info /etc/image
	{names: "xfs_info", risk: umpire.Safe, why: "tells about a file system", args: "read", about: "-V"},
	// asks: cryptsetup luksFormat /dev/sda
	// safe: cryptsetup status x
	{names: "cryptsetup", risk: umpire.High, consequence: lost, why: "changes encrypted disks",
		args: "data write data…", lax: true,
		check: func(u *use) { lowerWhenListed(u, "status isLuks luksDump luksUUID benchmark") }},
	// safe: losetup
	// asks: losetup /dev/loop0 a
	{names: "losetup", risk: umpire.High, consequence: lost, why: "changes loop devices", args: "write…", lax: true,
		check: checkLoop,
		opts:  []option{{flags: "-a --all -l --list -J --json", values: "-j --associated -O --output", does: plain}}},
	{
		names: "mdadm", risk: umpire.High, consequence: lost, why: "changes arrays of disks", args: "write…", lax: true,
		check: func(u *use) {
			if first := u.rawArguments(); len(first) > 0 && first[0].known() &&
				scan.HasField("-D --detail -E --examine -Q --query", first[0].text) && len(u.given) == 0 {
				lowerToLook(u, u.operands)
			}
		},
		opts: []option{{flags: "--zero-superblock", does: harms, consequence: lost, why: "destroys an array of disks"}},
	},
	// safe: zpool list
	// asks: zpool destroy x
	{names: "zpool", risk: umpire.High, consequence: lost, why: "changes pools of disks", args: "data write…",
		lax: true, check: checkPool},
	// safe: zfs list
	// asks: zfs destroy x
	{names: "zfs", risk: umpire.High, consequence: lost, why: "changes file systems", lax: true, check: checkPool},
	{names: "btrfs", risk: umpire.High, consequence: lost, why: "changes file systems", args: "data…", lax: true,
		check: checkBtrfs},
	// asks: e2fsck /dev/sda
	{names: "e2fsck fsck fsck.ext4 fsck.ext3 fsck.ext2 fsck.xfs fsck.vfat fsck.btrfs xfs_repair tune2fs resize2fs " +
		"debugfs e2label fatlabel xfs_growfs xfs_admin ntfsfix ntfsresize btrfstune testdisk photorec ddrescue " +
		"ntfsclone partclone partclone.ext4 partclone.ext3 partclone.ntfs partclone.fat partclone.dd " +
		"partclone.restore sg_dd flashcp flash_erase nandwrite ubiformat ufsdump", risk: umpire.High, consequence: lost,
		why: "repairs or changes a file system", args: "write…", lax: true},
	{names: "sg_format sg_sanitize", risk: umpire.Critical, consequence: lost, why: "erases a disk", args: "write…",
		lax: true, about: "--help -h --version -V"},
	// safe: efibootmgr
	// asks: efibootmgr -B
	{names: "efibootmgr", risk: umpire.Safe, why: "lists what the machine boots", style: bare, check: checkBoot},
	{names: "grub-install grub2-install update-grub grub-mkconfig grub2-mkconfig lilo fwupdmgr fwupdtool mokutil " +
		"dracut update-initramfs mkinitcpio", risk: umpire.High, consequence: lost,
		why: "changes how the machine boots", args: "write…", lax: true},
	{names: "bootctl flashrom", each: true, risk: umpire.High, consequence: lost, why: "changes how the machine boots",
		lax: true, check: checkFirmware},
	// safe: nvme list
	// asks: nvme format /dev/nvme0
	{names: "nvme", risk: umpire.High, consequence: lost, why: "works on a disk directly", args: "data write…",
		lax: true, check: checkNvme},
	// asks: shutdown now
	{
		names: "shutdown", risk: umpire.Critical, consequence: lost, why: "powers the machine off",
		check: checkShutdown,
		about: aboutItself,
		opts:  []option{{flags: "-c"}, {flags: "-h -H -P -r -k -f -F -n -t --halt --poweroff --reboot --no-wall"}},
	},
	{names: "reboot halt poweroff", risk: umpire.Critical, consequence: lost, why: "powers the machine off", lax: true,
		about: aboutItself},
	{names: "init telinit", risk: umpire.High, consequence: lost, why: "changes what the system runs", style: bare,
		check: checkInit},
	{names: "kexec", risk: umpire.Critical, consequence: lost, why: "starts another kernel", lax: true,
		about: aboutItself},
	// asks: pm-suspend
	{names: "pm-suspend pm-hibernate rtcwake wall write mesg", risk: umpire.High, consequence: lost,
		why: "reaches everybody on the machine", lax: true},
	{
		names: "format", risk: umpire.High, consequence: lost, why: "makes a new file system over the existing data",
		style: bare, args: "write…",
		check: func(u *use) {
			for _, operand := range u.operands {
				if len(operand.text) == 2 && operand.text[1] == ':' && scan.IsLetter(operand.text[0]) {
					u.raise(umpire.Critical, "erases a disk")
				}
			}
		},
	},
	{names: "Format-Volume Clear-Disk Initialize-Disk Remove-Partition format-volume clear-disk", each: true,
		risk: umpire.Critical, consequence: lost, why: "erases a disk", style: bare},
	{names: "diskpart bcdedit vssadmin cipher wmic bootrec", risk: umpire.High, consequence: lost,
		why: "changes disks or how the machine boots", style: bare},
	// safe: diskutil list
	// asks: diskutil eraseDisk x
	{names: "diskutil", risk: umpire.High, consequence: lost, why: "changes disks", style: bare, check: checkDiskutil},
}

// checkDd judges dd, which writes of= and reads if=.
func checkDd(u *use) {
	prints := true
	for _, operand := range u.operands {
		name, value, _ := operand.after("=")
		prints = prints && operand.known() &&
			(name == "of" && scan.HasField(harmlessDevices, value.text) ||
				scan.HasField("if bs ibs obs cbs count skip iseek conv iflag oflag status", name))
		switch name {
		case "of":
			if value.known() && scan.HasField(harmlessDevices, value.text) {
				continue
			}
			u.touch(umpire.KindWrite, value, accessOf{why: "is overwritten with raw bytes"})
		case "if":
			u.touch(umpire.KindRead, value, accessOf{})
		default:
			if operand.open && !strings.Contains(operand.text, "=") {
				u.doubt = "an operand that is not known may name a device"
			}
		}
	}
	if prints && len(u.operands) > 0 {
		u.onlyShows("prints raw bytes")
	}
	u.operands = nil
}

// lowerToLook lowers a use to one that only reads the named files, unless something about it is
// unknown.
func lowerToLook(u *use, files []word) {
	if u.doubtful || u.spoke != "" {
		return
	}
	for _, arg := range u.rawArguments() {
		if arg.split {
			return
		}
	}
	u.become(umpire.Safe, "only looks")
	u.operands = nil
	u.touchAll(umpire.KindRead, files, accessOf{})
}

// firstOperandIn reports whether the first operand is one of the words of a list.
func (a *arguments) firstOperandIn(list string) bool {
	return len(a.operands) > 0 && a.operands[0].known() && a.operands[0].text != "" &&
		scan.HasField(list, a.operands[0].text)
}

// lowerWhenListed lowers the use to a harmless one if its first operand is on the list.
func lowerWhenListed(u *use, list string) {
	if u.firstOperandIn(list) {
		lowerToLook(u, nil)
	}
}

// checkPartition judges fdisk -l, and `print` of parted.
func checkPartition(u *use) {
	switch {
	case u.got("-l") != nil && len(u.given) == 1 && (len(u.operands) <= 1 || u.program0() == "fdisk"):
		lowerToLook(u, u.operands)
	case u.program0() == "parted" && len(u.operands) == 2 && u.operands[1].text == "print":
		lowerToLook(u, u.operands[:1])
	case u.program0() == "sfdisk" && len(u.rawArguments()) == 2 &&
		scan.HasField("-d --dump -J --json -l --list -V --verify", u.rawArguments()[0].text) && len(u.operands) == 1:
		lowerToLook(u, u.operands)
	case u.program0() == "sgdisk" && len(u.rawArguments()) == 2 &&
		scan.HasField("-p --print -v --verify -L", u.rawArguments()[0].text) &&
		len(u.operands) == 1:
		lowerToLook(u, u.operands)
	case u.program0() == "sgdisk" || u.program0() == "gdisk": // for these -o takes no value
		for _, arg := range u.rawArguments() {
			if strings.HasPrefix(arg.text, "/dev/") {
				u.touch(umpire.KindWrite, arg, accessOf{})
			}
		}
	case u.program0() == "fdisk":
		u.touchAll(umpire.KindWrite, u.operands, accessOf{})
		u.operands = nil
	}
	checkDeviceOperands(u)
}

// checkDeviceOperands checks the operands after the first, which may be devices too.
func checkDeviceOperands(u *use) {
	for _, operand := range u.operands[min(1, len(u.operands)):] {
		if strings.HasPrefix(operand.text, "/dev/") {
			u.touch(umpire.KindWrite, operand, accessOf{})
		}
	}
}

func checkWipe(u *use) {
	if u.got("-n", "--no-act") != nil && len(u.unknown) == 0 {
		lowerToLook(u, u.operands)
	}
}

// checkDiskInfo judges hdparm -I and smartctl -a, which only query.
func checkDiskInfo(u *use) {
	for _, arg := range u.rawArguments() {
		if strings.HasPrefix(arg.text, "-") && !scan.HasField("-a -i -I -H -A -x -t -T -tT -Tt -g -v --all --info "+
			"--health --scan --xall", arg.text) || arg.open {
			return
		}
	}
	if len(u.rawArguments()) > 0 {
		lowerToLook(u, u.operands)
	}
}

// checkVolumes judges the removal of volumes; without a volume the program only complains.
func checkVolumes(u *use) {
	if u.gave("-t", "--test") && len(u.given) == 1 && len(u.unknown) == 0 && !u.doubtful {
		u.operands = nil
		lowerToLook(u, nil)
		return
	}
	if len(u.operands) == 0 && len(u.unknown) == 0 && !u.doubtful && !u.gave("-S", "--select") {
		u.become(umpire.Medium, "names no volume")
	}
}

func checkLoop(u *use) {
	if len(u.operands) == 0 {
		lowerToLook(u, nil)
	}
}

func checkBtrfs(u *use) {
	shows := len(u.operands) > 1 && scan.HasField("show df usage list status get-default stats", u.operands[1].text)
	if shows && !u.doubtful {
		lowerToLook(u, u.operands[2:])
		return
	}
	if u.firstOperandIn("subvolume su") && scan.HasField("delete del", secondWord(u.operands)) {
		u.touchAll(umpire.KindDelete, u.operands[2:], accessOf{tree: true})
		return
	}
	checkDeviceOperands(u)
}

// checkPool judges zpool and zfs: destroying more than a snapshot is final.
func checkPool(u *use) {
	switch {
	case u.firstOperandIn("list status get history iostat events version help diff"):
		lowerToLook(u, nil)
	case u.firstOperandIn("destroy") && !strings.Contains(u.operands[len(u.operands)-1].text, "@"):
		u.raise(umpire.Critical, "destroys a file system and what is on it")
	}
}

// checkBoot judges efibootmgr: any use except listing may leave the machine unable to boot.
func checkBoot(u *use) {
	for _, operand := range u.operands {
		if !operand.known() || !scan.HasField("-v --verbose -V --version -u --unicode -q --quiet", operand.text) {
			u.raise(umpire.Critical, "can leave the machine unable to boot")
		}
	}
}

// checkFirmware judges commands that remove the machine's firmware or boot loader.
func checkFirmware(u *use) {
	if u.program0() == "bootctl" && u.firstOperandIn("remove") {
		u.raise(umpire.Critical, "can leave the machine unable to boot")
	}
	for _, arg := range u.rawArguments() {
		if u.program0() == "flashrom" &&
			(strings.HasPrefix(arg.text, "-w") || strings.HasPrefix(arg.text, "-E") ||
				strings.HasPrefix(arg.text, "--write") || strings.HasPrefix(arg.text, "--erase")) {
			u.raise(umpire.Critical, "can leave the machine unable to boot")
		}
	}
}

func checkNvme(u *use) {
	switch {
	case u.firstOperandIn("list list-subsys smart-log id-ctrl id-ns error-log fw-log version help"):
		lowerToLook(u, u.operands[1:])
	case u.firstOperandIn("format sanitize delete-ns"):
		u.raise(umpire.Critical, "erases a disk")
	}
}

// checkShutdown judges shutdown -c, which cancels a shutdown.
func checkShutdown(u *use) {
	if len(u.given) == 1 && u.got("-c") != nil && len(u.unknown) == 0 && !u.doubtful {
		u.become(umpire.Low, "calls a shutdown off")
	}
}

func checkInit(u *use) {
	for _, operand := range u.operands {
		if scan.HasField("0 6", operand.text) && operand.known() {
			u.raise(umpire.Critical, "powers the machine off")
		}
	}
}

func checkDiskutil(u *use) {
	switch {
	case len(u.operands) == 0, u.firstOperandIn("list info activity listFilesystems"):
		lowerToLook(u, nil)
	case u.operands[0].known() && scan.HasField("erasedisk erasevolume secureerase zerodisk randomdisk reformat "+
		"partitiondisk deletecontainer apfs.deletecontainer", strings.ToLower(u.operands[0].text)),
		u.firstOperandIn("apfs ap cs coreStorage") && len(u.operands) > 1 &&
			strings.HasPrefix(strings.ToLower(u.operands[1].text), "delete"):
		u.raise(umpire.Critical, "erases a disk")
	}
}
