package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWriteConfigKeepsTheRest: comments, other keys and their order stay.
func TestWriteConfigKeepsTheRest(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		before string
		list   []string
		want   string
	}{
		"nothing":       {"", []string{".md", ".py"}, "agents:\n  main:\n    editableFileSuffixes: [\".md\", \".py\"]\n"},
		"comments only": {"# mine\n", []string{".md"}, "# mine\nagents:\n  main:\n    editableFileSuffixes: [\".md\"]\n"},
		"other keys": {
			"# mine\nmode: ask # always\nagents:\n  # the first\n  main:\n    tools: [Read, 'Bash'] # few\n  reviewer: {tools: []}\nlang: en\n# end\n", []string{".md"},
			"# mine\nmode: ask # always\nagents:\n  # the first\n  main:\n    tools: [Read, 'Bash'] # few\n    editableFileSuffixes: [\".md\"]\n  reviewer: {tools: []}\nlang: en\n# end\n",
		},
		"another value": {
			"agents:\n    main:\n        # which\n        editableFileSuffixes:\n            - .go # these\n            - .md\n        model: x\n", []string{},
			"agents:\n    main:\n        # which\n        editableFileSuffixes: []\n        model: x\n",
		},
		"on one line": {"agents: {main: {tools: [Read], editableFileSuffixes: [.md]}}\n", []string{"x"}, "agents: {main: {tools: [Read], editableFileSuffixes: [\"x\"]}}\n"},
		"an odd layout": {
			"mode:   ask\r\n\r\n\r\nlang: 'en'   # mine\r\nagents:\r\n   main:   # few\r\n      tools: [ Read,Bash ]\r\n\r\n# end", []string{".md"},
			"mode:   ask\r\n\r\n\r\nlang: 'en'   # mine\r\nagents:\r\n   main:   # few\r\n      tools: [ Read,Bash ]\r\n      editableFileSuffixes: [\".md\"]\r\n\r\n# end",
		},
		"an empty agent": {"agents:\n  main:\n", []string{".md"}, "agents:\n  main:\n    editableFileSuffixes: [\".md\"]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "sub", "config.yaml")
			if tt.before != "" {
				if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(tt.before), 0o640); err != nil {
					t.Fatal(err)
				}
			}
			if err := Write(file, []string{"agents", "main", "editableFileSuffixes"}, tt.list); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			info, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			if mode := info.Mode().Perm(); tt.before != "" && mode != 0o640 || tt.before == "" && mode != 0o600 {
				t.Errorf("mode %o", mode)
			}
			if _, err := User(filepath.Dir(file)); err != nil {
				t.Errorf("cannot be read: %v", err)
			}
		})
	}
}

// TestWriteConfigLeavesWhatItCannotRead alone.
func TestWriteConfigLeavesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"agents: [", "- a\n", "agents: 3\n", "agents: {main: [x]}\n", "a: &b {}\nagents: *b\n"} {
		file := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Write(file, []string{"agents", "main", "editableFileSuffixes"}, []string{".md"}); err == nil {
			t.Errorf("%q was written to", text)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != text {
			t.Errorf("%q became %q, %v", text, got, err)
		}
	}
}
