package shell

import (
	"slices"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
)

// wrapperEnv is an ordinary project.
var wrapperEnv = Env{Dir: "/p", Home: "/home/u"}

// wrapperRisk returns the worst risk of a line.
func wrapperRisk(line string) umpire.Risk {
	facts := umpire.Facts{Accesses: Parse(line, wrapperEnv)}
	return facts.Risk()
}

// wrapperPaths lists the paths of a line as "write /p/x", with a star for trees.
func wrapperPaths(line string) []string {
	var out []string
	for _, a := range Parse(line, wrapperEnv) {
		if a.Paths() {
			text := a.Kind.String() + " " + a.Target
			if a.Tree {
				text += "*"
			}
			out = append(out, text)
		}
	}
	return out
}

// inDoubt reports whether an access of a line is in doubt.
func inDoubt(line string) bool {
	return slices.ContainsFunc(Parse(line, wrapperEnv), func(a umpire.Access) bool { return a.Doubt != "" })
}

// riskLine is a line and its worst risk.
type riskLine struct {
	line string
	want umpire.Risk
}

func checkRisks(t *testing.T, tests []riskLine) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			t.Parallel()
			if got := wrapperRisk(tt.line); got != tt.want {
				t.Errorf("risk of %q is %v, want %v", tt.line, got, tt.want)
			}
		})
	}
}

// pathLine is a line and some of the paths that it must touch.
type pathLine struct {
	line string
	want string // separated by commas
}

func checkPaths(t *testing.T, tests []pathLine) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			t.Parallel()
			got := wrapperPaths(tt.line)
			for want := range strings.SplitSeq(tt.want, ", ") {
				if !slices.Contains(got, want) {
					t.Errorf("%q does not %s: %q", tt.line, want, got)
				}
			}
		})
	}
}

func TestNamesOccurOnce(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, family := range families {
		for i := range *family {
			for name := range strings.FieldsSeq((*family)[i].names) {
				if seen[name] {
					t.Errorf("%s is in two entries", name)
				}
				seen[name] = true
			}
		}
	}
}

// wrappings contain a command in place of %.
var wrappings = []string{
	"sudo %", "sudo -u root -- %", "sudo -n -E A=b %", "doas -u root %", "sudo -s %", "sudo -i %", "su -c '%'",
	"su root -c '%'", "su - root -c '%'", "su root -- -c '%'", "runuser -u root -- %", "runuser root -c '%'",
	"pkexec %", "pkexec --user root %", "run0 %", "gosu root %", "chroot /mnt %", "chroot --userspec=0:0 /mnt %",
	"unshare -r %", "unshare --mount --map-root-user %", "nsenter -t 1 -m -- %", "setpriv --reuid=0 %",
	"capsh -- -c '%'", "firejail --quiet %", "bwrap --bind / / %",
	"fakeroot %", "systemd-run --user --scope %", "systemd-run -p A=b -t %", "env %", "env A=b %", "env -i %",
	"env -u HOME %", "env -S '%'", "env -vS '%'", "env '-S%'", "env --split-string='%'", "env -S 'A=b' %",
	"env -S '-i' %", "env --strange %", "env -Z strange %",
	"timeout 5 %", "timeout -k 5 10 %", "timeout -s KILL 10s %", "timeout --signal=9 3 %", "timeout -Z 1 %", "time %",
	"time -p %", "/usr/bin/time -v %", "nice %", "nice -10 %", "nice -n 5 %", "ionice -c 3 %", "ionice -c2 -n7 %",
	"chrt -f 10 %", "chrt --idle 0 %", "taskset 1 %", "taskset -c 0-3 %", "numactl -N 0 %",
	"numactl --cpunodebind=0 --membind=0 %", "nohup %", "nohup % &", "setsid -w %", "stdbuf -oL %",
	"stdbuf -o L -e 0 %",
	"rlwrap %", "caffeinate -i %", "unbuffer %", "setarch x86_64 %", "faketime yesterday %", "watch %",
	"watch -n 1 '%'", "watch -n1 -d %", "watch -x %", "umpire try %", "umpire try -- %",
	"umpire try --keep -- '%'", "xargs %", "echo | xargs -I{} %", "xargs -r %",
	"xargs -n 1 -P 4 %", "xargs --strange %",
	"parallel ::: '%'", "echo '%' | parallel", "parallel '%' ::: ''", "parallel -j 4 % :::: list", "busybox %",
	"flock /tmp/l %", "flock -n l -c '%'", "flock l -c '%'", "hyperfine '%'", "hyperfine -p '%' ls", "ls | entr %",
	"ls | entr -s '%'", "ls | entr -r %",
	"strace %", "strace -f -o log %", "strace -o '|%' ls", "strace -e trace=open %", "ltrace %",
	"valgrind --leak-check=full %", "perf stat %", "gdb --args %", "script -c '%' out", "script -qec '%' /dev/null",
	"script out -c '%'", "script -q /dev/null %",
	"logsave out %", "torsocks %", "xvfb-run -a %", "dbus-run-session -- %", "screen -dmS x %",
	"screen -S x -X stuff '%'", "tmux new-session -d -s x '%'", "tmux new -d %", "tmux send-keys -t x '%' Enter",
	"tmux run-shell '%'", "tmux ls \\; run-shell '%'",
	"echo '%' | at now", "echo '%' | batch", "ip netns exec blue %", "command %", "builtin command %", "exec %",
	"eval '%'", "eval %", "sh -c '%'", "bash -lc '%'", "bash -euo pipefail -c '%'", "echo '%' | sh", "sh <<< '%'",
	"sh -s <<'E'\n%\nE",
	"env $X %", "sudo $X %", "timeout $T 5 %", "find . -exec % \\;", "find . -execdir % +", "trap '%' EXIT", "(%)",
	"{ %; }", "if true; then %; fi", "! %", "x=$(%)", "echo `%`", "cat <(%)",
	"vim -es -c '!%'", "tar cf /dev/null --checkpoint-action=exec='%' x", "tar xf a --to-command='%'",
	"tar -I '%' -cf a x", "zip -T -TT '%' a b", "rsync -e '%' a b", "man -P '%' ls",
}

