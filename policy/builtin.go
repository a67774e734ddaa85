package policy

import (
	"iter"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/rulefile/wildcard"
	"github.com/umpirehq/umpire/internal/secret/sensitive"
)

// A hardRule is one line of the built-in tables: patterns for one tool, and their row. Built-in
// rules use the rule language, which lets `umpire rules list --builtin` print them.
type hardRule struct {
	id       umpire.RuleID
	tool     string
	patterns []string
	says     umpire.Phrase

	row  int
	code umpire.ReasonCode
	// onlyTree, wholeFolder, named and secret are explained at compiled; except lists patterns
	// that the line does not cover.
	onlyTree, wholeFolder, named, secret bool
	// switchable lines can be switched off by a person.
	switchable bool
	except     []string
}

// systemFolders hold an operating system. Deleting one, or changing everything in it, breaks
// the machine.
var systemFolders = []string{
	"/", "/{bin,boot,dev,etc,home,lib,lib32,lib64,libx32,opt,proc,root,run,sbin,srv,sys,usr,var}",
	"/{Users,System,Library,Applications,Volumes,private,cores,nix}",
	"/usr/*", "/{lib,usr/lib}/{modules,*-linux-*}", "/var/lib/{dpkg,rpm,pacman}", "/var/{lib,log,db,cache,spool}",
	"/private/{etc,var}", "/System/*", "/Library/*",
	"?:/", "?:/{Windows,Users,ProgramData,Program Files,Program Files (x86)}", "?:/Windows/System32",
	"/mnt/?", "/mnt/?/{Windows,Users,ProgramData,Program Files,Program Files (x86)}", "/mnt/?/Windows/System32",
}

var homeFolders = []string{"~", "/home/*", "/Users/*", "?:/Users/*", "/mnt/?/Users/*"}

// coreFiles are needed to start a machine or log in to it.
var coreFiles = []string{
	"/etc/{passwd,shadow,group,gshadow,fstab,crypttab,sudoers,ld.so.preload,inittab}", "/etc/sudoers.d/**", "/boot/**",
}

// firstPrograms are needed to start any other program.
var firstPrograms = []string{
	"/{bin,usr/bin}/{sh,bash,dash,env,mount,login,su,sudo,systemctl}", "/{sbin,usr/sbin}/init",
	"/{lib,lib64,usr/lib,usr/lib64}/**/{ld-linux*,ld-musl*,libc.so*,libc-*}", "/{lib,usr/lib}/systemd/systemd",
}

// devices are disks, memory and kernel switches, but not harmless ones like /dev/null, nor
// terminals.
var devices = []string{
	"/dev/{sd,hd,vd,xvd,nvme,mmcblk,disk,rdisk,md,dm-,loop,sr,pmem,zram,ada,da,nda,nvd,vtbd}*",
	"/dev/{mtd,ubi,nbd,rbd,bcache,drbd,dasd}*",
	"/dev/{mapper,disk,md,block,vg}*/**", "/dev/{mem,kmem,port,core,nvram}",
	"/proc/{sysrq-trigger,kcore,kmem}", "/proc/sys/kernel/{sysrq,core_pattern,modprobe}",
	"/sys/firmware/efi/efivars/**",
	"/sys/{block,class/block}/*/device/delete",
}

// forbiddenFiles control passwords and privileges; agents must neither edit nor show them.
var forbiddenFiles = []string{
	"/etc/{shadow,gshadow,master.passwd,sudoers}", "/etc/{shadow,gshadow}-", "/etc/sudoers.d/**",
	"/private/etc/{master.passwd,sudoers}", "/private/etc/sudoers.d/**",
	"?:/Windows/System32/**", "/mnt/?/Windows/System32/**",
}

// accountFiles list the accounts. Agents may read them but not edit them.
var accountFiles = []string{"/etc/{passwd,passwd-}", "/private/etc/passwd"}

// A hardTable holds lines of one kind. If all of them belong to one section, only is that
// section; otherwise it is sectionCount.
type hardTable struct {
	lines iter.Seq[hardRule]
	only  section
}

