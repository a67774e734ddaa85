package trial

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A fakeVault rotates letters, and treats paths with an s in their name as secrets.
type fakeVault struct{}

func (fakeVault) IsSecret(path string) bool { return strings.Contains(filepath.Base(path), "s") }

func (fakeVault) Seal(label string, plain []byte) ([]byte, error) {
	return append([]byte(label+"\n"), turn(plain)...), nil
}

func (fakeVault) Open(label string, sealed []byte) ([]byte, error) {
	rest, ok := bytes.CutPrefix(sealed, []byte(label+"\n"))
	if !ok {
		return nil, errors.New("it belongs to another place")
	}
	return turn(rest), nil
}

// A brokenVault can open but not seal.
type brokenVault struct{ fakeVault }

func (brokenVault) Seal(string, []byte) ([]byte, error) { return nil, errors.New("the key is gone") }

func turn(data []byte) []byte {
	out := bytes.Clone(data)
	for i := range out {
		out[i] ^= 0x55
	}
	return out
}

// No record has a secret in plain text: neither a call's, nor its undo's, nor that of an
// interrupted undo once it is finished. The secrets can still be restored.
func TestSecretsAreSealed(t *testing.T) {
	t.Parallel()
	l := newPlainLab(t)
	l.write(t, "s.env", "OLD-SECRET")
	l.write(t, "plain", "old text")
	r, err := Record(t.Context(), RecordSpec{
		State: l.state, Roots: []string{l.project}, Vault: fakeVault{}, Call: "c",
		Paths: []string{l.path("s.env"), l.path("plain")},
	})
	must(t, err)
	replaceFile(t, r, l.path("s.env"), "NEW-SECRET")
	replaceFile(t, r, l.path("plain"), "new text")
	_, err = r.Seal(t.Context())
	must(t, err)
	l.wantSealed(t, "after the call")
	if _, err := Undo(t.Context(), UndoSpec{State: l.state}); !errors.Is(err, errNoVault) {
		t.Errorf("without a key: %v", err)
	}
	undone, err := Undo(t.Context(), UndoSpec{State: l.state, Vault: fakeVault{}})
	must(t, err)
	if got := l.read(t, "s.env") + l.read(t, "plain"); got != "OLD-SECRETold text" {
		t.Errorf("it is %q", got)
	}
	l.wantSealed(t, "after the undo")
	if _, err := Undo(t.Context(), UndoSpec{State: l.state, ID: undone.ID, Vault: brokenVault{}}); err == nil {
		t.Error("it sealed without a key")
	}
	l.recoverAll(t, fakeVault{})
	if got := l.read(t, "s.env") + l.read(t, "plain"); got != "NEW-SECRETnew text" {
		t.Errorf("undone again it is %q", got)
	}
	l.wantSealed(t, "after both")
}

func (l *lab) wantSealed(tb testing.TB, when string) {
	tb.Helper()
	must(tb, filepath.WalkDir(filepath.Join(l.state, keptFolder), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte("SECRET")) {
			tb.Errorf("%s a secret lies in %s", when, path)
		}
		return err
	}))
}
