package egress

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// packed returns a compressed archive of a folder, as npm and Cargo fetch them.
func packed(folder string, files map[string]string) []byte {
	var all bytes.Buffer
	zipped := gzip.NewWriter(&all)
	archive := tar.NewWriter(zipped)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		_ = archive.WriteHeader(&tar.Header{Name: folder + "/" + name, Size: int64(len(files[name])), Mode: 0o755})
		_, _ = archive.Write([]byte(files[name]))
	}
	archive.Close()
	zipped.Close()
	return all.Bytes()
}

// leftOf returns what a registry of npm says about its one package, and the package.
func leftOf(name, address string) (about, tarball []byte) {
	tarball = packed("package", map[string]string{
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

// packages is a registry of npm, with one package, and a way to the attacker.
func packages(host string) http.HandlerFunc {
	about, left := leftOf("left", "https://"+host+"/left/-/left-1.0.0.tgz")
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
			fmt.Fprintf(w, `<a href="/left-1.0.0-py3-none-any.whl#sha256=%x">left-1.0.0-py3-none-any.whl</a>`, sum)
		case "/left-1.0.0-py3-none-any.whl":
			_, _ = w.Write(wheel)
		default:
			http.NotFound(w, r)
		}
	}
}

// The index of Cargo, and the host of its crates.
const (
	crateIndex = "index.crates.io"
	crateFiles = "static.crates.io"
)

// crates is the index of Cargo and its files, with one crate.
func crates() http.HandlerFunc {
	crate := packed("left-1.0.0", map[string]string{
		"Cargo.toml": "[package]\nname = \"left\"\nversion = \"1.0.0\"\nedition = \"2021\"\n",
		"src/lib.rs": "pub fn left() -> u32 { 1 }\n",
	})
	return func(w http.ResponseWriter, r *http.Request) {
		switch r.Host + r.URL.Path {
		case crateIndex + "/config.json":
			fmt.Fprint(w, `{"dl":"https://`+crateFiles+`/crates","api":"https://crates.io"}`)
		case crateIndex + "/le/ft/left":
			fmt.Fprintf(w, `{"name":"left","vers":"1.0.0","deps":[],"features":{},"yanked":false,"cksum":"%x"}`+"\n",
				sha256.Sum256(crate))
		case crateFiles + "/crates/left/1.0.0/download":
			_, _ = w.Write(crate)
		default:
			http.NotFound(w, r)
		}
	}
}

// debs is a repository of Debian without folders, with one package. It is never installed, and has no content.
func debs() http.HandlerFunc {
	const deb = "!<arch>\n"
	about := fmt.Sprintf("Package: left\nVersion: 1.0.0\nArchitecture: all\nMaintainer: a <a@example.com>\n"+
		"Description: left\nFilename: ./left.deb\nSize: %d\nSHA256: %x\n", len(deb), sha256.Sum256([]byte(deb)))
	return func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/Packages", "/./Packages":
			fmt.Fprint(w, about)
		case "/left.deb", "/./left.deb":
			fmt.Fprint(w, deb)
		default:
			http.NotFound(w, r)
		}
	}
}
