//go:build reality && linux

package shell

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
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
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// The tests of this file compare lines that are called safe with reality: they run lines in a
// throw-away project, away from the network and from other processes, and record every started
// program and every opened file. Run them with make reality; REALITY=all tries every accepted
// option of every installed program, and takes minutes.

// realityLimit is the time limit for one line. Lines that never end are stopped.
const realityLimit = 2 * time.Second

// realityOptions is the number of options of a program to try without REALITY=all.
const realityOptions = 3

// nobody owns the throw-away project if the tests run as root, which limits the harm of a
// misjudged line.
const nobody = 65534

// A world is a throw-away place to run lines in.
type world struct{ top, project, home, tmp string }

func TestReality(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed: what a line does cannot be seen")
	}
	w := newWorld(t)
	if out, _, err := w.run(t, "true"); err != nil {
		t.Skipf("namespaces or tracing are not permitted here: %v: %s", err, out)
	}
	lines := slices.Concat(corpusLines(t), tableLines())
	ran := 0
	for _, line := range lines {
		if !w.judgedSafe(line) {
			continue
		}
		ran++
		w.check(t, line)
	}
	t.Logf("figure: %d of %d lines are safe; each was run and traced", ran, len(lines))
	if ran < 200 {
		t.Errorf("only %d lines were run", ran)
	}
}

// newWorld creates a small git project, an empty home and a folder for temporary files. Times
// are old to make git consider its index up to date.
func newWorld(t *testing.T) *world {
	t.Helper()
	top := t.TempDir()
	for dir := top; os.Geteuid() == 0 && strings.HasPrefix(dir, os.TempDir()) &&
		dir != os.TempDir(); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w := &world{top: top, project: filepath.Join(top, "project"), home: filepath.Join(top, "home"),
		tmp: filepath.Join(top, "tmp")}
	for name, text := range map[string]string{
		"project/README.md": "# read me\n\ninstall\n", "project/a.txt": "one 1\ntwo 2\n",
		"project/Makefile":     "all:\n\ttouch made\n",
		"project/package.json": "{\"name\":\"p\",\"scripts\":{\"test\":\"touch made\"},\"dependencies\":{}}\n",
		"project/go.mod":       "module example.com/p\n",
		"project/src/main.c":   "#include <time.h>\nint main(void) { return 0; }\n", "project/src/a.txt": "x,1\n",
		"project/src/b.txt":     "y,2\n",
		"project/src/names.txt": "b\na\n", "project/build.log": "error one\n", "home/.keep": "", "tmp/.keep": "",
	} {
		path := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w.each(t, func(path string, _ fs.FileInfo) {
		if os.Geteuid() == 0 {
			_ = os.Lchown(path, nobody, nobody)
		}
		old := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
		_ = os.Chtimes(path, old, old)
	})
	setup := exec.Command("sh", "-c", "git init -q -b main && git config user.name A && git config user.email a@b && "+
		"git add -A && git commit -qm one && git tag v1 && sleep 1.1 && git status")
	setup.Dir, setup.Env = w.project, w.env()
	setup.SysProcAttr = &syscall.SysProcAttr{}
	w.credential(setup.SysProcAttr)
	if out, err := setup.CombinedOutput(); err != nil {
		t.Skipf("no git project can be made: %v: %s", err, out)
	}
	return w
}

func (w *world) env() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "TMPDIR=" + w.tmp, "LANG=C", "TERM=dumb",
		"GIT_CONFIG_NOSYSTEM=1",
	}
}

func (w *world) credential(a *syscall.SysProcAttr) {
	if os.Geteuid() == 0 {
		a.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
		return
	}
	a.Cloneflags |= syscall.CLONE_NEWUSER
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
}

// realityCalls are the recorded system calls.
const realityCalls = "trace=execve,?open,openat,?creat,unlink,unlinkat,rename,renameat,?renameat2,mkdir," +
	"mkdirat,rmdir,link,linkat,symlink,symlinkat,truncate,chmod,fchmodat,chown,lchown,fchownat,mknod,mknodat," +
	"connect,mount,umount2,sethostname,settimeofday,kill"

