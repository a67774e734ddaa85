package docedit

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var testBlock = Block{"# >>> test", "# <<< test"}

var tomlFiles = []string{
	"", "\n", "a = 1", "a = 1\n", "a = 1\n\n", "a = 1 # x\n\n[b]\nc = [ 1,2 ] # y\n# end", "\xef\xbb\xbfa.b = '''\n# >>> test'''\n",
	"# >>> other\n[[l]]\n# <<< other\n",
}

// TestBlock: cutting a block restores every byte, and putting it twice is putting it once.
func TestBlock(t *testing.T) {
	t.Parallel()
	for _, text := range tomlFiles {
		for _, text := range []string{text, crlf(text)} {
			checkBlock(t, []byte(text))
		}
	}
}

func checkBlock(t *testing.T, text []byte) {
	t.Helper()
	d, err := Open(TOML, text)
	if err != nil || testBlock.In(d) {
		return
	}
	once, err := d.PutBlock(testBlock, "[[test-hooks]]\nevent = \"é\"\n")
	if err != nil {
		return
	}
	if got := once.Root.At("test-hooks").Items; len(got) != 1 || got[0].At("event").Text != "é" || !testBlock.In(once) {
		t.Fatalf("not in\n%s", once.Bytes())
	}
	if !bytes.Contains(once.Bytes(), text) {
		t.Fatalf("%s\nbecame\n%s", text, once.Bytes())
	}
	twice, err := once.PutBlock(testBlock, "[[test-hooks]]\nevent = \"é\"\n")
	if err != nil || !bytes.Equal(once.Bytes(), twice.Bytes()) {
		t.Fatalf("twice: %v\n%s", err, cmp.Diff(string(once.Bytes()), string(twice.Bytes())))
	}
	other, err := once.PutBlock(testBlock, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*Doc{once, other} {
		if back, err := d.CutBlock(testBlock); err != nil || !bytes.Equal(back.Bytes(), text) {
			t.Fatalf("cut: %v\n%s", err, cmp.Diff(string(text), string(back.Bytes())))
		}
	}
}

func TestBlockRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a = 1\n# >>> test\n":                         `line 2, column 1: the closing mark "# <<< test" is missing`,
		"# >>> test\n[b]\n# <<< test\n\n# x\na = 1\n": "line 4, column 1: a key below umpire's lines",
	} {
		if _, err := open(t, TOML, text).PutBlock(testBlock, ""); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("put: %v, want %s", err, want)
		}
		if _, err := open(t, TOML, text).CutBlock(testBlock); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("cut: %v, want %s", err, want)
		}
	}
	if _, err := open(t, TOML, "a = 1\n").PutBlock(testBlock, "a = 2\n"); err == nil {
		t.Error("a key is there twice")
	}
}

// FuzzTOML: cutting a block restores any file.
func FuzzTOML(f *testing.F) {
	for _, text := range tomlFiles {
		f.Add([]byte(text))
		f.Add([]byte(crlf(text)))
	}
	f.Add([]byte("a = {b = [1, {c.d = 2}]}\n[[x.y]]\n[x.y.z]\nw = 1979-05-27\n[[x.y]]"))
	f.Fuzz(func(t *testing.T, text []byte) { checkBlock(t, text) })
}
