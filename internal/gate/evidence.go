package gate

// The evidence of an approval is the files behind it: the code that a call runs and the files that it changes. A card
// shows the code and is bound to its digests, and after a crash the fingerprints tell whether an interrupted call
// changed anything.

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/judge"
	"github.com/umpirehq/umpire/internal/store"
)

// Limits on the code that a card shows.
const (
	maxCodeFiles    = 64
	maxCodeFile     = 64 << 20 // size and time stand for the contents of a larger file
	maxCodeText     = 16 << 10 // bytes of one file on a card
	maxCodeTextsAll = 64 << 10 // bytes of all files on a card
	maskMargin      = 4 << 10  // read past the cut, to mask a secret that the cut would halve
)

// unreadDigest is the digest of a file that is irregular, unreadable or too large.
const unreadDigest = "unread"

// readCode returns the files whose code a call runs, with their texts masked by mask. A missing file is left
// out: if it appears later, that is a change too.
func readCode(d *umpire.Decision, mask func(string) string) []umpire.CodeFile {
	var found []umpire.CodeFile
	left, secret := maxCodeTextsAll, listSecretFiles(d)
	paths := listCode(d)
	for at := 0; at < len(paths) && at < maxCodeFiles; at++ {
		path := paths[at]
		f, text, ok := readCodeFile(path)
		if !ok {
			continue
		}
		for _, included := range judge.MakefileIncludes(path, text) {
			if !slices.Contains(paths, included) {
				paths = append(paths, included)
			}
		}
		if slices.Contains(secret, path) {
			text = nil
		}
		// Mask before cutting: half a secret would not be recognized.
		masked := mask(strings.ToValidUTF8(string(text), "\uFFFD"))
		f.Text = files.ClipTo(masked, min(maxCodeText, left), "")
		f.Cut = int64(len(text)) < f.Size || len(f.Text) < len(masked)
		left -= len(f.Text)
		found = append(found, f)
	}
	return found
}

// listCode lists the files that a call runs, and those that determine its effect, each once. Unknown code, such
// as a script that arrives through a pipe, may be in any file that the call reads. The input of an irreversible
// command determines its effect: the file of `psql -f` or `kubectl apply -f`.
func listCode(d *umpire.Decision) []string {
	var paths []string
	inDoubt, parts := false, map[int]bool{}
	add := func(path string) {
		if strings.HasPrefix(path, "/dev/fd/") {
			inDoubt = true // the output of another command of the line
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
		// The input determines which files are written, as for `patch`.
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

// listSecretFiles lists the files with secrets. No card shows their text.
func listSecretFiles(d *umpire.Decision) []string {
	var paths []string
	for _, r := range d.Reasons {
		if r.Code == umpire.CodeSecret && r.Access >= 0 && r.Access < len(d.Accesses) {
			a := &d.Accesses[r.Access]
			paths = append(paths, filepath.Clean(a.Target), a.Resolved)
		}
	}
	return paths
}

// readCodeFile reads one file through links, and never blocks on a pipe. text is the beginning of the file, nil if
// the file has NUL bytes.
func readCodeFile(path string) (f umpire.CodeFile, text []byte, found bool) {
	f = umpire.CodeFile{Path: path, Digest: unreadDigest}
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
		f.Digest = fmt.Sprintf("%s %d %d", unreadDigest, f.Size, info.ModTime().UnixNano())
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

// A limitedWriter keeps the first left bytes written to it.
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

// describeCodeChange says how code changed since it was shown, or returns "" if it is the same.
func describeCodeChange(was, is []umpire.CodeFile) string {
	var parts []string
	for _, f := range is {
		at := slices.IndexFunc(was, func(old umpire.CodeFile) bool { return old.Path == f.Path })
		switch {
		case at < 0:
			parts = append(parts, f.Path+" is new")
		case was[at].Digest != f.Digest:
			parts = append(parts, f.Path+judge.CountCodeChanges(was[at].Text, f.Text))
		}
	}
	for _, f := range was {
		if !slices.ContainsFunc(is, func(now umpire.CodeFile) bool { return now.Path == f.Path }) {
			parts = append(parts, f.Path+" is gone")
		}
	}
	return strings.Join(parts, "; ")
}

// Limits on the files whose fingerprints an approval keeps.
const (
	maxEvidenceFiles = 16
	maxEvidenceSize  = 4 << 20
)

// absentFingerprint is the fingerprint of a missing file.
const absentFingerprint = "absent"

// fingerprintFiles returns the fingerprints of the files that a call is about to change, as a JSON object by path.
// Without such files it returns nil.
func fingerprintFiles(d *umpire.Decision) json.RawMessage {
	before := map[string]string{}
	for i := range d.Accesses {
		a := &d.Accesses[i]
		if a.Kind != umpire.KindWrite && a.Kind != umpire.KindDelete || a.Resolved == "" || a.Glob ||
			len(before) == maxEvidenceFiles {
			continue
		}
		if sum := fingerprint(a.Resolved); sum != "" {
			before[a.Resolved] = sum
		}
	}
	if len(before) == 0 {
		return nil
	}
	text, err := json.Marshal(before)
	if err != nil {
		panic(fmt.Sprintf("fingerprints: %v", err)) // a map of strings
	}
	return text
}

// fingerprint returns a file's SHA-256, or a fixed word if the file is missing. It returns "" for a large or
// irregular file.
func fingerprint(path string) string {
	info, err := os.Lstat(path)
	if os.IsNotExist(err) {
		return absentFingerprint
	}
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	text, err := files.ReadSmall(path, maxEvidenceSize)
	if err != nil {
		return ""
	}
	return store.DigestOf(string(text))
}

// compareFingerprints describes how the files changed since Snapshot.
func compareFingerprints(before json.RawMessage) string {
	was := map[string]string{}
	if len(before) == 0 || json.Unmarshal(before, &was) != nil {
		return "no evidence was kept of how things stood before"
	}
	var parts []string
	for _, path := range slices.Sorted(maps.Keys(was)) {
		parts = append(parts, fmt.Sprintf("%q %s", path, describeFingerprint(was[path], fingerprint(path))))
	}
	return strings.Join(parts, "; ")
}

func describeFingerprint(was, is string) string {
	switch {
	case is == was:
		return "is as it was before"
	case was == absentFingerprint:
		return "is there now and was not before"
	case is == absentFingerprint:
		return "is gone"
	}
	return "has changed"
}
