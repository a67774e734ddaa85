package egress

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestEgress runs its parts one after the other, because they share the addresses of the internet.
func TestEgress(t *testing.T) {
	n := newInternet(t)
	n.host(registry, "151.101.0.3", packages())
	n.host(evil, "151.101.9.9", func(http.ResponseWriter, *http.Request) {})
	n.host(rebound, "127.0.0.1", nil)
	n.host(metadata, "169.254.169.254", nil)
	n.host("proxy.golang.org", "151.101.0.4", modules())
	n.host("pypi.org", "151.101.0.5", wheels())
	t.Run("attackers", func(t *testing.T) { attackers(t, n) })
	n.host(files, "151.101.0.6", served)
	t.Run("installers", func(t *testing.T) { installers(t, n) })
	t.Run("approvals", func(t *testing.T) { approvals(t, n) })
	t.Run("leases", func(t *testing.T) { leases(t, n) })
}

// attackers runs every attack in a trial that may fetch from npm's registry. Nothing but fetches from it may leave.
func attackers(t *testing.T, n *internet) {
	p := newPerson(t, n, "npm")
	program, err := os.ReadFile("/proc/self/exe")
	must(t, err)
	must(t, os.WriteFile(filepath.Join(p.project, attacker), program, 0o755))
	for _, name := range slices.Sorted(maps.Keys(attacks)) {
		t.Run(name, func(t *testing.T) {
			n.forget()
			out, code := p.run(t, "try", "--discard", "--", "./"+attacker+" '"+name+"'")
			if code != 0 || !strings.Contains(out, "attacked") || strings.Contains(out, "inherited") ||
				strings.Contains(out, "another's") || strings.Contains(out, "no redirect") {
				t.Errorf("exit code %d\n%s", code, out)
			}
			n.quiet(t, registry, rebound, metadata)
			for _, to := range []string{"127.0.0.1", "169.254.169.254"} {
				for at := range n.opened {
					if strings.HasPrefix(at, to+":") {
						t.Errorf("a connection reached %s", at)
					}
				}
			}
		})
	}
	// What such a command leaves behind is not kept unasked.
	out, _ := p.run(t, "try", "--json", "--", "./"+attacker+" publish; touch left")
	var r struct {
		Refused []struct {
			Kind string `json:"kind"`
		} `json:"refused"`
		Decision struct {
			Verdict string `json:"verdict"`
		} `json:"decision"`
	}
	if json.Unmarshal([]byte(out[strings.Index(out, "{"):]), &r) != nil || r.Decision.Verdict != "ask" ||
		len(r.Refused) != 1 || r.Refused[0].Kind != "send" {
		t.Errorf("%s", out)
	}
	t.Logf("figure: egress: %d attacks, 0 bytes beyond fetches from the listed registry: %t", len(attacks), !t.Failed())
}

// An installer is a package manager with a project of its own.
type installer struct {
	group, needs, line, made string
	first                    bool // it is tried first
	hosts                    []string
	files                    map[string]string
}

var allInstallers = []installer{
	{
		group: "npm", needs: "npm --version", first: true, line: "npm install", made: "node_modules/left/index.js", hosts: []string{registry},
		files: map[string]string{"package.json": `{"name":"p","version":"1.0.0","dependencies":{"left":"^1.0.0"}}`},
	},
	{
		group: "npm", needs: "npm --version", first: true, line: "npm install left", made: "node_modules/left/index.js",
		hosts: []string{registry},
	},
	{
		group: "npm", needs: "npx --version", line: "npx --yes left", hosts: []string{registry},
		files: map[string]string{"package.json": `{"name":"p","version":"1.0.0"}`},
	},
	{
		group: "go", needs: "go version", first: true, line: "go get example.org/left@v1.0.0", made: "go.sum",
		hosts: []string{"proxy.golang.org"}, files: map[string]string{"go.mod": "module p\n\ngo 1.21\n"},
	},
	{
		group: "pypi", needs: "python3 -m pip --version", first: true, line: "python3 -m pip install --target lib left", made: "lib/left.py",
		hosts: []string{"pypi.org"},
	},
}

