package shell_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/umpirehq/umpire/shell"
)

// foldersSplit are lines in three parts. repeated is the extra text in After besides the line's own end.
var foldersSplit = []struct{ before, line, after, repeated string }{
	{"", "make", "", ""},
	{"", "make; make test", "", ""},
	{"", "(cd sub && make)", "", ""},
	{"", "x=$(cd sub && pwd); make", "", ""},
	{"cd sub && ", "make test", "", ""},
	{"cd sub; ", "make test", "", ""},
	{"cd sub\n", "make test", "", ""},
	{"cd sub && cd 'b c' && ", "make && make test", "", ""},
	{"cd \"sub\" && ", "make", "", ""},
	{"", "make", " && cd sub", ""},
	{"", "make", "; cd sub", ""},
	{"cd sub; ", "make; make test", "; cd ..", ""},
	{"cd sub && ", "make", " && cd ..", ""},
	{"cd sub && ", "cat > f <<'EOF'\ncd x\nEOF\n", "", ""},
	{"", "make && cd sub && make test", "", " && cd sub"},
	{"cd sub && ", "make && cd .. && make test", "", " && cd .."},
	{"", "make && cd sub && make test", " && cd ..", " && cd sub"},
	{"cd sub && ", `echo it\'s && echo 'it'"'"'s'`, "", ""},
	{"cd sub && ", "make # cd there", "", ""},
}

// unsplit are lines that cannot be split.
var unsplit = []string{
	"cd sub", "cd a && cd b", `cd "$dir" && make`, "cd ~/x && make", "cd - && make", "cd -P sub && make", "cd sub || make",
	"cd sub && make || exit 1", "cd sub & make", "make & cd sub", "make; cd sub; make", "pushd sub && make",
	"if true; then cd sub; fi; make", "f() { cd sub; }; f", "builtin cd sub; make",
	"for d in a b; do cd $d; make; cd ..; done", "cat > f <<'EOF' && cd sub\nx\nEOF\n", "cd sub >log && make",
	"make 'unfinished", "", "# nothing", "! cd sub && make", "time cd sub && make", "{ cd sub && make; }",
	"make &", "make & make test", "cd sub && make &", "(make &)",
}

func TestSplitFolder(t *testing.T) {
	t.Parallel()
	for _, want := range foldersSplit {
		line := want.before + want.line + want.after
		got, ok := shell.SplitFolder(line)
		if !ok || got.Before != want.before || got.Line != want.line || got.After != want.repeated+want.after {
			t.Errorf("%q: %t, %+v", line, ok, got)
		}
	}
	for _, line := range unsplit {
		if got, ok := shell.SplitFolder(line); ok {
			t.Errorf("%q was split: %+v", line, got)
		}
	}
}

// TestSplitFolderEndsWhereTheLineEnds: a shell that runs a whole line and one that runs its
// parts, with the middle in a separate shell, print the same and end up in the same folder.
func TestSplitFolderEndsWhereTheLineEnds(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"bash", "zsh"} {
		program, err := exec.LookPath(name)
		if err != nil {
			t.Logf("there is no %s", name)
			continue
		}
		run := func(line string) string {
			dir := t.TempDir()
			for _, sub := range []string{"sub/sub", "sub/b c"} {
				if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.CommandContext(t.Context(), program, "-c", "make() { pwd -P | grep -o 'sub.*'; return 0$RESULT; }; eval "+
				shell.Quote(line)+"; echo $?; wait; pwd -P | grep -o 'sub.*'")
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			if err != nil && cmd.ProcessState == nil {
				t.Fatal(err)
			}
			return string(out)
		}
		for _, f := range foldersSplit {
			line := f.before + f.line + f.after
			split, _ := shell.SplitFolder(line)
			whole := run(line)
			parts := run(split.Before + "(eval " + shell.Quote(split.Line) + ")" + split.After)
			if whole != parts {
				t.Errorf("%s: %q\nwhole %q\nparts %q", name, line, whole, parts)
			}
		}
	}
}
