package release

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A system is a fresh Debian with only the needs of a package. It is a layer over a shared base, and
// commands run in it as after a boot: with separate files, processes and users.
type system struct {
	t    *testing.T
	root string
}

// The users of a system, and the home folder of the ordinary user.
const (
	root   = "0"
	person = "1000"
	home   = "/home/you"
)

// makeBase installs a minimal Debian into a folder.
func makeBase(t *testing.T) string {
	t.Helper()
	base := filepath.Join(t.TempDir(), "base")
	out, err := exec.CommandContext(t.Context(), "debootstrap", "--variant=minbase", "bookworm", base).CombinedOutput()
	if err != nil {
		t.Fatalf("debootstrap: %v\n%s", err, out[max(0, len(out)-2000):])
	}
	out, err = exec.CommandContext(t.Context(), "chroot", base, "/usr/sbin/useradd", "--create-home", "--uid", "1000", "you").CombinedOutput()
	if err != nil {
		t.Fatalf("useradd: %v\n%s", err, out)
	}
	return base
}

// newSystem creates a system over the base. Its root user runs the preparations first.
func newSystem(t *testing.T, base string, prepare ...string) *system {
	t.Helper()
	dir := t.TempDir()
	s := &system{t: t, root: filepath.Join(dir, "root")}
	for _, name := range []string{"root", "upper", "work"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	layers := fmt.Sprintf("lowerdir=%s,upperdir=%s/upper,workdir=%s/work", base, dir, dir)
	mount(t, "-t", "overlay", "-o", layers, "overlay", s.root)
	for _, line := range prepare {
		s.mustRun(root, "sh", "-c", line)
	}
	return s
}

// mount mounts something until the test ends.
func mount(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "mount", args...).CombinedOutput(); err != nil {
		t.Fatalf("mount: %v\n%s", err, out)
	}
	at := args[len(args)-1]
	t.Cleanup(func() {
		if out, err := exec.Command("umount", at).CombinedOutput(); err != nil {
			t.Errorf("umount %s: %v\n%s", at, err, out)
		}
	})
}

// run runs a program in the system as a user, and returns its output.
func (s *system) run(as string, command ...string) (string, error) {
	s.t.Helper()
	own, env := "/root", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	if as == person {
		own, env = home, "PATH="+home+"/.local/bin:"+home+"/agents:/usr/local/bin:/usr/bin:/bin"
	}
	// pivot_root changes the real root, not only the program's view as chroot does: sandboxes cannot be created
	// below a chroot.
	const enter = `cd "$0" && mount -t proc proc proc && pivot_root . . && cd / && umount -l . && exec "$@"`
	args := slices.Concat([]string{
		"--mount", "--pid", "--fork", "--kill-child", "--ipc", "--uts", "sh", "-c", enter, s.root,
		"setpriv", "--reuid=" + as, "--regid=" + as, "--clear-groups", "env", "--ignore-environment", "--chdir=" + own,
		"HOME=" + own, env, "LANG=C.UTF-8", "DEBIAN_FRONTEND=noninteractive",
	}, command)
	out, err := exec.CommandContext(s.t.Context(), "unshare", args...).CombinedOutput()
	s.t.Logf("user %s: %s\n%s", as, strings.Join(command, " "), out)
	return string(out), err
}

// mustRun runs a program that has to succeed.
func (s *system) mustRun(as string, command ...string) string {
	s.t.Helper()
	out, err := s.run(as, command...)
	if err != nil {
		s.t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, out)
	}
	return out
}

// copyIn copies files of this machine into a folder of the system.
func (s *system) copyIn(folder string, paths ...string) {
	s.t.Helper()
	to := filepath.Join(s.root, folder)
	if err := os.MkdirAll(to, 0o755); err != nil {
		s.t.Fatal(err)
	}
	args := slices.Concat([]string{"-a"}, paths, []string{to})
	if out, err := exec.CommandContext(s.t.Context(), "cp", args...).CombinedOutput(); err != nil {
		s.t.Fatalf("cp: %v\n%s", err, out)
	}
}

// writeFile writes a file that belongs to the person.
func (s *system) writeFile(name, text string, mode fs.FileMode) {
	s.t.Helper()
	path := filepath.Join(s.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		s.t.Fatal(err)
	}
	for _, owned := range []string{filepath.Dir(path), path} {
		if err := os.Lchown(owned, 1000, 1000); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *system) readFile(name string) string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.root, name))
	if err != nil {
		s.t.Error(err)
	}
	return string(text)
}

// list describes every file of the system.
func (s *system) list() map[string]string {
	s.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(s.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(path, s.root)
		if name == "/proc" || name == "/dev" || name == "/sys" {
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		all[name] = info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			sum := sha256.New()
			f, err := os.Open(path)
			if err != nil {
				return err
			}
			defer f.Close()
			if _, err := io.Copy(sum, f); err != nil {
				return err
			}
			all[name] += fmt.Sprintf(" %x", sum.Sum(nil))
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			all[name] += " " + target
			return err
		}
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

// compare reports the differences between two lists, except for the package manager's own
// records.
func compare(t *testing.T, before, after map[string]string, except []string) {
	t.Helper()
	own := func(name string) bool {
		return slices.ContainsFunc(except, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
	}
	for name, is := range after {
		if was, there := before[name]; was != is && !own(name) {
			t.Errorf("%s is left behind or changed (there before: %t)", name, there)
		}
	}
	for name := range before {
		if _, there := after[name]; !there && !own(name) {
			t.Errorf("%s has gone", name)
		}
	}
}