// installers runs real package managers against servers of the test, with and without their group.
func installers(t *testing.T, n *internet) {
	for _, i := range allInstallers {
		t.Run(i.line, func(t *testing.T) {
			if out, err := exec.CommandContext(t.Context(), "sh", "-c", i.needs).CombinedOutput(); err != nil {
				t.Skipf("%s: %v\n%s", i.needs, err, out)
			}
			for _, listed := range []bool{true, false} {
				n.forget()
				group := i.group
				if !listed {
					group = "docs"
				}
				p := newPerson(t, n, group)
				for name, text := range i.files {
					must(t, os.WriteFile(filepath.Join(p.project, name), []byte(text), 0o644))
				}
				out, code := p.run(t, "try", "--keep", "--", i.line)
				_, err := os.Stat(filepath.Join(p.project, i.made))
				if listed != (code == 0) || listed != (err == nil) && i.made != "" {
					t.Errorf("listed %t: exit code %d, %v\n%s", listed, code, err, out)
				}
				if !listed {
					n.quiet(t)
					if !strings.Contains(out, i.hosts[0]+":443") {
						t.Errorf("nothing names %s:\n%s", i.hosts[0], out)
					}
					continue
				}
				n.quiet(t, i.hosts...)
				if !strings.Contains(out, "Reached: "+i.hosts[0]+":443 ("+i.group+")") {
					t.Errorf("%s", out)
				}
				var d struct {
					Trial string `json:"trial"`
				}
				decided, _ := p.run(t, "check", "--json", "--", i.line)
				if json.Unmarshal([]byte(decided), &d) != nil || (d.Trial == "first") != i.first {
					t.Errorf("tried first: %s, want %t: %s", d.Trial, i.first, decided)
				}
			}
		})
	}
}

// packed returns a package of npm.
func packed(files map[string]string) []byte {
	var all bytes.Buffer
	zipped := gzip.NewWriter(&all)
	archive := tar.NewWriter(zipped)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		_ = archive.WriteHeader(&tar.Header{Name: "package/" + name, Size: int64(len(files[name])), Mode: 0o755})
		_, _ = archive.Write([]byte(files[name]))
	}
	archive.Close()
	zipped.Close()
	return all.Bytes()
}

// leftOf returns what a registry of npm says about its one package, and the package.
func leftOf(name, address string) (about, tarball []byte) {
	tarball = packed(map[string]string{
		"package.json": `{"name":"` + name + `","version":"1.0.0","bin":"index.js"}`, "index.js": "#!/usr/bin/env node\n",
	})
	sum := sha512.Sum512(tarball)
	about, _ = json.Marshal(map[string]any{
		"name": name, "dist-tags": map[string]string{"latest": "1.0.0"},
		"versions": map[string]any{"1.0.0": map[string]any{
			"name": name, "version": "1.0.0", "bin": map[string]string{"left": "index.js"},
			"dist": map[string]string{"tarball": address, "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])},
		}},
	})
	return about, tarball
}

// packages is the registry of npm, with one package, and a way to the attacker.
func packages() http.HandlerFunc {
	about, left := leftOf("left", "https://"+registry+"/left/-/left-1.0.0.tgz")
	return func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/left":
			_, _ = w.Write(about)
		case "/left/-/left-1.0.0.tgz":
			_, _ = w.Write(left)
		case "/redirect":
			http.Redirect(w, r, "https://"+evil+"/redirected", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}
}

// zipped returns an archive.
func zipped(files map[string]string) []byte {
	var all bytes.Buffer
	archive := zip.NewWriter(&all)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, _ := archive.Create(name)
		_, _ = f.Write([]byte(files[name]))
	}
	archive.Close()
	return all.Bytes()
}

// modules is the proxy of Go, with one module.
func modules() http.HandlerFunc {
	mod := "module example.org/left\n\ngo 1.21\n"
	at := "example.org/left@v1.0.0/"
	archive := zipped(map[string]string{at + "go.mod": mod, at + "left.go": "package left\n"})
	return func(w http.ResponseWriter, r *http.Request) {
		switch strings.TrimPrefix(r.URL.Path, "/example.org/left/@v/") {
		case "v1.0.0.info":
			fmt.Fprint(w, `{"Version":"v1.0.0","Time":"2026-01-01T00:00:00Z"}`)
		case "v1.0.0.mod":
			fmt.Fprint(w, mod)
		case "v1.0.0.zip":
			_, _ = w.Write(archive)
		case "list":
			fmt.Fprintln(w, "v1.0.0")
		default:
			http.NotFound(w, r)
		}
	}
}

// wheels is the index of Python packages, with one wheel.
func wheels() http.HandlerFunc {
	about := "Metadata-Version: 2.1\nName: left\nVersion: 1.0.0\n"
	wheel := zipped(map[string]string{
		"left.py": "", "left-1.0.0.dist-info/METADATA": about,
		"left-1.0.0.dist-info/WHEEL":  "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
		"left-1.0.0.dist-info/RECORD": "left.py,,\n",
	})
	sum := sha256.Sum256(wheel)
	return func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/simple/left/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, `<a href="/left-1.0.0-py3-none-any.whl#sha256=%s">left-1.0.0-py3-none-any.whl</a>`, hex.EncodeToString(sum[:]))
		case "/left-1.0.0-py3-none-any.whl":
			_, _ = w.Write(wheel)
		default:
			http.NotFound(w, r)
		}
	}
}
