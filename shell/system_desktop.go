package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
)

// desktopTools are those of macOS, of Windows and of desktops.
var desktopTools = []program{
	{names: "open xdg-open gio-open wslview start explorer explorer.exe cygstart sensible-browser x-www-browser", risk: umpire.Medium, why: "opens something with the program for it", args: "read…", lax: true},
	{names: "pbpaste", risk: umpire.Safe, why: "prints the clipboard", lax: true},
	{names: "wl-paste", risk: umpire.Safe, why: "prints the clipboard", style: leading, args: "none", opts: []option{{names: "-n -l -p -t= -s= --no-newline --list-types --primary --type= --seat="}, {names: "-w --watch", does: asks, why: "runs a command at every change"}, {names: aboutItself, does: shows}}},
	{names: "pbcopy clip clip.exe wl-copy", risk: umpire.Low, why: "fills the clipboard", lax: true, args: "data…"},
	{names: "xclip", risk: umpire.Low, why: "uses the clipboard", args: "read…", lax: true},
	{names: "xsel", risk: umpire.Low, why: "uses the clipboard", args: "none", opts: []option{{names: "-aficopsbkvnqxd --append --follow --input --clear --output --primary --secondary --clipboard --keep --exchange --delete --verbose --nodetach --trim -t= --selectionTimeout= --display="}, {names: "-l= --logfile=", does: writes, why: "writes a log"}, {names: aboutItself, does: shows}}},
	{names: "say notify-send afplay", risk: umpire.Low, why: "tells whoever sits there", opts: []option{{names: "-v= -r= -u= -t= -i= --urgency= --expire-time= --icon="}, {names: "-f=", does: reads}, {names: "-o=", does: writes}}},
	{names: "screencapture scrot gnome-screenshot import", risk: umpire.Medium, why: "takes a picture of the screen", args: "write…", lax: true},
	{names: "system_profiler mdfind mdls ioreg kextstat vmmap dsmemberutil", risk: umpire.Safe, why: "tells about the system", lax: true},
	{names: "heap leaks sample spindump fs_usage dtruss", each: true, risk: umpire.Medium, why: "looks into running processes, and can start programs or write files", lax: true},
	{names: "defaults", risk: umpire.High, why: "changes settings", style: bare, check: func(u *use) {
		if u.says("read read-type find domains help") || u.says("-currentHost") && hasField("read find", second(u.operands)) {
			u.onlyLooks(nil)
		}
	}},
	{names: "launchctl", risk: umpire.High, consequence: lost, why: "controls services", style: bare, check: func(u *use) {
		switch {
		case u.says("list print print-disabled blame version help getenv managername"):
			u.onlyLooks(nil)
		case u.says("reboot"):
			u.raise(umpire.Critical, "powers the machine off")
		case u.says("asuser bsexec") && len(u.operands) > 2:
			u.rest("command", u.operands[2:])
		}
	}},
	{names: "dscl scutil pmset nvram spctl csrutil tmutil softwareupdate profiles systemsetup bless asr installer hdiutil codesign PlistBuddy plutil xattr mdutil kickstart", risk: umpire.High, why: "changes settings of the system", style: bare, check: checkMac},
	{names: "cls ver systeminfo tasklist where.exe hostname.exe", risk: umpire.Safe, why: "tells about the system", style: bare},
	{names: "ipconfig ipconfig.exe", risk: umpire.High, why: "changes how the machine is connected", style: bare, check: func(u *use) {
		if len(u.operands) == 0 || u.says("/all /displaydns getifaddr getoption getpacket getsummary ifcount waitall") {
			u.onlyLooks(nil)
		}
	}},
	{names: "del erase rd deltree", risk: umpire.High, consequence: lost, why: "deletes files for good", style: bare, check: checkDel},
	{names: "copy xcopy robocopy move ren md mklink replace", risk: umpire.Medium, consequence: reversible, why: "copies or moves files", style: bare, args: "write…"},
	{names: "attrib icacls cacls takeown reg regedit sc net netsh schtasks runas cscript wscript mshta rundll32 regsvr32 certutil bitsadmin msiexec wevtutil fsutil setx assoc ftype", risk: umpire.High, consequence: lost, why: "changes settings of the system, or runs code", style: bare},
}

// checkMac judges the tools of macOS that both show and change.
func checkMac(u *use) {
	for _, operand := range u.operands {
		if operand.open || operand.text == "-delete" || operand.text == "--set" {
			return
		}
	}
	if u.program0() == "asr" && mentions(u.operands, "--erase -erase") {
		u.raise(umpire.Critical, "erases a disk")
	}
	looks := showsOnly(u.program0(), u.operands)
	if looks {
		var files []word
		for _, operand := range u.operands {
			if strings.Contains(operand.text, "/") && u.program0() != "dscl" {
				files = append(files, operand)
			}
		}
		u.onlyLooks(files)
	}
}

// showsOnly reports whether the first argument of a tool only looks.
func showsOnly(program string, operands []word) bool {
	if len(operands) == 0 {
		return program == "xattr" || program == "scutil"
	}
	verb := operands[0].text
	switch program {
	case "dscl":
		return hasField("-read -list -search read list", second(operands))
	case "scutil":
		return hasField("--dns --proxy --get --nwi -r", verb)
	case "pmset":
		return verb == "-g"
	case "nvram":
		return verb == "-p" || verb == "-xp"
	case "spctl":
		return verb == "--status" || verb == "--assess" || verb == "-a"
	case "csrutil":
		return verb == "status"
	case "tmutil":
		return hasField("status listbackups latestbackup destinationinfo listlocalsnapshots", verb)
	case "softwareupdate":
		return len(operands) == 1 && (verb == "-l" || verb == "--list" || verb == "--history")
	case "hdiutil":
		return verb == "info" || verb == "imageinfo"
	case "codesign":
		return hasField("-d -dv -dvv -dvvv -dvvvv --display -v --verify -vv", verb) && !strings.Contains(second(operands), "extract") && !mentions(operands, "--sign -s --remove-signature --extract-certificates")
	case "plutil":
		return verb == "-p" || verb == "-lint"
	case "xattr":
		return hasField("-l -p -lr", verb) || !strings.HasPrefix(verb, "-")
	}
	return false
}

// mentions reports whether one of the words is on a list.
func mentions(words []word, list string) bool {
	for _, wd := range words {
		if wd.text != "" && hasField(list, wd.text) {
			return true
		}
	}
	return false
}

// checkDel judges del and rd: what begins with a slash and is short is a switch.
func checkDel(u *use) {
	all := mentions(u.operands, "/s /S")
	for _, operand := range u.operands {
		if len(operand.text) > 2 || !strings.HasPrefix(operand.text, "/") || operand.open {
			u.touch(umpire.KindDelete, operand, accessOf{tree: all})
		}
	}
	u.operands = nil
}