// run traces a line in separate namespaces and returns its output and the trace. It fails only
// if the line could not be started.
func (w *world) run(t *testing.T, line string) (string, []string, error) {
	t.Helper()
	trace, err := os.CreateTemp(w.top, "trace")
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(trace.Name())
	defer trace.Close()
	if os.Geteuid() == 0 {
		_ = trace.Chown(nobody, nobody)
	}
	ctx, cancel := context.WithTimeout(t.Context(), realityLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "strace", "-f", "-qq", "-s", "4096", "-e", realityCalls, "-e", "signal=none", "-o",
		trace.Name(), "bash", "-c", line)
	cmd.Dir, cmd.Env = w.project, w.env()
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC |
			syscall.CLONE_NEWUTS,
	}
	w.credential(cmd.SysProcAttr)
	var out limited
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	if cmd.Process != nil && ctx.Err() != nil || cmd.ProcessState != nil && line != "true" {
		err = nil
	}
	var calls []string
	for scan := bufio.NewScanner(trace); scan.Scan(); {
		calls = append(calls, scan.Text())
	}
	return out.String(), calls, err
}

// A limited buffer keeps only the beginning.
type limited struct{ bytes.Buffer }

func (b *limited) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), max(0, 4096-b.Len()))])
	return len(p), nil
}

// judgedSafe reports whether umpire would let a line run unasked: nothing in it is risky or in
// doubt, and every path lies in the project.
func (w *world) judgedSafe(line string) bool {
	isDir := func(path string) bool { info, err := os.Stat(path); return err == nil && info.IsDir() }
	for _, a := range Parse(line, Env{Dir: w.project, Home: w.home, IsDir: isDir}) {
		if a.Risk.AtLeast(umpire.Medium) || a.Doubt != "" || a.Kind == umpire.KindNetwork {
			return false
		}
		outside := a.Target != "" && !strings.HasPrefix(filepath.Clean(a.Target)+"/", w.project+"/") &&
			!strings.HasPrefix(a.Target, "/dev/")
		if a.Kind != umpire.KindExec && outside {
			return false
		}
	}
	return true
}

// check runs a line and complains about every effect beyond looking.
func (w *world) check(t *testing.T, line string) {
	t.Helper()
	before := w.state(t)
	_, calls, err := w.run(t, line)
	if err != nil {
		t.Errorf("%s: %v", line, err)
		return
	}
	after := w.state(t)
	for _, path := range slices.Sorted(maps.Keys(joinedMaps(before, after))) {
		if before[path] != after[path] && !w.mayChange(path) {
			t.Errorf("%s\n\tchanged %s: %q became %q", line, path, before[path], after[path])
		}
	}
	named, seen := w.programs(line), map[string]bool{}
	for _, call := range calls {
		if complaint := w.complaint(call, named); complaint != "" && !seen[complaint] {
			seen[complaint] = true
			t.Errorf("%s\n\t%s: %s", line, complaint, call)
		}
	}
}

