package tool

import (
	"flag"
	"strings"
	"testing"
)

// swapRounds is how often each tool runs against somebody who swaps what it works on for
// a link: go test ./internal/tool -run Swapped -swap-rounds 100000
var swapRounds = flag.Int("swap-rounds", 120, "rounds of each tool against swaps")

// TestNoToolEscapesWhatIsSwapped: a folder on the way, or the file itself, is a link every
// other moment, which leads to a file that was not decided. No tool shows or changes it.
func TestNoToolEscapesWhatIsSwapped(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]fields{
		"Read":                     {"file_path": "dir/f"},
		"LS":                       {"path": "dir"},
		"Glob":                     {"path": "dir", "pattern": "**"},
		"Grep":                     {"path": "dir", "pattern": ".", "output_mode": "content"},
		"Write":                    {"file_path": "dir/f", "content": "open\n"},
		"Edit":                     {"file_path": "dir/f", "old_string": "open\n", "new_string": "open\n\n"},
		"filesystem-edit":          {"filePath": "dir/f", "startLine": 1, "endLine": 2, "newContent": "open"},
		"filesystem-edit_search":   {"filePath": "dir/f", "searchContent": "en", "replaceContent": "en "},
		"filesystem-edit, several": {"filePath": []fields{{"path": "dir/f", "startLine": 1, "endLine": 1, "newContent": "open"}}},
	} {
		for what, names := range map[string]struct{ real, link, to, secret string }{
			"a folder": {"dir", "link", "other", "other/f"},
			"a file":   {"dir/f", "link", "other/f", "other/f"},
		} {
			t.Run(name+", "+what, func(t *testing.T) {
				tool := strings.TrimSuffix(name, ", several")
				b := newBench(t)
				const secret = "secret open\nsecond\n"
				b.file(names.secret, secret)
				b.file("other/secret-name", "")
				b.file("dir/f", "open\n")
				b.link(b.path(names.to), names.link)
				started := b.start(tool, in)
				stop := b.swap(b.path(names.real), b.path(names.link))
				went := map[string]int{}
				for n := 0; n < *swapRounds || went["ok"] == 0 && n < 100**swapRounds; n++ {
					r := b.Run(t.Context(), started)
					if strings.Contains(r.Output, "secret") {
						t.Errorf("escaped: %q", r.Output)
						break
					}
					preview, err := b.Preview(started.Call, started.Decision.Accesses)
					if err != nil || strings.Contains(preview, "secret") {
						t.Errorf("escaped in the preview: %v %q", err, preview)
						break
					}
					went[string(r.Status)]++
				}
				if n := stop(); n == 0 || went["ok"] == 0 {
					t.Errorf("%d swaps, %v: nothing was tried", n, went)
				}
				if got := b.content(names.secret); got != secret {
					t.Errorf("the secret is %q now", got)
				}
				noTemporaries(t, b.path("other"))
			})
		}
	}
}
