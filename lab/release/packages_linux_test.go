package release

import (
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

var packages = flag.String("packages", "", "try the packages that goreleaser has made in a `folder`, each in a fresh Debian")

// A way is one of the ways to install umpire.
type way struct {
	file     string // of the release, to copy into the system, or ""
	prepare  []string
	install  []string
	as       string // the user that installs and removes it
	by       string // the method that umpire reports
	upgrade  string
	remove   []string // after umpire setup uninstall; nil if that is enough
	complete string   // a file of completions
	keeps    []string // files that belong to the package manager
}

// TestPackages installs umpire in every way that a release offers, each time in a fresh minimal Debian. It
// sets umpire up, uses it and removes it: no files may remain.
func TestPackages(t *testing.T) {
	if *packages == "" {
		t.Skip("needs the packages: make packages")
	}
	if os.Getuid() != 0 {
		t.Skip("needs root: it makes systems and mounts them")
	}
	for _, name := range []string{"debootstrap", "unshare", "mount", "node", "npm", "unzip"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip(err)
		}
	}
	dist, err := filepath.Abs(*packages)
	if err != nil {
		t.Fatal(err)
	}
	version := readVersion(t, dist)
	suffix := "_linux_" + runtime.GOARCH
	npm := t.TempDir()
	packNPM(t, dist, version, npm)
	registry := serveRegistry(t, npm)
	files := httptest.NewServer(http.FileServer(http.Dir(dist)))
	t.Cleanup(files.Close)
	nodeProgram, npmFolder := findNode(t)
	base := makeBase(t)
	const shared = "/usr/share/bash-completion/completions/umpire"
	for name, w := range map[string]way{
		"deb": {
			file: "umpire_" + version + suffix + ".deb", as: root, by: "deb", complete: shared,
			upgrade: "sudo apt-get install --only-upgrade umpire",
			install: []string{"dpkg", "--install", "/root/umpire_" + version + suffix + ".deb"},
			remove:  []string{"dpkg", "--purge", "umpire"},
			keeps:   []string{"/var/lib/dpkg", "/var/log/dpkg.log", "/var/cache/debconf"},
		},
		"rpm": {
			file: "umpire_" + version + suffix + ".rpm", as: root, by: "rpm", complete: shared,
			upgrade: "sudo dnf upgrade umpire",
			prepare: []string{
				"apt-get -qq update && apt-get -qq install --no-install-recommends rpm",
				// Debian's rpm keeps a database for each user; other systems have only one.
				"mkdir -p /etc/rpm /var/lib/rpm && echo '%_dbpath /var/lib/rpm' >/etc/rpm/macros && rpm --initdb",
			},
			install: []string{"rpm", "--force-debian", "--install", "/root/umpire_" + version + suffix + ".rpm"},
			remove:  []string{"rpm", "--force-debian", "--erase", "umpire"},
			keeps:   []string{"/var/lib/rpm"},
		},
		"npm": {
			as: root, by: "npm", upgrade: "npm install --global @umpirehq/umpire@latest",
			install: []string{"npm", "install", "--global", "--registry", registry, "@umpirehq/umpire"},
			remove:  []string{"npm", "uninstall", "--global", "@umpirehq/umpire"},
			keeps:   []string{"/root/.npm", "/usr/local/lib/node_modules/@umpirehq"}, // an empty folder
		},
		"install.sh": {
			file: "install.sh", as: person, by: "files", upgrade: "curl -fsSL ",
			prepare:  []string{"apt-get -qq update && apt-get -qq install --no-install-recommends curl"},
			install:  []string{"env", "UMPIRE_RELEASE=" + files.URL, "sh", "/root/install.sh"},
			complete: home + "/.local/share/bash-completion/completions/umpire",
			keeps:    []string{home + "/.local"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSystem(t, base, w.prepare...)
			switch name {
			case "npm":
				s.copyIn("usr/local/bin", nodeProgram)
				s.copyIn("usr/local/lib/node_modules", npmFolder)
				s.mustRun(root, "ln", "-s", "../lib/node_modules/npm/bin/npm-cli.js", "/usr/local/bin/npm")
			case "install.sh":
				s.copyIn("root", "../../packaging/install.sh")
				s.mustRun(root, "chmod", "755", "/root")
			default:
				s.copyIn("root", filepath.Join(dist, w.file))
			}
			before := s.list()
			s.mustRun(w.as, w.install...)
			useAndRemove(t, s, version, &w)
			except := w.keeps
			if name == "install.sh" {
				for path := range s.list() {
					if strings.HasPrefix(path, home+"/.local") && !s.isFolder(path) {
						t.Errorf("%s is left behind", path)
					}
				}
			}
			compare(t, before, s.list(), except)
			t.Logf("figure: %s: installed, set up, used and removed: %t", name, !t.Failed())
		})
	}
	t.Run("image", func(t *testing.T) { tryImage(t, dist) })
}