// TestWrappingKeepsAccesses: a wrapper never hides the effects of its command: the same paths
// are touched, and the risk is not lower.
func TestWrappingKeepsAccesses(t *testing.T) {
	t.Parallel()
	for _, inner := range []string{"rm -rf /", "touch /etc/hosts", "shutdown now"} {
		for _, wrapping := range wrappings {
			line := strings.ReplaceAll(wrapping, "%", inner)
			t.Run(line, func(t *testing.T) {
				t.Parallel()
				if got, want := wrapperRisk(line), wrapperRisk(inner); !got.AtLeast(want) {
					t.Errorf("risk of %q is %v, less than %v", line, got, want)
				}
				got := wrapperPaths(line)
				for _, want := range wrapperPaths(inner) {
					if !slices.Contains(got, want) {
						t.Errorf("%q does not %s: %q", line, want, got)
					}
				}
			})
		}
	}
}

func TestWrapperRisks(t *testing.T) {
	t.Parallel()
	checkRisks(t, []riskLine{
		{"linux64", umpire.Medium}, {"cat x | linux64", umpire.Medium},
		{"echo 'rm -r x' | setarch x86_64", umpire.High}, {"linux64 ls", umpire.Low},
		{"hyperfine --shell=none ls", umpire.Safe}, {"hyperfine --output=x ls", umpire.Medium},
		{"hyperfine --output=null ls", umpire.Safe}, {"hyperfine -S ./p ls", umpire.Medium},
		{"env", umpire.Medium}, {"env FOO=1", umpire.Medium}, {"env -u A ls", umpire.Safe},
		{"timeout 5 ls", umpire.Safe}, {"nice -n 10 cat a", umpire.Safe},
		{"time ls", umpire.Safe}, {"stdbuf -oL cat a", umpire.Safe}, {"watch -n 1 ls", umpire.Safe},
		{"xargs -0 cat", umpire.Safe}, {"hyperfine ls", umpire.Safe},
		{"sudo ls", umpire.High}, {"sudo -l", umpire.High}, {"su", umpire.High},
		{"timeout --strange 5 ls", umpire.Medium}, {"tmux ls", umpire.Safe}, {"tmux kill-server", umpire.High},
		{"screen -ls", umpire.Safe}, {"parallel ls ::: a b", umpire.Low}, {"taskset -c 0 ls", umpire.Low},
		{"sudo poweroff", umpire.Critical}, {"flock l ls", umpire.Medium}, {"time -o f ls", umpire.Medium},
	})
}

func TestWrapperPaths(t *testing.T) {
	t.Parallel()
	checkPaths(t, []pathLine{
		{"parallel rm ::: a b", "delete /p/a, delete /p/b"},
		{"parallel rm -rf {}/x ::: '/a b'", "delete /a b/x*"},
		{"printf '/a\n/b\n' | xargs rm", "delete /a, delete /b"},
		{"cat <<'E' | xargs -I{} rm -r {}/x\n/a\n/b\nE", "delete /a/x*, delete /b/x*"},
		{"echo / | xargs -0 rm -rf", "delete /*"},
		{"sudo -e /etc/hosts", "write /etc/hosts"},
		{"env -C /tmp rm x", "delete /tmp/x"},
		{"flock lock ls", "write /p/lock"},
		{"strace -o log ls", "write /p/log"},
	})
}

func TestWrapperDoubt(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"parallel", "ls | parallel", "sudo $X", "watch $X", "xargs sh -c", "ls | entr sh -c /_", "env -S \"$X\"",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			if line == "parallel" || line == "xargs sh -c" {
				if wrapperRisk(line) == umpire.Critical {
					t.Errorf("%q is refused", line)
				}
				return
			}
			if !inDoubt(line) {
				t.Errorf("%q is not in doubt", line)
			}
		})
	}
}

// TestSuspectsAreBounded: nested unknown options stay cheap.
func TestSuspectsAreBounded(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("env --strange ", 400) + "rm -rf /"
	if got := len(Parse(line, wrapperEnv)); got > maxAccesses+2 {
		t.Errorf("%d accesses", got)
	}
}
