package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// desktopTools are the tools of macOS, of Windows and of desktops.
var desktopTools = []program{
	{names: "open xdg-open gio-open wslview start explorer explorer.exe cygstart sensible-browser x-www-browser",
		risk: umpire.Medium, consequence: sent, why: "opens something with the program for it", args: "read…",
		lax: true},
	// asks: pbpaste
	// asks: pbpaste > ../x
	{names: "pbpaste", risk: umpire.Medium, consequence: harmless, why: printsClipboard, lax: true},
	// asks: wl-paste
	// asks: wl-paste --watch ./x
	{
		names: "wl-paste", risk: umpire.Medium, consequence: harmless, why: printsClipboard, style: leading,
		args: "none", about: aboutItself, opts: []option{
			{flags: "-n -l -p --no-newline --list-types --primary", values: "-t -s --type --seat", does: plain},
			{flags: "-w --watch", does: asks, consequence: lost, why: "runs a command at every change"},
		},
	},
	// asks: pbcopy < /etc/shadow
	// safe: pbcopy < a
	{names: "pbcopy", risk: umpire.Low, why: "fills the clipboard", args: "none", style: words,
		about: "-help", opts: []option{{values: "-pboard -Prefer", does: plain}}},
	// safe: clip
	// asks: clip x
	{names: "clip clip.exe", risk: umpire.Low, why: "fills the clipboard", args: "none"},
	// safe: wl-copy hello
	// asks: wl-copy --no-such
	{names: "wl-copy", risk: umpire.Low, why: "fills the clipboard", args: "data…", about: aboutItself, opts: []option{
		{flags: "-o -n -c -f -p --paste-once --foreground --clear --primary --trim-newline"},
		{values: "-t --type -s --seat", does: plain},
	}},
	// asks: xclip -o
	// asks: xclip /etc/shadow
	// safe: xclip -i a
	{names: "xclip", risk: umpire.Low, why: "uses the clipboard", args: "read…", style: words, opts: []option{
		{values: "-selection -sel -display -d -l -loops -t -target", does: plain},
		{flags: "-i -in -f -filter -r -rmlastnl -silent -quiet -verbose -noutf8"},
		{flags: "-o -out", does: asks, consequence: harmless, why: printsClipboard},
	}, about: "-version -help -h"},
	// asks: xsel -o
	// asks: xsel -l ../x
	// safe: xsel -b -i
	{names: "xsel", risk: umpire.Low, why: "uses the clipboard", args: "none", check: checkXsel, opts: []option{
		{flags: "-a -f -i -c -o -p -s -b -k -v -n -q -x -d --append --follow --input --clear --output --primary " +
			"--secondary --clipboard --keep --exchange --delete --verbose --nodetach --trim",
			values: "-t --selectionTimeout --display", does: plain},
		{values: "-l --logfile", does: writes, why: "writes a log"},
	}, about: aboutItself},
	// safe: say hello
	// asks: say -f /etc/shadow
	{names: "say", risk: umpire.Low, why: "tells the person at the desktop",
		opts: []option{{values: "-v -r", does: plain}, {values: "-f", does: reads}, {values: "-o", does: writes}}},
	// safe: notify-send done
	// asks: notify-send -A x=y done
	{names: "notify-send", risk: umpire.Low, why: "tells the person at the desktop", opts: []option{
		{values: "-u -t -i -a -c --urgency --expire-time --icon --app-name --category", does: plain},
		{flags: "-e --transient"},
	}},
	// safe: afplay a.wav
	// asks: afplay /etc/motd
	{names: "afplay", risk: umpire.Low, why: "plays a file", args: "read…",
		opts: []option{{values: "-v -t -r -q", does: plain}}},
	{names: "screencapture scrot gnome-screenshot import", risk: umpire.Medium, consequence: reversible,
		why: "takes a picture of the screen", args: "write…", lax: true},
	// safe: system_profiler SPHardwareDataType
	// asks: system_profiler > ../x
	{names: "system_profiler", risk: umpire.Safe, why: "tells about the system", opts: []option{{flags: "-xml -json"}},
		style: words},
	// safe: mdfind -onlyin src x
	// asks: mdfind -live x
	{names: "mdfind", peeks: true, risk: umpire.Safe, why: "looks files up in an index", style: words, opts: []option{
		{values: "-onlyin", does: reads},
		{values: "-name -attr", does: plain}, {flags: "-count -literal -interpret -0"},
	}},
	// safe: mdls a
	// asks: mdls -plist out a
	{names: "mdls", peeks: true, risk: umpire.Safe, why: "tells about files", style: words, args: "read…",
		opts: []option{{values: "-name -nullMarker", does: plain}, {flags: "-raw"}, {values: "-plist", does: writes}}},
	// safe: ioreg
	// asks: ioreg | sh
	{names: "ioreg kextstat", each: true, risk: umpire.Safe, why: "tells about the system", lax: true},
	{names: "vmmap", risk: umpire.Medium, consequence: reversible,
		why: "looks into running processes, and can write files", lax: true},
	// safe: dsmemberutil getuuid -U ann
	// asks: dsmemberutil flushcache
	{
		names: "dsmemberutil", risk: umpire.Safe, why: "tells about users", style: words,
		opts: []option{{flags: "-h", values: "-u -U -g -G -x -X -s -S", does: plain}},
		check: func(u *use) {
			if len(u.operands) > 0 && !scan.HasField("getuuid getid getsid checkmembership", u.operands[0].text) {
				u.raise(umpire.Medium, "changes what is kept about users")
			}
		},
	},
	// asks: heap 1
	{names: "heap leaks sample spindump fs_usage dtruss", each: true, risk: umpire.Medium, consequence: lost,
		why: "looks into running processes, and can start programs or write files", lax: true},
	// safe: defaults read
	// asks: defaults write a b c
	{
		names: "defaults", risk: umpire.High, consequence: lost, why: "changes settings", style: bare,
		check: func(u *use) {
			if u.firstOperandIn("read read-type find domains help") ||
				u.firstOperandIn("-currentHost") && scan.HasField("read find", secondWord(u.operands)) {
				lowerToLook(u, nil)
			}
		},
	},
	// safe: launchctl list
	// asks: launchctl unload x
	{
		names: "launchctl", risk: umpire.High, consequence: lost, why: "controls services", style: bare,
		check: func(u *use) {
			switch {
			case u.firstOperandIn("list print print-disabled blame version help getenv managername"):
				lowerToLook(u, nil)
			case u.firstOperandIn("reboot"):
				u.raise(umpire.Critical, "powers the machine off")
			case u.firstOperandIn("asuser bsexec") && len(u.operands) > 2:
				u.walkRest("command", u.operands[2:])
			}
		},
	},
	// safe: plutil -p a.plist
	// asks: dscl . -create /Users/x
	{names: "dscl scutil pmset nvram spctl csrutil tmutil softwareupdate profiles systemsetup bless asr installer " +
		"hdiutil codesign PlistBuddy plutil xattr mdutil kickstart", risk: umpire.High, consequence: lost,
		why: "changes settings of the system", style: bare, check: checkMac},
	// safe: ver
	// asks: ver > ../x
	{names: "cls ver", each: true, risk: umpire.Safe, why: "tells about the system", args: "none"},
	// safe: systeminfo
	// asks: systeminfo /S evil.example
	{
		names: "systeminfo tasklist where.exe hostname.exe", each: true, risk: umpire.Safe,
		why: "tells about the system", style: bare,
		check: func(u *use) {
			for _, operand := range u.operands {
				if strings.HasPrefix(operand.text, "/") && u.program0() != "where.exe" || operand.open {
					u.raise(umpire.Medium, "may ask another machine")
				}
			}
		},
	},
	// safe: ipconfig
	// asks: ipconfig /release
	{
		names: "ipconfig ipconfig.exe", risk: umpire.High, consequence: lost,
		why: "changes how the machine is connected", style: bare,
		check: func(u *use) {
			if len(u.operands) == 0 || u.firstOperandIn("/all /displaydns getifaddr getoption getpacket getsummary "+
				"ifcount waitall") {
				lowerToLook(u, nil)
			}
		},
	},
	// asks: del a
	{names: "del erase rd deltree", risk: umpire.High, consequence: lost, why: "deletes files for good", style: bare,
		check: checkDel},
	// asks: copy a b
	{names: "copy xcopy robocopy move ren md mklink replace", risk: umpire.Medium, consequence: reversible,
		why: "copies or moves files", style: bare, args: "write…"},
	// asks: attrib +h a
	{names: "attrib icacls cacls takeown reg regedit sc net netsh schtasks runas cscript wscript mshta rundll32 " +
		"regsvr32 certutil bitsadmin msiexec wevtutil fsutil setx assoc ftype", risk: umpire.High, consequence: lost,
		why: "changes settings of the system, or runs code", style: bare},
}

