package hosts

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/host/setup"
	"github.com/umpirehq/umpire/internal/view"
)

// maxSettings bounds the settings files that are read.
const maxSettings = 1 << 20

// A settingsChange is one file before and after.
type settingsChange struct {
	file            setup.Settings
	path            string
	before, after   []byte
	existed, remove bool
}

func (c settingsChange) none() bool {
	return !c.remove && bytes.Equal(c.before, c.after)
}

// readSettings returns a settings file and its file information. Both are nil when there is
// no file. A link is refused: what it leads to may belong to somebody else.
func readSettings(path string) ([]byte, fs.FileInfo, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return nil, nil, umpire.Errorf(
			"%s is a symbolic link: edit its target by hand, or replace the link with a file", path)
	}
	if !info.Mode().IsRegular() {
		return nil, nil, umpire.Errorf("%s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSettings+1))
	if err == nil && len(text) > maxSettings {
		err = umpire.Errorf("%s is larger than %d bytes", path, maxSettings)
	}
	return text, info, err
}

// writeSettings puts the change on disk, in one step, with the mode that the file had.
func (j *initJob) writeSettings(c settingsChange, info fs.FileInfo) error {
	if now, _, err := readSettings(c.path); err != nil || !bytes.Equal(now, c.before) {
		return app.Failed(umpire.Errorf("%s has changed meanwhile: nothing was written", c.path))
	}
	if c.remove {
		if err := os.Remove(c.path); err != nil {
			return app.Failed(err)
		}
		return app.Failed(j.forget(c.path))
	}
	folder, mode := fs.FileMode(0o700), fs.FileMode(0o600)
	if j.scope == "project" {
		folder, mode = 0o755, 0o644
	}
	if j.file.Program {
		mode = 0o755
	}
	if info != nil {
		mode = info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(c.path), folder); err != nil {
		return app.Failed(err)
	}
	if err := j.remember(c); err != nil {
		return app.Failed(err)
	}
	return app.Failed(files.Replace(c.path, c.after, mode))
}

func (j *initJob) done(path string) {
	if j.undo {
		fmt.Fprintf(j.Stderr, "umpire: "+j.Text.Of("%s no longer asks umpire")+"\n", j.host.Title)
		return
	}
	if j.scope == "project" {
		j.addWarning(j.Text.Of(remarkProjectScope))
	}
	fmt.Fprintf(j.Stderr, "umpire: %s %s\n", j.Text.Of("registered in"), view.Visible(path))
	if !j.quiet {
		j.Remark(fmt.Sprintf(j.Text.Of("while a question waits: %s"), j.Text.Text(j.host.Meanwhile())))
		fmt.Fprintln(j.Stderr, view.Joined(j.Text.Of("next"), ": ", "umpire doctor "+j.host.Name))
	}
}

// A memory has the data that undo needs to restore a file byte for byte. Before is
// stored only if removing the hooks would leave another layout.
type memory struct {
	Path    string `json:"path"`
	Existed bool   `json:"existed"`
	Before  []byte `json:"before,omitzero"`
	After   string `json:"after_sha256"`
}

func (j *initJob) memoryPath(path string) string {
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(j.Home(), "state", "init", hex.EncodeToString(sum[:8])+".json")
}

// remember records a first install. At a later install the original text is only known if it
// was recorded.
func (j *initJob) remember(c settingsChange) error {
	if j.undo {
		return j.forget(c.path)
	}
	m := memory{Path: c.path, Existed: c.existed, After: digest(c.after)}
	original, err := c.file.Uninstall(c.before)
	if err != nil {
		return err
	}
	known, ok := j.recall(c.path, c.before)
	switch {
	case ok && known.Before != nil:
		m.Existed, original = known.Existed, known.Before
	case ok:
		m.Existed = known.Existed
	case !bytes.Equal(original, c.before):
		return nil // of an install that is not recorded
	}
	hooks, _ := setup.Find(c.file.Host) // without the proxy, whose port may be another by then
	if back, err := hooks.Uninstall(c.after); err != nil || !bytes.Equal(back, original) {
		m.Before = original
	}
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	file := j.memoryPath(c.path)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return files.Replace(file, text, 0o600)
}

// recall returns the memory of a file that has not changed since umpire wrote it.
func (j *initJob) recall(path string, now []byte) (memory, bool) {
	var m memory
	text, err := os.ReadFile(j.memoryPath(path))
	if err != nil || json.Unmarshal(text, &m) != nil {
		return memory{}, false
	}
	return m, m.Path == path && m.After == digest(now)
}

func (j *initJob) forget(path string) error {
	err := os.Remove(j.memoryPath(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// withoutHooks returns the file without our hooks: its earlier content, if the file has
// not been changed since.
func (j *initJob) withoutHooks(path string, now []byte) (after []byte, gone bool, err error) {
	after, gone, err = j.without(path, now, j.file.Uninstall)
	if err != nil {
		return nil, false, app.Refused("repair the file, then run umpire setup "+j.host.Name+" --undo again",
			"%s: %w", path, err)
	}
	return after, gone, nil
}

// without returns a file without our entries, which remove takes out of it.
func (j *initJob) without(path string, now []byte,
	remove func([]byte) ([]byte, error)) (after []byte, gone bool, err error) {
	if after, err = remove(now); err != nil {
		return nil, false, err
	}
	m, ok := j.recall(path, now)
	switch {
	case ok && !m.Existed:
		return nil, true, nil
	case ok && m.Before != nil:
		return m.Before, false, nil
	case !ok && len(after) == 0 && len(now) > 0:
		return nil, true, nil // it had only our entries
	}
	return after, false, nil
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
