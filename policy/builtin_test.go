package policy

import (
	"testing"

	"github.com/umpirehq/umpire"
)

func TestCriticalPaths(t *testing.T) {
	t.Parallel()
	p := newPolicy(t, testOptions, "allow *", "allow Edit(/**)", "allow Delete(/**)", "allow Read(/**)")
	del := func(target string) umpire.Access { return tree(umpire.KindDelete, target) }
	chmod := func(target string) umpire.Access { return tree(umpire.KindWrite, target) }
	for _, tt := range []struct {
		name   string
		access umpire.Access
		want   want
	}{
		{"N-33 root", del("/"), critical},
		{"N-33 everything in the root", del("/*"), critical},
		{"N-33 two levels", del("/*/*"), critical},
		{"N-33 etc", del("/etc"), critical},
		{"N-33 in other case", del("/ETC"), critical},
		{"N-33 everything in etc", del("/etc/*"), critical},
		{"N-33 hidden files of home", del("/home/u/.*"), critical},
		{"N-33 usr lib", del("/usr/lib"), critical},
		{"N-33 dotted", del("/tmp/../usr"), critical},
		{"N-33 home", del("~"), critical},
		{"N-33 everything in home", del("~/*"), critical},
		{"N-33 other home", del("/home/other"), critical},
		{"N-33 all homes", del("/home/*"), critical},
		{"N-33 chmod -R etc", chmod("/etc"), critical},
		{"N-33 chmod -R home", chmod("~"), critical},
		{"N-33 disk", write("/dev/sda"), critical},
		{"N-33 partition", write("/dev/nvme0n1p1"), critical},
		{"N-33 mapper", write("/dev/mapper/root"), critical},
		{"N-33 sysrq", write("/proc/sysrq-trigger"), critical},
		{"N-33 fstab", write("/etc/fstab"), critical},
		{"N-33 boot", write("/boot/grub/grub.cfg"), critical},
		{"N-33 Windows", del(`C:\Windows`), critical},
		{"M-175 tmp", del("/tmp/test"), want{allow, umpire.CodeRule, ""}},
		{"M-175 tmp with dash", del("/tmp/build-123"), want{allow, umpire.CodeRule, ""}},
		{"M-175 everything in tmp", del("/tmp/*"), want{allow, umpire.CodeRule, ""}},
		{"project folder", del("build"), want{allow, umpire.CodeRule, ""}},
		{"everything in a project folder", del("build/*"), want{allow, umpire.CodeRule, ""}},
		{"project elsewhere in home", del("/home/u/other/x"), want{allow, umpire.CodeRule, ""}},
		{"one configuration folder", del("/opt/app"), want{allow, umpire.CodeRule, ""}},
		{"touch etc", write("/etc"), want{allow, umpire.CodeRule, ""}},
		{"X-14 null", harmless(redirect(write("/dev/null"))), safeAllow},
		{"terminal", on(umpire.KindWrite, "/dev/tty", umpire.Low), want{allow, umpire.CodeRule, ""}},
		{"C-51 passwd", read("/etc/passwd"), blocked},
		{"C-51 passwd, written", write("/etc/passwd"), critical},
		{"C-51 shadow", read("/etc/shadow"), forbidden},
		{"C-51 backup", read("/etc/shadow-"), forbidden},
		{"C-51 wildcard", read("/etc/shad*"), forbidden},
		{"C-51 sudoers.d", read("/etc/sudoers.d/x"), forbidden},
		{"C-51 System32", read(`C:\Windows\System32\config\SAM`), forbidden},
		{"C-51 system32 in the subsystem", read("/mnt/c/windows/system32/x"), forbidden},
		{"C-51 the name elsewhere", read("docs/etc/shadow"), safeAllow},
		{"row 6 rc file", write("~/.bashrc"), control},
		{"row 6 ssh", write("~/.ssh/authorized_keys"), control},
		{"row 6 a project's own .bashrc", write("testdata/.bashrc"), ruleAllow},
		{"row 6 claude", write(".claude/settings.local.json"), control},
		{"row 6 claude in another folder", write("sub/.claude/settings.json"), control},
		{"row 6 in other case", write(".GIT/Hooks/pre-commit"), control},
		{"row 6 vscode", write(".vscode/tasks.json"), control},
		{"row 6 vscode snippets are free", write(".vscode/x.code-snippets"), ruleAllow},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tool := map[umpire.AccessKind]string{umpire.KindRead: "Read", umpire.KindWrite: "Edit", umpire.KindDelete: "Delete"}
			check(t, p, query(tool[tt.access.Kind], tt.access), tt.want)
		})
	}
}