// useAndRemove uses umpire as people do after installing it, and removes it.
func useAndRemove(t *testing.T, s *system, version string, w *way) {
	t.Helper()
	if out := s.mustRun(person, "umpire", "--version"); !strings.Contains(out, version) {
		t.Errorf("umpire --version says %s", out)
	}
	if out, err := s.run(person, "umpire", "setup", "--yes"); err == nil || !strings.Contains(out, "no agent to set up was found") {
		t.Errorf("umpire setup without an agent: %v\n%s", err, out)
	}
	const settings = `{"permissions":{"allow":["Bash(npm run lint:*)"]}}`
	s.writeFile(home+"/.claude/settings.json", settings, 0o600)
	s.writeFile(home+"/agents/claude", "#!/bin/sh\necho '2.1.329 (Claude Code)'\n", 0o755)
	s.mustRun(person, "umpire", "setup", "--yes")
	if !strings.Contains(s.readFile(home+"/.claude/settings.json"), "umpire-hook") {
		t.Error("umpire setup did not write the hook")
	}
	s.mustRun(person, "umpire", "doctor")
	if w.complete != "" && s.readFile(w.complete) != s.mustRun(person, "umpire", "completion", "bash") {
		t.Errorf("%s is not what umpire completion bash writes", w.complete)
	}
	out := s.mustRun(person, "umpire", "setup", "upgrade")
	if !strings.Contains(out, "installed by "+w.by) || !strings.Contains(out, "next: "+w.upgrade) {
		t.Errorf("umpire setup upgrade says %s", out)
	}
	out = s.mustRun(person, "umpire", "setup", "uninstall", "--state", "--yes")
	if left := s.readFile(home + "/.claude/settings.json"); left != settings {
		t.Errorf("umpire setup uninstall leaves %s", left)
	}
	if w.remove != nil {
		if !strings.Contains(out, "next: ") || !strings.Contains(out, "umpire") {
			t.Errorf("umpire setup uninstall does not say how to go on: %s", out)
		}
		s.mustRun(w.as, w.remove...)
	}
	if out, err := s.run(person, "umpire", "--version"); err == nil {
		t.Errorf("umpire still runs: %s", out)
	}
	s.mustRun(root, "rm", "-r", home+"/.claude", home+"/agents") // they are the test's
}

// tryImage builds the image of packaging/Dockerfile and starts its program.
func tryImage(t *testing.T, dist string) {
	if _, err := exec.LookPath("buildah"); err != nil {
		t.Skip(err)
	}
	context, store := t.TempDir(), t.TempDir()
	buildah := func(args ...string) string {
		t.Helper()
		own := []string{"--root", filepath.Join(store, "root"), "--runroot", filepath.Join(store, "run"), "--storage-driver", "vfs"}
		out, err := exec.CommandContext(t.Context(), "buildah", append(own, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("buildah %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return strings.TrimSpace(string(out))
	}
	platform := "linux/" + runtime.GOARCH
	programs := filepath.Join(context, platform)
	if err := os.MkdirAll(programs, 0o755); err != nil {
		t.Fatal(err)
	}
	archive := filepath.Join(dist, "umpire_linux_"+runtime.GOARCH+".tar.gz")
	for _, args := range [][]string{
		{"tar", "-xzf", archive, "-C", programs, "umpire", "umpire-hook"},
		{"cp", "../../LICENSE", "../../packaging/Dockerfile", context},
	} {
		if out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	buildah("bud", "--isolation", "chroot", "--build-arg", "TARGETPLATFORM="+platform, "--tag", "umpire", context)
	container := buildah("from", "umpire")
	defer buildah("rm", container)
	if out := buildah("run", "--isolation", "chroot", container, "--", "/usr/bin/umpire", "check", "--", "ls"); !strings.HasPrefix(out, "allow") {
		t.Errorf("umpire check in the image says %s", out)
	}
	info, err := os.Stat(filepath.Join(buildah("mount", container), "var/lib/umpire"))
	if err != nil {
		t.Fatal(err)
	}
	if owner := info.Sys().(*syscall.Stat_t).Uid; owner != 65532 {
		t.Errorf("the folder for what a gate keeps belongs to %d", owner)
	}
	t.Logf("figure: image: built and started: %t", !t.Failed())
}

// isFolder reports whether a path of the system is a folder.
func (s *system) isFolder(name string) bool {
	info, err := os.Lstat(filepath.Join(s.root, name))
	return err == nil && info.IsDir()
}

// readVersion reads which version goreleaser has made.
func readVersion(t *testing.T, dist string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dist, "metadata.json"))
	if err != nil {
		t.Fatal(err)
	}
	var about struct {
		Version string `json:"version"`
	}
	if err := json.Unmarshal(text, &about); err != nil || about.Version == "" {
		t.Fatalf("metadata.json: %v", err)
	}
	return about.Version
}

// findNode is the program of Node on this machine, and the folder of its npm.
func findNode(t *testing.T) (program, npm string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "node", "-p", "process.execPath").Output()
	if err != nil {
		t.Fatal(err)
	}
	path, err := exec.LookPath("npm")
	if err != nil {
		t.Fatal(err)
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out)), filepath.Dir(filepath.Dir(path))
}
