package secret

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/zricethezav/gitleaks/v8/config"
)

var update = flag.Bool("update", false, "take the rules from the scanner again")

// TestScannerRulesAreCurrent: the file holds the rules of the release that go.mod names.
func TestScannerRulesAreCurrent(t *testing.T) {
	t.Parallel()
	const module = "github.com/zricethezav/gitleaks/v8"
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Version}}\n{{.Dir}}", module).Output()
	if err != nil {
		t.Fatal(err)
	}
	version, dir, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	license, err := os.ReadFile(filepath.Join(dir, "LICENSE"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Rules []scannerRule `toml:"rules"`
	}
	if err := toml.Unmarshal([]byte(config.DefaultConfig), &file); err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	e := json.NewEncoder(&want)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(scannerRuleFile{module + " " + version, string(license), file.Rules}); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("gitleaks.json", want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if !bytes.Equal(want.Bytes(), scannerFile) {
		t.Error("gitleaks.json is not that of the release: go generate ./internal/secret")
	}
}
