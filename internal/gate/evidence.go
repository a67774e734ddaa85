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

// The limits on what is looked at before a call changes files.
const (
	maxEvidenceFiles = 16
	maxEvidenceSize  = 4 << 20
)

// absent stands for a file that is not there.
const absent = "absent"

// snapshot is how the files stand that a call is about to change, as a JSON object
// from path to SHA-256. After a crash it tells what became of them.
func snapshot(d *umpire.Decision) json.RawMessage {
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
	return data(before)
}

// fingerprint is a file's SHA-256, or absent; "" for what is no file of a
// sensible size.
func fingerprint(path string) string {
	info, err := os.Lstat(path)
	if os.IsNotExist(err) {
		return absent
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

// compare says in words how files changed since a snapshot.
func compare(before json.RawMessage) string {
	was := map[string]string{}
	if len(before) == 0 || json.Unmarshal(before, &was) != nil {
		return "no evidence was kept of how things stood before"
	}
	var parts []string
	for _, path := range slices.Sorted(maps.Keys(was)) {
		parts = append(parts, fmt.Sprintf("%q %s", path, change(was[path], fingerprint(path))))
	}
	return strings.Join(parts, "; ")
}

func change(was, is string) string {
	switch {
	case is == was:
		return "is as it was before"
	case was == absent:
		return "is there now and was not before"
	case is == absent:
		return "is gone"
	}
	return "has changed"
}