func hardTables(o *Options) []hardTable {
	return []hardTable{
		{slices.Values(stops), sectionCount},
		{stateRules(o), sectionRead},
		{controlRules(o), sectionWrite},
		{secretRules(o), sectionSecret},
	}
}

// hardRules yields the lines of all tables.
func hardRules(o *Options) iter.Seq[hardRule] {
	return func(yield func(hardRule) bool) {
		for _, table := range hardTables(o) {
			for h := range table.lines {
				if !yield(h) {
					return
				}
			}
		}
	}
}

// Switchable returns the ids of the built-in rules that Settings.RulesOff can switch off.
func Switchable() []umpire.RuleID {
	var ids []umpire.RuleID
	for h := range hardRules(&Options{}) {
		if h.switchable && !slices.Contains(ids, h.id) {
			ids = append(ids, h.id)
		}
	}
	return ids
}

// stops are the lines that no approval lifts.
var stops = []hardRule{
	{
		id: "critical-system", tool: "Delete", patterns: systemFolders, says: "deletes a system directory",
		row: rowHardStop, code: umpire.CodeCritical, wholeFolder: true,
	},
	{
		id: "critical-system-tree", tool: "Write", patterns: systemFolders,
		says: "changes everything in a system directory", row: rowHardStop, code: umpire.CodeCritical,
		onlyTree: true, wholeFolder: true,
	},
	{
		id: "critical-home", tool: "Delete", patterns: homeFolders, says: "deletes a home directory",
		row: rowHardStop, code: umpire.CodeCritical, wholeFolder: true,
	},
	{
		id: "critical-home-tree", tool: "Write", patterns: homeFolders,
		says: "changes everything in a home directory", row: rowHardStop, code: umpire.CodeCritical,
		onlyTree: true, wholeFolder: true,
	},
	{
		id: "critical-device", tool: "Write", patterns: devices, says: "overwrites a device or kernel memory",
		row: rowHardStop, code: umpire.CodeCritical,
	},
	{
		id: "critical-core", tool: "Write", patterns: coreFiles,
		says: "changes a file that the system needs to start", row: rowHardStop, code: umpire.CodeCritical,
	},
	{
		id: "critical-first", tool: "Delete", patterns: firstPrograms,
		says: "deletes a program or library that everything else needs", row: rowHardStop,
		code: umpire.CodeCritical,
	},
	{
		id: "forbidden-read", tool: "Read", patterns: forbiddenFiles, says: "a forbidden path", row: rowHardStop,
		code: umpire.CodeForbiddenPath,
	},
	{
		id: "forbidden-write", tool: "Write", patterns: append(slices.Clip(forbiddenFiles), accountFiles...),
		says: "a forbidden path", row: rowHardStop, code: umpire.CodeForbiddenPath,
	},
	{
		id: "etc-passwd", tool: "Read", patterns: accountFiles, says: "the list of accounts", row: rowDenyRule,
		code: umpire.CodeBlocked, named: true, switchable: true,
	},
}

// stateRules guard the folders with umpire's credentials, store and keys. Reading a file there
// is never approved, because it would allow answering for the person. A search of a folder
// above asks, because it would read the credentials too.
func stateRules(o *Options) iter.Seq[hardRule] {
	patterns := []string{"~/.umpire/{state,keys}/**"}
	if o.StateDir != "" {
		patterns = append(patterns, wildcard.Escape(o.StateDir)+"/{state,keys}/**")
	}
	return slices.Values([]hardRule{
		{
			id: "forbidden-state", tool: "Read", patterns: patterns, says: "umpire's credentials and records",
			row: rowHardStop, code: umpire.CodeForbiddenPath, named: true,
		},
		{
			id: "secret-state", tool: "Read", patterns: patterns,
			says: "the search would read umpire's credentials",
			row:  rowAskRule, code: umpire.CodeSecret, onlyTree: true,
		},
	})
}

func controlRules(o *Options) iter.Seq[hardRule] {
	return func(yield func(hardRule) bool) {
		for g, patterns := range sensitive.Patterns() {
			if !yield(controlRule(g.ID, patterns, g.Why)) {
				return
			}
		}
		if o.StateDir != "" {
			own := []string{wildcard.Escape(o.StateDir) + "/**"}
			if !yield(controlRule("control-umpire", own, sensitive.Groups[0].Why)) {
				return
			}
		}
		var programs []string
		for _, file := range o.ControlFiles {
			programs = append(programs, wildcard.Escape(file))
		}
		if len(programs) > 0 {
			yield(controlRule("control-hooks", programs, "a hook runs it"))
		}
	}
}

