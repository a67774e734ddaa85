package shell

import (
	"os"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
)

// Similar programs differ in an option or two. In these lines the difference runs a program,
// writes, or shows a file.
func TestAliasesDoNotLendOptions(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"ifne -n ./evil cat", "multitime -l ./evil ls", "multitime -r ./evil ls", "multitime -q ./evil ls",
		"rlwrap -l notes.txt echo x", "rlwrap -l .git/hooks/x ls",
		"rlwrap -z ./evil ls", "rlwrap -f .env -l x ls", "chronic -l ./evil ls", "unbuffer -n ./evil ls",
		"eatmydata -t ./evil ls", "catchsegv -w ./evil ls",
		"caffeinate -l ./evil ls", "faketime -l ./evil ls", "faketime ls vendor/evil", "setarch x86_64 -t ./evil ls",
		"linux32 -l ./evil ls", "choom -l ./evil ls",
		"cpulimit -n ./evil ls", "softlimit -w ./evil ls",
		"ltrace -F ls ./evil", "ltrace -x ls ./evil", "ltrace -w ls ./evil", "ltrace -D ls ./evil",
		"ltrace -A ls ./evil",
		"echo ls | zsh -O ./evil.sh", "echo ls | ksh -O ./evil.sh", "echo ls | dash -O ./evil.sh",
		"echo ls | sh -O ./evil.sh", "echo ls | mksh -T ls ./evil",
		"pbzip2 -l a.txt", "lz4 -l a.txt", "bzip2 -l a.txt", "brotli -l a.txt", "compress -l a.txt",
		"pbzip2 --list a.txt", "bzip2 --list a.txt",
		"zstdgrep -m 1 /etc/hosts", "xzgrep --max-count 1 /etc/hosts", "zgrep --context 1 /etc/hosts",
		"bzgrep --max-count 1 /etc/hosts",
		"xzcat --files=/etc/hosts", "lzcat --files=/etc/hosts", "xzcat --files0=/etc/hosts",
		"pax -rt", "pax -tr", "echo a | pax -t -r",
		"echo 'exec ./evil' | tclsh --version", "echo x | erl --version", "echo x | wish --help", "R -v", "ghci -v",
		"echo x | osascript --version",
		"scons -h", "scons --help", "waf --help", "waf --version", "bazel --version", "bazelisk --version",
		"please --version", "thor --help", "rush --version", "grunt --help",
		"gulp --version", "nx --version", "lake --version", "sbt --version", "fastlane --help", "vagrant --help",
		"csh -v", "jruby --version", "bmake -v", "serverless --version",
		"n current", "nix-shell search x", "nix-build search x", "nix-shell show", "nix-shell eval x",
		"slocate -u", "slocate -o out x", "lspci -q", "lspci -Q", "lspci -O net.cache_name=x", "mdls -plist out x",
		"dsmemberutil flushcache", "systeminfo /S evil.example",
		"who -s /etc/hosts", "modinfo -n /etc/hosts", "lastlog -n /etc/hosts", "tempfile -d .git/hooks",
		"zless '+!./evil' README.md", "zmore '+!./evil' README.md",
		"colordiff --difftype=x --diff-cmd=./evil a b", "aptitude -v", "hash -p ./evil ls", "as -V",
		"ripgrep --pre=./evil x",
		"gpgv --list-keys x", "vmmap -outputFile x 1", "jobs -x ./evil", "xzgrep -r x /etc/hosts",
	} {
		if runsUnasked(line) {
			t.Errorf("runs unasked: %s", line)
		}
	}
	for _, line := range []string{
		"rlwrap ls", "unbuffer ls", "unbuffer -p ls", "caffeinate -i ls", "caffeinate -dims -t 60 ls", "chronic ls",
		"ifne cat", "ifne -n cat", "setarch x86_64 -R ls",
		"linux32 ls", "eatmydata ls", "multitime -n 5 ls", "multitime -q -n 3 ls", "faketime '2020-01-01' ls",
		"faketime -f '@2020-01-01 00:00:00' date", "cpulimit -l 50 ls", "cpulimit -l 50 -- ls",
		"softlimit -m 100 ls", "choom -n 5 -- ls", "catchsegv ls", "ltrace ls", "ltrace -c ls", "strace -f ls",
		"xz -l a.xz", "gzip -l a.gz", "gzip -t a.gz", "bzip2 -t a.bz2", "lz4 -t a.lz4", "pigz -l a.gz",
		"zstd -l a.zst", "unzstd -c a.zst", "lz4 -dc a.lz4", "brotli -dc a.br", "brotli -t a.br", "pbzip2 -dc a.bz2",
		"zcat a.gz", "gzcat a.gz", "bzcat a.bz2", "xzcat a.xz", "lzcat a.lzma", "zipinfo a.zip",
		"zipinfo -1 a.zip", "lsar a.zip", "zdump /p/x", "zgrep -i x a.gz", "zgrep -A 2 x a.gz", "xzgrep x a.xz",
		"zstdgrep x a.zst", "bzgrep -c x a.bz2", "mawk '{print $1}' a", "gawk --sandbox '{print $1}' a",
		"lua -v", "julia --version", "R --version", "octave --version", "readlink -f a", "realpath --relative-to=. a",
		"cksum a", "shasum -a 256 a", "b3sum a", "md5 -q a", "xxhsum a", "colordiff a b", "more a", "most a",
		"who", "who -a", "users", "last -n 5", "dircolors -p", "modinfo -F version ext4", "lspci -v", "lspci -nn",
		"lsusb -t", "lscpu", "free -h", "uptime -p", "vmstat 1 5", "sw_vers -productVersion", "id -un", "cal -3",
		"nproc --all",
		"ninja --version", "just --version", "task --version", "make --version", "meson --version",
		"xcodebuild -version", "pre-commit --version", "rustc -V", "gcc --version", "n ls", "nvm ls", "pyenv versions",
		"bash --norc -c ls", "zsh -f -c ls", "dash -c ls", "ksh -c ls", "sh -c ls", "bash -O extglob -c ls",
		"type -a ls", "which -a ls", "hash", "jobs -l", "umask", "ulimit -a", "command -v ls", "builtin cd src",
		"irb --version", "ruby --version", "expand -t 4 a", "unexpand -a a",
		"locate x", "plocate -i x", "getenforce", "aa-status", "systemd-detect-virt", "mdls a", "mdfind x", "sestatus",
	} {
		if !runsUnasked(line) {
			t.Errorf("asks: %s: %s", line, firstAlarm(Parse(line, neverSafeEnv)))
		}
	}
}

