package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// benchFiles is how many files the project has in which BenchmarkTry tries a command.
const benchFiles = 10_000

// BenchmarkTry starts `umpire try -- true` as a person does, from exec to exit, in turns with a plain start
// and one in bubblewrap. It reports medians, the page faults of all processes, which are steadier, and the
// deciding figures: the multiple of bubblewrap's time, and the time beyond a plain start.
func BenchmarkTry(b *testing.B) {
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		b.Skip("no bubblewrap to compare with")
	}
	dir, home := b.TempDir(), b.TempDir()
	install(b, dir, "umpire", "../../cmd/umpire")
	umpire := filepath.Join(dir, "umpire")
	fillProject(b, home, benchFiles)
	faults := map[string][]time.Duration{}
	start := func(name string, args ...string) benchWay {
		run := func() time.Duration {
			took, used := startIn(b, home, args...)
			faults[name] = append(faults[name], time.Duration(used.Minflt))
			return took
		}
		run() // the first trial in a project looks into all of its folders
		return benchWay{name: name, run: run}
	}
	ways := []benchWay{
		start("plain", "true"),
		start("bwrap", bwrap, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-all", "true"),
		start("version", umpire, "--version"),
		start("try", umpire, "try", "--discard", "--", "true"),
	}
	for b.Loop() {
		for i := range ways {
			ways[i].took = append(ways[i].took, ways[i].run())
		}
	}
	for _, way := range ways {
		b.ReportMetric(float64(median(way.took))/float64(time.Millisecond), way.name+"-ms")
		b.ReportMetric(float64(median(faults[way.name])), way.name+"-faults")
	}
	plain, bubble, try := median(ways[0].took), median(ways[1].took), median(ways[3].took)
	b.ReportMetric(float64(try)/float64(bubble), "try/bwrap")
	b.ReportMetric(float64(try-plain)/float64(time.Millisecond), "over-plain-ms")
}

// BenchmarkTryFiles tries a command in projects of several sizes, each in turns with one of a hundred files.
func BenchmarkTryFiles(b *testing.B) {
	dir, small := b.TempDir(), b.TempDir()
	install(b, dir, "umpire", "../../cmd/umpire")
	fillProject(b, small, 100)
	try := func(home string) time.Duration {
		took, _ := startIn(b, home, filepath.Join(dir, "umpire"), "try", "--discard", "--", "true")
		return took
	}
	try(small)
	for _, files := range []int{100, 1000, 10_000, 100_000} {
		b.Run(strconv.Itoa(files), func(b *testing.B) {
			home := b.TempDir()
			fillProject(b, home, files)
			try(home) // the first trial in a project looks into all of its folders
			var few, many []time.Duration
			for b.Loop() {
				few, many = append(few, try(small)), append(many, try(home))
			}
			b.ReportMetric(float64(median(many))/float64(time.Millisecond), "try-ms")
			b.ReportMetric(float64(median(many))/float64(median(few)), "try/100")
		})
	}
}

// fillProject writes files into the project of a home, a hundred in each folder.
func fillProject(b *testing.B, home string, files int) {
	b.Helper()
	project := projectIn(b, home)
	for i := range files {
		folder := filepath.Join(project, fmt.Sprint("d", i/100))
		if err := os.MkdirAll(folder, 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprint("f", i)), []byte("text\n"), 0o644); err != nil {
			b.Fatal(err)
		}
	}
}

// startIn runs a program in the project of a home, and returns how long it took and what it used.
func startIn(b *testing.B, home string, args ...string) (time.Duration, *syscall.Rusage) {
	b.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = projectIn(b, home), []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
	started := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(started)
	if err != nil {
		b.Fatalf("%v: %v\n%s", args, err, out)
	}
	return took, cmd.ProcessState.SysUsage().(*syscall.Rusage)
}
