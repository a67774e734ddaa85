package trial

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A generator makes reproducible trees and command lines from a seed.
type generator struct{ *rand.Rand }

// names are few, so commands meet each other's files.
var names = []string{"a", "b", "c", "d e", "f.txt", "g.txt"}

func (g *generator) one(of ...string) string { return of[g.IntN(len(of))] }

// path returns a path of up to three names.
func (g *generator) path() string {
	parts := []string{}
	for range 1 + g.IntN(3) {
		parts = append(parts, g.one(names...))
	}
	return strings.Join(parts, "/")
}

func (g *generator) makeTree(t *testing.T, root string) {
	t.Helper()
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	for range 10 + g.IntN(30) {
		path := filepath.Join(root, g.path())
		if g.IntN(2) == 0 {
			_ = os.MkdirAll(path, 0o755) // there may already be a file, here and below
		}
		_ = os.MkdirAll(filepath.Dir(path), 0o755)
		switch g.IntN(12) {
		case 0:
			_ = os.Symlink(g.path(), path)
		case 1:
		case 2:
			_ = os.Link(filepath.Join(root, g.path()), path)
		default:
			text := strings.Repeat(g.one("one\n", "two\n", "three\n"), g.IntN(2000))
			_ = os.WriteFile(path, []byte(text), fs.FileMode(0o600|g.IntN(0o100)))
		}
	}
	err := filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		at := time.Unix(1_500_000_000+g.Int64N(1e8), g.Int64N(1e9))
		if err == nil {
			times := unix.NsecToTimespec(at.UnixNano())
			err = unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{times, times}, unix.AT_SYMLINK_NOFOLLOW)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A kind is one sort of command lines. P and Q in them are paths, N is a number.
type kind struct {
	name  string
	lines []string
}

// kinds is the mix: each line of a sequence comes from one of them with equal
// probability. Lines whose program is not installed are left out.
var kinds = []kind{
	{"shell", shellLines}, {"shell", shellLines}, {"shell", shellLines}, {"python3", pythonLines}, {"git", gitLines},
	{"tar", tarLines}, {"perl", renameLines}, {"ln", linkLines}, {"chmod", modeLines},
}

var shellLines = []string{
	"echo N >P", "echo N >P", "echo N >>P", ": >P", "printf '%0200000d' N >P", "truncate -s N P", "truncate -s 3000000 P",
	"rm -f P", "rm -f P", "rm -rf P", "rm -rf P", "rmdir P", "unlink P",
	"mkdir P", "mkdir -p P", "mkdir -p P && echo N >P/new",
	"mv P Q", "mv P Q", "mv -T P Q", "mv -T P Q", "mv -n P Q", "cp P Q", "cp -r P/. Q", "cp -p P Q",
	"sed -i s/o/0/ P", "sed -i s/x/y/ P", "for f in P/*; do echo N >>\"$f\"; done", "for f in P/*; do mv \"$f\" \"$f.old\"; done",
	"dd if=/dev/zero of=P bs=4096 count=3 seek=N conv=notrunc", "cat P >Q", "cat P >$TMPDIR/keep && cat $TMPDIR/keep >P",
	"find P -type f -delete", "find P -depth -delete", "rm -rf P && mkdir P && touch P/a", "(cd P && mv * ..)", "(cd P && mkdir -p x && mv a x/)",
}

var linkLines = []string{
	"ln P Q", "ln -f P Q", "ln -s P Q", "ln -sfn P Q", "cp -a P Q", "cp -al P Q", "ln P Q && echo N >>Q", "ln P Q && rm P",
	"ln -s P Q && echo N >Q", "cp -al P Q && rm -rf P", "ln -r -s P Q",
}

var modeLines = []string{
	"chmod 755 P", "chmod 600 P", "chmod -R u+rwX,go-w P", "chmod 700 P", "chmod +t P", "find P -type f -exec chmod +x {} +",
	"touch P", "touch -d @1400000000.5 P", "touch -r P Q", "touch -hd @1300000000 P", "install -m 751 P Q", "(umask 77; echo N >P)",
	"chmod 555 P; echo N >P/new; chmod 755 P",
}

// renameLines use the system call, which moves a folder in one step or not at all.
var renameLines = []string{
	`perl -e 'rename "P", "Q"'`, `perl -e 'rename "P", "Q"'`,
	`perl -e 'for (1..N0) { rename "P", "Q"; rename "Q", "P" }'`,
	`perl -e 'for (1..N) { rename "P", "storm$_"; rename "Q", "P"; rename "storm$_", "Q" }'`,
	`perl -e 'rename "P", "P.0"; rename "P.$_", "P.".($_+1) for 0..N'`,
	`perl -e 'rename $_, "$_.x" for glob("{P,Q}/*")'`,
	`perl -e 'my ($p, $q) = ("P", "Q"); syscall(316, -100, $p, -100, $q, 2)'`, // RENAME_EXCHANGE
}

var tarLines = []string{
	"tar cf $TMPDIR/t.tar P && tar xf $TMPDIR/t.tar -C Q", "tar cf $TMPDIR/t.tar P && rm -rf P && tar xf $TMPDIR/t.tar",
	"tar czf $TMPDIR/t.tar P Q && tar xzpf $TMPDIR/t.tar", "tar cf P.tar --mtime=@0 Q && tar --delete -f P.tar Q",
	"tar cf - P | tar xf - -C Q --keep-newer-files", "tar cf $TMPDIR/t.tar --remove-files P && tar xf $TMPDIR/t.tar --strip-components 1",
}

// gitLines work in a repository made by the line before them.
var gitLines = []string{
	"git add -A", "git add -A && git commit -qm N", "git mv P Q", "git mv P Q", "git rm -rqf P", "git checkout -q -b bN",
	"git checkout -q -f main", "git reset -q --hard", "git stash -q -u", "git stash pop -q", "git clean -fdq", "git checkout -q -- P",
	"git init -q P && rm -rf P/.git", "git archive HEAD P | tar x -C Q", "echo N >P && git diff >$TMPDIR/d && git apply -R $TMPDIR/d",
}

var pythonLines = []string{
	`python3 -c 'import os; os.rename("P", "Q")'`, `python3 -c 'import os; os.replace("P", "Q")'`,
	`python3 -c 'import shutil; shutil.move("P", "Q")'`, `python3 -c 'import shutil; shutil.copytree("P", "Q", symlinks=True)'`,
	`python3 -c 'import shutil; shutil.rmtree("P")'`, `python3 -c 'import os; os.makedirs("P/x/y"); os.symlink("..", "P/x/y/z")'`,
	`python3 -c 'f = open("P", "r+b"); f.seek(N000); f.write(b"N")'`, `python3 -c 'open("P", "a").write("N\n")'`,
	`python3 -c 'import mmap; f = open("P", "r+b"); m = mmap.mmap(f.fileno(), 0); m[0] = 78; m.flush()'`,
	`python3 -c 'import os; os.truncate("P", N)'`, `python3 -c 'import os; os.utime("P", ns=(5, N))'`,
	`python3 -c 'import os; open("P.tmp", "w").write("N"); os.replace("P.tmp", "P")'`,
	`python3 -c 'import pathlib; [p.write_text("N") for p in sorted(pathlib.Path("P").rglob("*")) if p.is_file() and not p.is_symlink()]'`,
	`python3 -c 'import os; f = open("P", "r+"); os.rename("P", "Q"); f.write("N"); f.close(); os.link("Q", "P")'`,
}

// script returns a sequence of commands, each of which may fail.
func (g *generator) script() string {
	var lines []string
	for range 4 + g.IntN(10) {
		k := kinds[g.IntN(len(kinds))]
		if _, err := exec.LookPath(k.name); err != nil && k.name != "shell" {
			continue
		}
		line := g.one(k.lines...)
		if k.name == "git" {
			lines = append(lines, "test -e .git || { git init -q -b main && git add -A && git commit -qm 0; } 2>&1 || true")
		}
		p, q := g.path(), g.path()
		for strings.HasPrefix(q+"/", p+"/") {
			q = g.path() // copying a folder into itself depends on the order of its entries
		}
		var quoted strings.Builder
		for i, r := range line {
			// A placeholder is a capital letter that stands alone.
			alone := (i == 0 || !isLetter(line[i-1])) && (i+1 == len(line) || !isLetter(line[i+1]))
			switch {
			case r == 'P' && alone:
				quoted.WriteString(shellWord(line, p))
			case r == 'Q' && alone:
				quoted.WriteString(shellWord(line, q))
			case r == 'N' && alone:
				quoted.WriteString(strconv.Itoa(1 + g.IntN(9)))
			default:
				quoted.WriteRune(r)
			}
		}
		lines = append(lines, "{ "+quoted.String()+"; } 2>&1 || true")
	}
	return strings.Join(lines, "\n")
}

func isLetter(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '-' }

// shellWord quotes a path for the shell; in a Perl or Python program it is already quoted.
func shellWord(line, path string) string {
	if strings.HasPrefix(line, "perl") || strings.HasPrefix(line, "python3") {
		return path
	}
	return strings.ReplaceAll(path, " ", `\ `)
}
