//go:build linux

package shell

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
)

var probeAll = flag.Bool("options.all", false, "probe every value option of every tool that is installed")

// A probedTool is a line with {} for the options, and the command that lists the tool's options.
type probedTool struct{ line, help string }

// The first three are probed on every run, with one option in probeShare.
var probedTools = []probedTool{
	{"sort {} a.txt", ""},
	{"tar -cf /dev/null {} a.txt", ""},
	{"curl -s -m 1 {} http://127.0.0.1:9/", "curl --help all"},
	{"wget -q -t 1 -T 1 {} http://127.0.0.1:9/", ""},
	{"jq {} . a.json", ""},
	{"yq {} . a.json", ""},
	{"rg {} x a.txt", ""},
	{"grep {} x a.txt", ""},
	{"rsync -n {} a.txt b", ""},
	{"ssh -o BatchMode=yes {} 127.0.0.1 true", "ssh"},
	{"scp -B {} a.txt 127.0.0.1:", "scp"},
	{"sftp {} 127.0.0.1", "sftp"},
	{"git log {}", "git log -h"},
	{"git commit --dry-run {}", "git commit -h"},
	{"git apply --check {} a.txt", "git apply -h"},
	{"git grep {} x", "git grep -h"},
	{"gh issue list {}", ""},
	{"sqlite3 {} :memory: 'select 1'", "sqlite3 -help"},
	{"psql -h 127.0.0.1 -p 9 {}", ""},
	{"openssl dgst {} a.txt", "openssl dgst -help"},
	{"openssl enc -aes-128-cbc -k x {} -in a.txt", "openssl enc -help"},
	{"openssl x509 {} -in a.txt", "openssl x509 -help"},
	{"openssl s_client {} -connect 127.0.0.1:9", "openssl s_client -help"},
	{"aria2c {} http://127.0.0.1:9/", "aria2c --help=#all"},
	{"http {} 127.0.0.1:9", ""},
	{"kubectl get pods {}", "kubectl get --help"},
	{"docker run {} alpine", "docker run --help"},
	{"nc {} 127.0.0.1 9", "nc -h"},
	{"socat {} - TCP:127.0.0.1:9", "socat -h"},
	{"xmllint {} a.xml", ""},
	{"awk {} 1 a.txt", ""},
	{"sed {} p a.txt", ""},
	{"xargs {} echo", ""},
	{"zip {} - a.txt", "zip -h2"},
	{"unzip {} -l a.zip", "unzip -hh"},
	{"cpio -t {}", ""},
	{"gzip {} -c a.txt", ""},
	{"zstd {} -c a.txt", "zstd -H"},
	{"xz {} -c a.txt", "xz --long-help"},
	{"gpg --batch {} --verify a.txt", ""},
	{"diff {} a.txt b.txt", ""},
	{"patch --dry-run {} a.txt", ""},
	{"iconv {} a.txt", ""},
	{"wc {} a.txt", ""},
	{"mysql {}", "mysql --help --verbose"},
	{"aws s3 ls {}", "aws s3 ls help"},
}

// probeShare is the number of options that share one probe if not all are probed.
const probeShare = 6

// Values that tools take for the name of a file.
var probeValues = []string{"%s", "@%s", "file://%s", "x=@%s"}

// TestValueOptions runs tools with options whose value names a file, and compares the files that
// they open with the accesses of the line. It fails if a table calls a read or a write plain.
func TestValueOptions(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed: the files that a tool opens cannot be seen")
	}
	p := newProber(t)
	tools := probedTools
	if !*probeAll {
		tools = tools[:3]
	}
	names, missing := map[string]bool{}, map[string]bool{}
	for _, tool := range tools {
		name, _, _ := strings.Cut(tool.line, " ")
		names[name] = true
		if _, err := exec.LookPath(name); err != nil {
			missing[name] = true
			continue
		}
		p.probe(tool)
	}
	t.Logf("figure: %d of %d tools are installed; %d value options probed, %d of them typed, %d without a type",
		len(names)-len(missing), len(names), p.typed+p.unknown, p.typed, p.unknown)
	t.Logf("figure: %d probes opened the file of a value", p.opened)
	for name := range missing {
		t.Logf("figure: not installed: %s", name)
	}
	if p.opened == 0 {
		t.Error("no probe opened a file")
	}
}

// A prober runs lines away from the network, and detects which of them open the canary.
type prober struct {
	*testing.T
	dir, canary            string
	typed, unknown, opened int
}

func newProber(t *testing.T) *prober {
	t.Helper()
	top := t.TempDir()
	p := &prober{T: t, dir: filepath.Join(top, "project"), canary: filepath.Join(top, "elsewhere", "canary")}
	for name, text := range map[string]string{
		"project/a.txt": "x 1\n", "project/b.txt": "y 2\n", "project/a.json": "{}\n", "project/a.xml": "<a/>\n",
		"elsewhere/canary": "x 1\n",
	} {
		file := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// command returns a command in the project that reaches no network and ends soon.
func (p *prober) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.WaitDelay = p.dir, time.Second
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir, "LANG=C", "TERM=dumb", "PAGER=cat"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWPID}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
	}
	return cmd
}