// checkMac judges the tools of macOS that both show and change settings.
func checkMac(u *use) {
	for _, operand := range u.operands {
		if operand.open || operand.text == "-delete" || operand.text == "--set" {
			return
		}
	}
	if u.program0() == "asr" && anyListed(u.operands, "--erase -erase") {
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
		lowerToLook(u, files)
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
		return scan.HasField("-read -list -search read list", secondWord(operands))
	case "scutil":
		return scan.HasField("--dns --proxy --get --nwi -r", verb)
	case "pmset":
		return verb == "-g"
	case "nvram":
		return verb == "-p" || verb == "-xp"
	case "spctl":
		return verb == "--status" || verb == "--assess" || verb == "-a"
	case "csrutil":
		return verb == "status"
	case "tmutil":
		return scan.HasField("status listbackups latestbackup destinationinfo listlocalsnapshots", verb)
	case "softwareupdate":
		return len(operands) == 1 && (verb == "-l" || verb == "--list" || verb == "--history")
	case "hdiutil":
		return verb == "info" || verb == "imageinfo"
	case "codesign":
		return scan.HasField("-d -dv -dvv -dvvv -dvvvv --display -v --verify -vv", verb) &&
			!strings.Contains(secondWord(operands), "extract") &&
			!anyListed(operands, "--sign -s --remove-signature --extract-certificates")
	case "plutil":
		return verb == "-p" || verb == "-lint"
	case "xattr":
		return scan.HasField("-l -p -lr", verb) || !strings.HasPrefix(verb, "-")
	}
	return false
}

// anyListed reports whether one of the words is on a list.
func anyListed(words []word, list string) bool {
	for _, wd := range words {
		if wd.text != "" && scan.HasField(list, wd.text) {
			return true
		}
	}
	return false
}

// checkDel judges del and rd: a short word that begins with a slash is a switch.
func checkDel(u *use) {
	all := anyListed(u.operands, "/s /S")
	for _, operand := range u.operands {
		if len(operand.text) > 2 || !strings.HasPrefix(operand.text, "/") || operand.open {
			u.touch(umpire.KindDelete, operand, accessOf{tree: all})
		}
	}
	u.operands = nil
}
