//go:build unix

package release

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// serveRegistry is a registry of npm on the loopback, which has the packages of a folder.
func serveRegistry(t *testing.T, folder string) (address string) {
	t.Helper()
	archives, err := filepath.Glob(filepath.Join(folder, "*.tgz"))
	if err != nil || len(archives) == 0 {
		t.Fatalf("no package in %s: %v", folder, err)
	}
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	mux.Handle("/files/", http.StripPrefix("/files/", http.FileServer(http.Dir(folder))))
	entries := map[string]any{}
	for _, path := range archives {
		manifest := readManifest(t, path)
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha512.Sum512(content)
		manifest["dist"] = map[string]string{
			"tarball":   server.URL + "/files/" + filepath.Base(path),
			"integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:]),
		}
		name, version := manifest["name"].(string), manifest["version"].(string)
		entries[name] = map[string]any{
			"name": name, "dist-tags": map[string]string{"latest": version}, "versions": map[string]any{version: manifest},
		}
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		entry, found := entries[strings.TrimPrefix(r.URL.Path, "/")]
		if !found {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(entry); err != nil {
			t.Error(err)
		}
	})
	return server.URL
}

// readManifest reads package.json of a package.
func readManifest(t *testing.T, path string) (manifest map[string]any) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	for entries := tar.NewReader(unzipped); ; {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			t.Fatalf("%s has no package.json", path)
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Name != "package/package.json" {
			continue
		}
		if err := json.NewDecoder(entries).Decode(&manifest); err != nil {
			t.Fatal(err)
		}
		return manifest
	}
}