func joinedMaps(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// mayChange reports whether a path belongs to caches and notes that programs keep in a home and
// that no program obeys.
func (w *world) mayChange(path string) bool {
	for _, known := range []string{
		"home/.config/go", "home/.cache/go-build", "home/go", // go: counters and compiled packages
		"home/.npm",                   // npm: logs
		"home/.cache", "home/.config", // the folders themselves
		"home/.rustup", "home/.cargo", // rustup: its settings, on its first start
	} {
		if path == known || strings.HasPrefix(path, known+"/") && known != "home/.cache" && known != "home/.config" {
			return true
		}
	}
	return strings.HasPrefix(path, "tmp/")
}

// state returns the state of every file and folder, by path.
func (w *world) state(t *testing.T) map[string]string {
	t.Helper()
	state := map[string]string{}
	w.each(t, func(path string, info fs.FileInfo) {
		name, _ := filepath.Rel(w.top, path)
		state[name] = info.Mode().String()
		if info.Mode().IsRegular() {
			text, _ := os.ReadFile(path)
			state[name] = fmt.Sprintf("%s %s %x", info.Mode(), info.ModTime(), sha256.Sum256(text))
		}
	})
	return state
}

func (w *world) each(t *testing.T, f func(string, fs.FileInfo)) {
	t.Helper()
	err := filepath.Walk(w.top, func(path string, info fs.FileInfo, err error) error {
		if err == nil && !strings.HasPrefix(info.Name(), "trace") {
			f(path, info)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// helpers are programs that another program is known to start, and that only look.
var helpers = map[string]string{
	"git":   "git git-* sh dash sed basename uname cat man gettext envsubst", // its own parts, some of them scripts
	"egrep": "grep sh dash", "fgrep": "grep sh dash",                         // scripts around grep
	"zgrep": "gzip grep sed bash sh zcat", "zcat": "gzip bash sh", "zegrep": "zgrep gzip grep bash sh sed",
	"zfgrep": "zgrep gzip grep bash sh sed",
	"bzgrep": "bzip2 grep egrep sed sh dash", "bzegrep": "bzip2 grep egrep sed sh dash",
	"bzfgrep": "bzip2 grep fgrep sed sh dash", "zstdgrep": "zstd zstdcat grep sed sh dash",
	"xzgrep": "xz gzip bzip2 lzop zstd lz4 grep sed sh dash", "xzegrep": "xz gzip bzip2 lzop zstd lz4 grep sed sh dash",
	"xzfgrep": "xz gzip bzip2 lzop zstd lz4 grep sed sh dash",
	"gunzip":  "gzip sh dash", "uncompress": "gzip sh dash", "zless": "sh dash less gzip", "zmore": "sh dash more gzip",
	"zcmp":  "zdiff gzip cmp sh dash bash sed",
	"zdiff": "gzip cmp diff sh dash bash sed", "bzdiff": "sed bzip2 sh dash cmp diff mktemp rm bash",
	"bzcmp": "sed bzip2 sh dash cmp diff mktemp rm bash",
	"which": "sh dash", "lsb_release": "python3* dpkg-query sh getopt cut tr", "ldd": "bash", "shasum": "perl",
	"npm": "node sh env", "npx": "node env", "corepack": "node env", "yarn": "node env",
	"cargo": "rustup rustc", "rustc": "rustup", "rustdoc": "rustup", "rustfmt": "rustup",
	"go":  "compile asm link cgo buildid vet gofmt gcc git cc1 as collect2 ld",
	"gcc": "cc1 collect2 as ld", "g++": "cc1plus collect2",
	"python": "python3*", "python3": "python3*", "pip": "python3*",
	"apt": "dpkg", "apt-cache": "dpkg", "apt-mark": "dpkg", "dpkg-deb": "tar",
	"pg_config": "ls sed sort tail head pg_config*", "dpkg": "dpkg-query", "man": "apropos whatis",
	"valgrind": "valgrind.bin memcheck-*", "xfs_info": "losetup findmnt tail xfs_spaceman xfs_db",
	"yq": "jq", // one of the two programs of that name
}

// byChoice are uses that run unasked on purpose, although they have effects.
var byChoice = []exception{
	{
		"npm test, yarn test, pnpm test, bun test, go test, go vet, cargo test, cargo check, cargo build, cargo doc, " +
			"cargo bench, cargo nextest run",
		"run code of the project",
	},
	{
		"node --test, python -m, python3 -m, deno test, mix test, mix compile, dotnet build, dotnet test, swift " +
			"build, swift test, flutter test, dart test, zig build, stack build, cabal build, dune build, ctest, " +
			"tox, rake, rails test, playwright test",
		"run code of the project, or compile it",
	},
	{
		"cargo +stable, cargo +beta, cargo +nightly",
		"are fetched by rustup where they are missing, as for a file rust-toolchain.toml",
	},
	{"npm view, npm ping, npm list, npm search, npm outdated, npm audit", "ask the registry"},
	{"git mktree, git mktag, git write-tree, git commit-tree, git hash-object", "add an object that nothing refers to"},
	{"go tool cover, go tool nm, go tool dist list", "start the tool of Go that they name"},
	{"go build, go list, go env, go doc", "fill the compiler's cache"},
	{"gpg", "makes an empty key ring at its first start"},
	{"ss", "looks up the names of hosts"},
}

// chosen reports whether a program, or a command that contains it, runs by choice.
func chosen(path string) bool {
	for ; path != ""; path = path[:max(strings.LastIndexByte(path, ' '), 0)] {
		if isException(byChoice, path) {
			return true
		}
	}
	return false
}

// programs returns the names that may start: the shell, the programs that umpire saw on the
// line, and their helpers.
func (w *world) programs(line string) []string {
	names := []string{"bash", "strace"}
	for _, a := range Parse(line, Env{Dir: w.project, Home: w.home}) {
		if a.Program != "" {
			name := filepath.Base(a.Program)
			names = append(append(names, name), strings.Fields(helpers[name])...)
		}
	}
	return names
}

var (
	tracedCall = regexp.MustCompile(`^\d+ +(\w+)\((.*)$`)
	tracedPath = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"`)
)

// complaint returns an objection to a system call, or "".
func (w *world) complaint(call string, named []string) string {
	m := tracedCall.FindStringSubmatch(call)
	// The shell tries a name in every folder of the PATH.
	if m == nil || m[1] == "execve" && strings.Contains(call, " = -1 E") {
		return ""
	}
	name, args := m[1], m[2]
	path := ""
	if p := tracedPath.FindStringSubmatch(args); p != nil {
		path = p[1]
	}
	switch name {
	case "execve":
		program := filepath.Base(path)
		ok := slices.ContainsFunc(named, func(n string) bool {
			matched, _ := filepath.Match(n, program)
			return matched
		})
		if !ok {
			return "started a program that the line does not name"
		}
	case "open", "openat":
		writes := strings.Contains(args, "O_WRONLY") || strings.Contains(args, "O_RDWR") ||
			strings.Contains(args, "O_CREAT")
		if writes && !w.ours(path) {
			return "wrote"
		}
	case "connect":
		updates := strings.Contains(args, "htons(53)") &&
			slices.Contains(named, "npm") // npm looks for newer versions of itself
		if !strings.Contains(args, "AF_UNIX") && !updates {
			return "connected"
		}
	case "kill":
		if !strings.Contains(args, ", 0)") && !strings.Contains(args, "SIG_0") {
			return "sent a signal"
		}
	default:
		if !w.ours(path) {
			return "changed"
		}
	}
	return ""
}

// ours reports whether a path lies in the throw-away place, whose changes are checked
// afterwards, or keeps no data: a device, a lock, the counters of a Java machine.
func (w *world) ours(path string) bool {
	for _, free := range []string{
		w.top + "/", "/tmp/hsperfdata_", "/etc/.pwd.lock", "/dev/null", "/dev/tty", "/proc/self/", "/proc/thread-self/",
	} {
		if strings.HasPrefix(path, free) {
			return true
		}
	}
	return !strings.HasPrefix(path, "/") && !strings.Contains(path, "../")
}

// corpusLines returns the safe lines of umpire's corpus, except lines that run the project's
// tests or contact a daemon: those run unasked by choice, not because they have no effects.
func corpusLines(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "internal", "cli", "bench", "corpus.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for row := range bytes.Lines(text) {
		var l struct{ Command, Want, Class string }
		if err := json.Unmarshal(row, &l); err != nil {
			t.Fatal(err)
		}
		if l.Want == "safe" && l.Class != "project-tests" && l.Class != "containers-look" &&
			l.Class != "databases-look" {
			lines = append(lines, l.Command)
		}
	}
	return lines
}

// clients contact a daemon or a service, and run unasked by choice if they only look there.
const clients = "docker kubectl terraform gcloud gsutil aws gh systemctl journalctl loginctl hostnamectl timedatectl " +
	"localectl networkctl busctl systemd-analyze systemd-cgls systemd-cgtop"

// tableLines returns uses of the installed programs of the tables, with their accepted options,
// one at a time.
func tableLines() []string {
	var lines []string
	everyProgram(func(path string, p *program) {
		if program, _, _ := strings.Cut(path, " "); !installed(program) || p.risk.AtLeast(umpire.Medium) ||
			scan.HasField(clients, program) || chosen(path) {
			return
		}
		s := spelled{path: path, p: p}
		lines = append(lines, s.line("a.txt"), s.line())
		for other := range strings.FieldsSeq(p.names) {
			if !strings.Contains(path, " ") && other != p.name() && installed(other) {
				lines = append(lines, quoted(other), quoted(other, "a.txt"))
			}
		}
		tried := map[*option]int{}
		everySpellingOf(path, p, func(s spelled) {
			if s.opt.does&^(lead|last|walks) != 0 || s.shadowed() ||
				tried[s.opt] >= realityOptions && os.Getenv("REALITY") != "all" {
				return
			}
			if path == "file" && scan.HasField("-p --preserve-date", s.name) {
				return // resets the access time, which git takes for a change
			}
			tried[s.opt]++
			for _, way := range s.ways("1") {
				lines = append(lines, s.line(append(way, "a.txt")...))
			}
		})
	})
	return lines
}

func installed(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}