func controlRule(id umpire.RuleID, patterns []string, why umpire.Phrase) hardRule {
	return hardRule{
		id: id, tool: "Write", patterns: patterns, says: umpire.Say("a control file: %s", why),
		row: rowControl, code: umpire.CodeControlFile,
	}
}

// rule returns a pattern of the line as a rule.
func (h *hardRule) rule(pattern string) umpire.Rule {
	action := umpire.Deny
	if h.row == rowControl || h.row == rowAskRule {
		action = umpire.Ask
	}
	return umpire.Rule{
		ID: h.id, Action: action, Tool: h.tool, Match: umpire.Match{PathGlob: pattern},
		Says: h.says, Source: umpire.SourceBuiltin,
	}
}

// selfRules deny the commands reserved for a person, one rule each; the last one is for unknown
// commands.
func selfRules() []umpire.Rule {
	var rules []umpire.Rule
	for _, verb := range append(verbsOf(VerbPerson), unmarkedVerb) {
		words := strings.TrimSpace("umpire " + verb)
		rules = append(rules, umpire.Rule{
			ID: "self-approval", Action: umpire.Deny, Tool: "Bash", Match: umpire.Match{CommandPrefix: words},
			Says: umpire.Say("an agent may not answer or loosen umpire: %s", words), Source: umpire.SourceBuiltin,
		})
	}
	return rules
}

// Builtin returns the rules in force in every policy, for display. New adds them itself.
// Critical rules about a folder also cover everything in it at once, as in FOLDER/*. Those with
// "everything" in their text cover only recursive changes.
func Builtin() []umpire.Rule {
	var rules []umpire.Rule
	for h := range hardRules(&Options{}) {
		for _, pattern := range h.patterns {
			rules = append(rules, h.rule(pattern))
		}
	}
	return append(rules, selfRules()...)
}

// compileSection compiles the built-in rules of one section. Their order is below zero, so
// decisions name them before other rules.
func compileSection(at section, o *Options) []*compiled {
	k := compiler{opts: o, folds: true}
	if at == sectionSelf {
		return k.compileSelf()
	}
	var all []*compiled
	for i, table := range hardTables(o) {
		if table.only != at && table.only != sectionCount {
			continue
		}
		order := (i - maxTables) * maxTable
		for h := range table.lines {
			if sectionOf(&h) == at && !(h.switchable && slices.Contains(o.RulesOff, h.id)) {
				all = k.compileLine(all, &h, order)
			}
			order += len(h.patterns)
		}
	}
	return all
}

// maxTables and maxTable exceed the number of tables and the number of patterns in one.
const maxTables, maxTable = 8, 1 << 13

// compileLine compiles a line into one rule for each pattern. The rules share their common parts.
func (k *compiler) compileLine(all []*compiled, h *hardRule, order int) []*compiled {
	rule, ref := h.rule(h.patterns[0]), &k.refs.take(1)[0]
	*ref = rule.Ref()
	var except []glob // not indexed, because it takes no part in finding rules
	for _, pattern := range h.except {
		except = append(except, k.newGlobs(pattern, umpire.Deny)...)
	}
	line := k.rules.take(len(h.patterns))
	for i, pattern := range h.patterns {
		line[i] = compiled{
			rule: &rule, ref: ref, row: h.row, code: h.code, order: order + i,
			globs: k.newGlobs(pattern, rule.Action), except: except,
			onlyTree: h.onlyTree, wholeFolder: h.wholeFolder, named: h.named, secret: h.secret,
		}
		all = append(all, &line[i])
	}
	return all
}

func (k *compiler) compileSelf() []*compiled {
	var all []*compiled
	rules := selfRules()
	for i := range rules {
		c := k.compileRule(&rules[i])
		c.self, c.order = true, i-len(rules)
		all = append(all, c)
	}
	return all
}
