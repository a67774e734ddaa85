package gate

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/store"
)

// Limits on the files that Snapshot reads.
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
