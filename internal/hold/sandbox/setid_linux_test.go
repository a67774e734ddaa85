package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// TestSetID checks that no user gets a command's rights by running its files.
func TestSetID(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.bare("echo x >f && cp /bin/true prog")
	for _, line := range []string{
		"chmod u+s f", "chmod g+s f", "chmod 4755 f", "chmod 2755 f", "install -m 4755 prog made", "mkdir -m 2755 d",
		"umask 0; mkdir e && chmod g+s e",
	} {
		b.fails(writing, line, "Operation not permitted")
	}
	if _, err := exec.LookPath("python3"); err == nil {
		for _, call := range []string{"os.chmod('f', 0o4755)", "os.fchmod(os.open('f', os.O_RDWR), 0o6755)", "os.open('n', os.O_CREAT | os.O_WRONLY, 0o4755)", "os.mknod('m', 0o104755)"} {
			b.fails(writing, `python3 -c "import os; `+call+`"`, "Operation not permitted")
		}
	}
	b.works(writing, "chmod 755 f && chmod a+x,o-r f && chmod -R u+w prog && install -m 755 prog made && mkdir -m 1777 sticky && tar cf a.tar f && tar xpf a.tar && cp -p f g")
	for _, name := range []string{"f", "made", "n", "m"} {
		info, err := os.Stat(filepath.Join(b.root, name))
		if err == nil && info.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 {
			t.Errorf("%s has %v", name, info.Mode())
		}
	}
}

// TestLinksOutside checks that a file with another name outside cannot be written.
func TestLinksOutside(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.bare("mkdir -p .venv/lib ../o/store && echo good >../o/store/a && ln ../o/store/a .venv/lib/a.py && echo own >own && ln own twin")
	b.fails(writing, "echo POISON >>.venv/lib/a.py", "Read-only")
	b.fails(writing, "chmod 777 .venv/lib/a.py", "Read-only")
	b.fails(writing, "mv .venv/lib .venv/new && echo POISON >>.venv/new/a.py", "Read-only")
	b.bare("test -e .venv/lib || mv .venv/new .venv/lib")
	b.works(writing, "echo more >>twin && echo new >.venv/lib/b.py")
	b.has(filepath.Join(b.outside, "store/a"), "good\n")

	// If there are many, the whole folder of the package manager is read-only.
	for i := range 250 {
		stored := filepath.Join(b.outside, "store", strconv.Itoa(i))
		dir := filepath.Join(b.root, "pkg/node_modules/x", strconv.Itoa(i))
		err := errors.Join(os.WriteFile(stored, []byte("good\n"), 0o644), os.MkdirAll(dir, 0o755),
			os.Link(stored, filepath.Join(dir, "f")))
		if err != nil {
			t.Fatal(err)
		}
	}
	b.fails(writing, "echo POISON >pkg/node_modules/x/9/f", "Read-only")
	b.fails(writing, "touch pkg/node_modules/new", "Read-only")
	b.works(writing, "touch pkg/new")
	limits := writing
	limits.Installs = true
	b.works(limits, "rm -r pkg/node_modules/x/9 && mkdir -p pkg/node_modules/y")
	b.has(filepath.Join(b.outside, "store/9"), "good\n")
}

// TestGuardedUnderAnotherName checks that a guarded file cannot be written through another hard link.
func TestGuardedUnderAnotherName(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.bare("mkdir .vscode && echo mine >.vscode/tasks.json && ln .vscode/tasks.json other.json")
	b.fails(writing, "echo evil >>other.json", "Read-only")
}
