package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// BenchmarkFirstBuild builds the programs with an empty build cache, as after cloning, with two
// compilers at a time. It reports the processor time, and the size of the modules to download.
func BenchmarkFirstBuild(b *testing.B) {
	root, err := repositoryRoot(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	goIn := func(args ...string) (out []byte, seconds float64) {
		cmd := exec.CommandContext(b.Context(), "go", args...)
		cmd.Dir, cmd.Stderr = root, os.Stderr
		out, err := cmd.Output()
		if err != nil {
			b.Fatalf("go %q: %v", args, err)
		}
		return out, (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	}
	b.Setenv("CGO_ENABLED", "0")
	seconds := 0.0
	for b.Loop() {
		b.Setenv("GOCACHE", b.TempDir())
		_, took := goIn("build", "-p", "2", "-o", b.TempDir(), "./cmd/...")
		seconds += took
	}
	b.ReportMetric(seconds/float64(b.N), "cpu-s")

	const named = "{{with .Module}}{{if not .Main}}{{.Path}}@{{.Version}}{{end}}{{end}}"
	needed, _ := goIn("list", "-deps", "-f", named, "./cmd/...")
	modules := strings.Fields(string(needed))
	slices.Sort(modules)
	modules = slices.Compact(modules)
	listed, _ := goIn(append([]string{"mod", "download", "-json"}, modules...)...)
	bytes := int64(0)
	for in := json.NewDecoder(strings.NewReader(string(listed))); in.More(); {
		var module struct {
			Zip string `json:"Zip"`
		}
		if err := in.Decode(&module); err != nil {
			b.Fatal(err)
		}
		info, err := os.Stat(module.Zip)
		if err != nil {
			b.Fatal(err)
		}
		bytes += info.Size()
	}
	b.ReportMetric(float64(bytes)/1e6, "modules-MB")
}
