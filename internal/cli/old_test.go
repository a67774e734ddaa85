package cli

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire/internal/cli/app"
)

// TestReadsOldTimeline reads the home of commit 70c4eff2, whose messages are codes: its events, open questions
// and records for undo look as they did, in both languages, and its hash chain holds.
func TestReadsOldTimeline(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	unpack(t, filepath.Join("testdata", "old", "70c4eff2.tar.gz"), home)
	now := time.Date(2026, 11, 27, 18, 30, 0, 0, time.UTC)
	for _, language := range []string{"en", "zh"} {
		var out bytes.Buffer
		for _, line := range []string{
			"timeline --all-projects --events", "timeline verify", "pending --all", "rules grants", "undo --list",
		} {
			s := app.Surroundings{
				Args: strings.Fields(line), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out,
				Dir: filepath.Join(home, "p"), Getenv: func(name string) string {
					return map[string]string{"HOME": home, "UMPIRE_LANG": language, "TZ": "UTC"}[name]
				},
				Now: func() time.Time { return now },
			}
			out.WriteString("$ umpire " + line + "\n")
			if code := runProgram(t.Context(), s); code != app.ExitDone {
				t.Errorf("umpire %s ends with %d", line, code)
			}
			out.WriteString("\n")
		}
		golden := filepath.Join("testdata", "old", "70c4eff2."+language+".txt")
		got := localTime.ReplaceAll(out.Bytes(), []byte("2026-11-27 hh:mm:ss"))
		if *update {
			if err := os.WriteFile(golden, got, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("in %s it reads\n%s", language, got)
		}
	}
}

// localTime matches the time of an event in the test's time zone.
var localTime = regexp.MustCompile(`2026-11-2\d \d\d:\d\d:\d\d`)

// unpack writes the files of a tar.gz file to a folder.
func unpack(t *testing.T, path, to string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for files := tar.NewReader(unzipped); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(to, filepath.FromSlash(header.Name))
		if header.Typeflag == tar.TypeDir {
			err = os.Mkdir(name, 0o700)
		} else if data, err = io.ReadAll(files); err == nil {
			err = os.WriteFile(name, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
