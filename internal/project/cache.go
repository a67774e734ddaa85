package project

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/files/gitdir"
)

const (
	// maxCacheFile limits the size of a cache file in bytes.
	maxCacheFile = 1 << 20
	// maxHeads limits the stored heads of a repository. It suffices for its worktrees and
	// for switching between branches.
	maxHeads = 32
	// maxKeptRoots limits the stored roots of a head. A head with more only keeps its id,
	// and its successor needs a full walk.
	maxKeptRoots = 64
	// failureKept is how long a failed walk is not retried.
	failureKept = time.Minute
)

// A memory is the cache's content for one repository.
type memory struct {
	GitDir string   `json:"git_dir"`
	Heads  []walked `json:"heads"` // latest first
}

// A walked head is a commit whose root commits are known, or whose walk failed.
type walked struct {
	Head      string   `json:"head"`
	ProjectID string   `json:"project_id,omitempty"` // the smallest root
	Roots     []string `json:"roots,omitempty"`
	Failed    string   `json:"failed,omitempty"`
	At        int64    `json:"at,omitempty"` // when it failed, Unix seconds
}

// recallMemory reads the cache file of a repository. It returns an empty memory if the
// file is missing, invalid or belongs to another repository.
func recallMemory(folder, common string) memory {
	empty := memory{GitDir: common}
	if folder == "" {
		return empty
	}
	data, err := files.ReadSmall(cacheFile(folder, common), maxCacheFile)
	if err != nil {
		return empty
	}
	var m memory
	if json.Unmarshal(data, &m) != nil || m.GitDir != common || slices.ContainsFunc(m.Heads, walked.broken) {
		return empty
	}
	return m
}

// broken reports whether the entry is invalid.
func (w walked) broken() bool {
	for _, id := range w.Roots {
		if _, err := gitdir.CheckObjectID(id); err != nil {
			return true
		}
	}
	_, headErr := gitdir.CheckObjectID(w.Head)
	_, idErr := gitdir.CheckObjectID(w.ProjectID)
	return headErr != nil || idErr != nil && w.Failed == ""
}

// findHead returns the entry of a head.
func (m *memory) findHead(head string) (walked, bool) {
	for _, w := range m.Heads {
		if w.Head == head && (w.Failed == "" || time.Since(time.Unix(w.At, 0)).Abs() < failureKept) {
			return w, true
		}
	}
	return walked{}, false
}

// latest returns the last head with known roots, or the zero value.
func (m *memory) latest() walked {
	for _, w := range m.Heads {
		if len(w.Roots) > 0 {
			return w
		}
	}
	return walked{}
}

// storeHead writes a new head to the cache. It ignores errors because the cache only
// saves time.
func (m *memory) storeHead(folder string, w walked) {
	if folder == "" {
		return
	}
	if len(w.Roots) > maxKeptRoots {
		w.Roots = nil
	}
	others := slices.DeleteFunc(m.Heads, func(old walked) bool { return old.Head == w.Head })
	m.Heads = append([]walked{w}, others[:min(len(others), maxHeads-1)]...)
	if data, err := json.Marshal(m); err == nil {
		writeAtomically(folder, cacheFile(folder, m.GitDir), data)
	}
}

func cacheFile(folder, common string) string {
	sum := sha256.Sum256([]byte(common))
	return filepath.Join(folder, hex.EncodeToString(sum[:])+".json")
}

// writeAtomically replaces a file atomically; only its owner can read it.
func writeAtomically(folder, name string, data []byte) {
	if os.MkdirAll(folder, 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(folder, ".identity-*") // created with mode 0600
	if err != nil {
		return
	}
	_, err = f.Write(data)
	if closed := f.Close(); err == nil && closed == nil && os.Rename(f.Name(), name) == nil {
		return
	}
	_ = os.Remove(f.Name()) // an incomplete file is useless
}