func (p *prober) probe(tool probedTool) {
	before, after, _ := strings.Cut(tool.line, "{}")
	program := probedProgram(strings.Fields(before))
	if program == nil {
		p.Errorf("%s: no such program in the tables", tool.line)
		return
	}
	for i, name := range p.valueOptions(tool, program) {
		if !*probeAll && i%probeShare != 0 {
			continue
		}
		opt := tableOption(program, name)
		if opt != nil && opt.does&typed != 0 {
			p.typed++
		} else {
			p.unknown++
		}
		for _, value := range probeValues {
			p.run(before, name, fmt.Sprintf(value, p.canary), after, opt)
		}
	}
}

// probedProgram finds the row of a line's program, or of its subcommand.
func probedProgram(words []string) *program {
	found, _ := builtIn(words[0])
	if found != nil && len(words) > 1 {
		if sub := found.findSubcommand(words[1]); sub != nil {
			return sub
		}
	}
	return found
}

func tableOption(p *program, name string) *option {
	found, _, _ := p.findOption(name)
	return found
}

var (
	longValue  = regexp.MustCompile(`(--[A-Za-z][\w-]*)(?:\[?=|[ =]+<| +\[?[A-Z][A-Z_:.]*\b| +(?:string|strings|stringArray|file|path|list|int)\b)`)
	shortValue = regexp.MustCompile(`(?m)(?:^\s*|[\s,\[|])(-[A-Za-z0-9])(?:,\s+(--[A-Za-z][\w-]*))?(?:=| ?<| +\[?[A-Z]{2,}\b| [a-z_]+\])`)
	wordValue  = regexp.MustCompile(`(?m)^\s+(-[a-z][\w-]*) +(?:val|infile|outfile|\+?int|parmfile|[A-Z]{2,}|format|\S*file)\b`)
	bothNames  = regexp.MustCompile(`(?m)(-[A-Za-z0-9]), (--[A-Za-z][\w-]*)`)
)

// valueOptions returns the options with a value in the tool's own help, and those of the table.
func (p *prober) valueOptions(tool probedTool, program *program) []string {
	name, _, _ := strings.Cut(tool.line, " ")
	help := strings.Fields(tool.help)
	if len(help) == 0 {
		help = []string{name, "--help"}
	}
	ctx, cancel := context.WithTimeout(p.Context(), 5*time.Second)
	defer cancel()
	out, _ := p.command(ctx, help...).CombinedOutput() // many end with an error after their help
	text := string(out)
	found := map[string]bool{}
	for _, m := range longValue.FindAllStringSubmatch(text, -1) {
		found[m[1]] = true
	}
	for _, m := range shortValue.FindAllStringSubmatch(text, -1) {
		found[m[1]], found[m[2]] = true, m[2] != ""
	}
	if program.style == words {
		for _, m := range wordValue.FindAllStringSubmatch(text, -1) {
			found[m[1]] = true
		}
	}
	for _, m := range bothNames.FindAllStringSubmatch(text, -1) {
		found[m[1]] = found[m[1]] || found[m[2]]
	}
	for opt := range program.options {
		for name, takes := range opt.spellings {
			if takes != takesNone {
				found[name] = true
			}
		}
	}
	var all []string
	for name, takes := range found {
		if takes && len(name) > 1 {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// run runs one line and compares its use of the canary with its accesses.
func (p *prober) run(before, name, value, after string, opt *option) {
	option := name + " " + Quote(value)
	if strings.HasPrefix(name, "--") {
		option = name + "=" + Quote(value)
	}
	line := before + option + after
	read, written := p.touches(line)
	if !read && !written {
		return
	}
	p.opened++
	accesses := Parse(line, Env{Dir: p.dir, Home: "/home/u"})
	says := func(kinds ...umpire.AccessKind) bool {
		return slices.ContainsFunc(accesses, func(a umpire.Access) bool {
			return slices.Contains(kinds, a.Kind) && (a.Target == p.canary || a.Tree && strings.HasPrefix(p.canary, a.Target+"/"))
		})
	}
	untyped := opt == nil || opt.does&typed == 0
	switch {
	case !says(umpire.KindRead, umpire.KindWrite, umpire.KindDelete):
		p.Errorf("%s opens %s, and no access says so", line, p.canary)
	case written && !untyped && !says(umpire.KindWrite, umpire.KindDelete):
		p.Errorf("%s writes %s, and no access says so", line, p.canary)
	}
}

// touches runs a line and reports whether it reads or writes the canary.
func (p *prober) touches(line string) (read, written bool) {
	if err := os.WriteFile(p.canary, []byte("x 1\n"), 0o600); err != nil {
		p.Fatal(err)
	}
	trace := filepath.Join(filepath.Dir(p.canary), "trace")
	ctx, cancel := context.WithTimeout(p.Context(), 3*time.Second)
	defer cancel()
	cmd := p.command(ctx, "strace", "-f", "-qq", "-e", "trace=open,openat,creat,rename,renameat2,unlink,unlinkat",
		"-e", "signal=none", "-o", trace, "bash", "-c", line)
	out, err := cmd.CombinedOutput()
	calls, readErr := os.ReadFile(trace)
	if readErr != nil {
		p.Fatalf("%s: not traced: %v: %s", line, err, bytes.TrimSpace(out))
	}
	for call := range strings.Lines(string(calls)) {
		if !strings.Contains(call, `"`+p.canary+`"`) || strings.Contains(call, "= -1 ") {
			continue
		}
		opens := strings.Contains(call, "O_RDONLY")
		read, written = read || opens, written || !opens
	}
	return read, written
}