func harmless(a umpire.Access) umpire.Access {
	a.Place = umpire.PlaceHarmless
	return a
}

func TestResolvedPathCounts(t *testing.T) {
	t.Parallel()
	p := newPolicy(t, testOptions, "allow Edit(src/**)")
	link := write("src/link")
	link.Resolved = "/home/u/p/other"
	check(t, p, query("Edit", link), modeAsk)
	link.Resolved = "/dev/sda"
	check(t, p, query("Edit", link), critical)
	link.Resolved = "/etc/passwd"
	link.Kind = umpire.KindRead
	check(t, p, query("Read", link), blocked)
	unresolved := write("src/a")
	unresolved.Resolved = ""
	check(t, p, query("Edit", unresolved), modeAsk)
}

// The project may lie anywhere; critical folders stay critical.
func TestProjectInRootsHome(t *testing.T) {
	t.Parallel()
	p := newPolicy(t, Options{Root: "/root/x", Home: "/root"})
	inside := tree(umpire.KindDelete, "/root/x/build")
	inside.Place = umpire.PlaceInside
	check(t, p, query("Bash", exec("rm -rf build", umpire.High), inside), modeAsk)
	check(t, p, query("Bash", exec("rm -rf ~", umpire.High), tree(umpire.KindDelete, "/root")), critical)
}

func TestUnknownHomeStillProtects(t *testing.T) {
	t.Parallel()
	p := newPolicy(t, Options{Root: "/home/u/p"}, "deny Read(~/.ssh/**)", "allow Read(~/**)")
	check(t, p, query("Read", read("/home/u/.ssh/id")), blocked)
	check(t, p, query("Read", read("/home/u/other")), external)
}

func TestSelfApproval(t *testing.T) {
	t.Parallel()
	p := newPolicy(t, testOptions, "allow Bash(umpire:*)", "allow Bash")
	for line, denied := range map[string]bool{
		"umpire approve c1": true, "/usr/local/bin/umpire approve c1": true, "umpire --json approve c1": true,
		"umpire --home /x approve c1": true, "umpire rules add allow Bash": true, "umpire rules --scope project add allow Bash": true,
		"umpire trust": true, "umpire init --undo": true, "umpire mode bypass": true, "umpire config set mode bypass": true,
		"umpire rules trust": true, "umpire setup claude --undo": true, "umpire sessions mode bypass": true,
		"umpire check -- approve": false, "umpire rules list": false, "umpire status": false, "umpire timeline": false, "umpire timeline prune": true, "umpire timeline --json prune --older-than 1s": true,
		"umpire help trust": false, "umpires approve": false, "umpire config": false,
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			w := ruleAllow
			if denied {
				w = blocked
			}
			check(t, p, inMode(umpire.ModeDefault, query("Bash", exec(line, umpire.Medium))), w)
		})
	}
}

func TestBuiltinsAreReadable(t *testing.T) {
	t.Parallel()
	rules := Builtin()
	for _, r := range rules {
		if err := Validate(r); err != nil {
			t.Errorf("%s %s: %v", r.ID, FormatShort(r), err)
		}
		if r.ID == "" || r.Says == "" || r.Source != umpire.SourceBuiltin || r.Action == umpire.Allow {
			t.Errorf("%+v: want an id, a description, the source builtin, and nothing allowed", r)
		}
	}
	p, err := New(rules, testOptions)
	if err != nil {
		t.Fatal(err)
	}
	for r := range p.Rules() {
		t.Errorf("built-in rule %s came back as one of the caller's", r.ID)
	}
}