// An entry may have several names only if their option tables are equal. Each is listed with
// the reason:
//
//	one    names of one program or subcommand
//	alike  several, and the entry accepts only what all of them take alike
//	none   several, and the entry accepts no option
//	asks   several, and every use asks but one that prints something about itself
//	worst  several, of which every use asks; the options of any of them only add to that
func TestSharedEntriesAreListed(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/shared.txt")
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[string]string{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if reason, entry, found := strings.Cut(line, " "); found && reason != "#" {
			reasons[entry] = reason
		}
	}
	everyProgram(func(path string, p *program) {
		if !strings.Contains(p.names, " ") {
			return
		}
		entry := strings.TrimSuffix(path, p.name()) + "{" + p.names + "}"
		switch reason := reasons[entry]; {
		case reason == "one" || reason == "alike":
		case reason == "worst" && p.risk.AtLeast(umpire.Medium):
		case reason == "none" && !p.takesOptions(): // an option that only shows something does not count
		case reason == "asks" && p.risk.AtLeast(umpire.Medium) && !p.takesOptions():
		default:
			t.Errorf("%s: several names share one table, and testdata/shared.txt says %q of it", entry, reason)
		}
		delete(reasons, entry)
	})
	for entry := range reasons {
		t.Errorf("testdata/shared.txt lists %s, and there is no such entry", entry)
	}
}

func (p *program) takesOptions() bool {
	for opt := range p.options {
		if opt.does&shows == 0 {
			return true
		}
	}
	return false
}
