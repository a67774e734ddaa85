package gate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/manifest"
)

// An approval of `bash deploy.sh` is for what the script says, so the card shows it and
// the answer is bound to its digest: a script that was rewritten since asks again.

// Limits on what is kept of the code that a call runs.
const (
	maxCodeFiles    = 64
	maxCodeFile     = 64 << 20 // beyond, size and time stand for the contents
	maxCodeText     = 16 << 10 // of one file on a card
	maxCodeTextsAll = 64 << 10 // of all of them
	maskMargin      = 4 << 10  // read beyond, so that a secret at the end is whole
)

// unread is the digest of a file that is not a regular one of a sensible size.
const unread = "unread"

// codeFiles reads the files whose code a call runs. A file that is not there is left
// out: one that appears later is a change as well.
func (sec secrets) codeFiles(d *umpire.Decision) []umpire.CodeFile {
	var found []umpire.CodeFile
	left, secret := maxCodeTextsAll, secretPaths(d)
	paths := codePaths(d)
	for at := 0; at < len(paths) && at < maxCodeFiles; at++ {
		path := paths[at]
		f, text, ok := readCode(path)
		if !ok {
			continue
		}
		for _, included := range manifest.Includes(path, text) {
			if !slices.Contains(paths, included) {
				paths = append(paths, included)
			}
		}
		if slices.Contains(secret, path) {
			text = nil
		}
		// Masked before it is cut: half a secret looks like none.
		masked := sec.maskText(strings.ToValidUTF8(string(text), "\uFFFD"))
		f.Text = files.ClipTo(masked, min(maxCodeText, left), "")
		f.Cut = int64(len(text)) < f.Size || len(f.Text) < len(masked)
		left -= len(f.Text)
		found = append(found, f)
	}
	return found
}

// codePaths are the files that a call runs, each once, and those that say what it does.
// Where a program runs code that is not known, such as what comes through a pipe, it may
// be in any file that the call reads. Where what it does cannot be taken back, what it
// reads is what it carries out or sends: the file of `psql -f`, of `kubectl apply -f`.
func codePaths(d *umpire.Decision) []string {
	var paths []string
	inDoubt, parts := false, map[int]bool{}
	add := func(path string) {
		if strings.HasPrefix(path, "/dev/fd/") {
			inDoubt = true // it is what another command of the line prints
			return
		}
		if filepath.IsAbs(path) && !slices.Contains(paths, path) && len(paths) < maxCodeFiles {
			paths = append(paths, path)
		}
	}
	for i := range d.Accesses {
		a := &d.Accesses[i]
		if a.Kind == umpire.KindExec {
			inDoubt = inDoubt || a.Doubt != ""
			parts[a.Part] = parts[a.Part] || a.Risk.AtLeast(umpire.Medium) && a.Consequence.AtLeast(umpire.Outward)
		}
		// What is written is not known, as of `patch`: it is what the file read says.
		parts[a.Part] = parts[a.Part] || a.Kind == umpire.KindWrite && a.Tree
		for _, path := range a.CodeFiles {
			add(filepath.Clean(path))
		}
	}
	for i := range d.Accesses {
		a := &d.Accesses[i]
		if a.Kind == umpire.KindRead && (inDoubt || parts[a.Part]) && a.Resolved != "" && !a.Glob && !a.Tree &&
			!a.Names {
			add(a.Resolved)
		}
	}
	return paths
}

// secretPaths are the files that hold secrets, which no card shows.
func secretPaths(d *umpire.Decision) []string {
	var paths []string
	for _, r := range d.Reasons {
		if r.Code == umpire.CodeSecret && r.Access >= 0 && r.Access < len(d.Accesses) {
			a := &d.Accesses[r.Access]
			paths = append(paths, filepath.Clean(a.Target), a.Resolved)
		}
	}
	return paths
}

// readCode reads one file through links, without waiting for a pipe that nobody writes.
// The text is its beginning; a file with NUL bytes has none.
func readCode(path string) (f umpire.CodeFile, text []byte, found bool) {
	f = umpire.CodeFile{Path: path, Digest: unread}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if os.IsNotExist(err) {
		return f, nil, false
	}
	if err != nil {
		return f, nil, true
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return f, nil, true
	}
	f.Size = info.Size()
	if f.Size > maxCodeFile {
		f.Digest = fmt.Sprintf("%s %d %d", unread, f.Size, info.ModTime().UnixNano())
		return f, nil, true
	}
	sum, head := sha256.New(), &bytes.Buffer{}
	read, err := io.Copy(io.MultiWriter(sum, &limitedWriter{to: head, left: maxCodeText + maskMargin}),
		io.LimitReader(file, maxCodeFile+1))
	if err != nil || read > maxCodeFile {
		return f, nil, true
	}
	f.Digest, f.Size = hex.EncodeToString(sum.Sum(nil)), read
	if bytes.IndexByte(head.Bytes(), 0) >= 0 {
		return f, nil, true
	}
	return f, head.Bytes(), true
}

// A limitedWriter keeps the first bytes that are written to it.
type limitedWriter struct {
	to   *bytes.Buffer
	left int
}

func (w *limitedWriter) Write(p []byte) (int, error) {
	keep := min(len(p), w.left)
	w.left -= keep
	w.to.Write(p[:keep])
	return len(p), nil
}

// changedCode says what became of the code that was shown, or "" when it is the same.
func changedCode(was, is []umpire.CodeFile) string {
	var parts []string
	for _, f := range is {
		at := slices.IndexFunc(was, func(old umpire.CodeFile) bool { return old.Path == f.Path })
		switch {
		case at < 0:
			parts = append(parts, f.Path+" is new")
		case was[at].Digest != f.Digest:
			parts = append(parts, f.Path+manifest.CountChanges(was[at].Text, f.Text))
		}
	}
	for _, f := range was {
		if !slices.ContainsFunc(is, func(now umpire.CodeFile) bool { return now.Path == f.Path }) {
			parts = append(parts, f.Path+" is gone")
		}
	}
	return strings.Join(parts, "; ")
}
