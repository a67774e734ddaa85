package tool

import (
	"flag"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
)

// swapRounds is the number of rounds in which each tool runs while its target is swapped
// for a link. Many rounds take minutes on a memory file system, and an hour on a disk:
//
//	TMPDIR=/dev/shm go test ./internal/agent/tool -v -run Swapped -timeout 1h -swap-rounds 100000
var swapRounds = flag.Int("swap-rounds", 120, "rounds of each tool against swaps")

// TestNoToolEscapesWhatIsSwapped: a folder on the way, or the file itself, is a link every
// other moment, to a file that was not decided. No tool shows or changes that file.
func TestNoToolEscapesWhatIsSwapped(t *testing.T) {
	t.Parallel()
	for name, in := range map[string][2]fields{
		"Read":  {{"file_path": "dir/f"}},
		"LS":    {{"path": "dir"}},
		"Glob":  {{"path": "dir", "pattern": "**"}},
		"Grep":  {{"path": "dir", "pattern": ".", "output_mode": "content"}},
		"Write": {{"file_path": "dir/f", "content": "open\n"}},
		"Edit": {
			{"file_path": "dir/f", "old_string": "open\n", "new_string": "shut\n"},
			{"file_path": "dir/f", "old_string": "shut\n", "new_string": "open\n"}, // else it would grow
		},
		"filesystem-edit": {{"filePath": "dir/f", "startLine": 1, "endLine": 2, "newContent": "open"}},
		"filesystem-edit_search": {
			{"filePath": "dir/f", "searchContent": "open", "replaceContent": "shut"},
			{"filePath": "dir/f", "searchContent": "shut", "replaceContent": "open"},
		},
		"filesystem-edit, several": {{"filePath": []fields{{"path": "dir/f", "startLine": 1, "endLine": 1, "newContent": "open"}}}},
	} {
		for what, names := range map[string]struct{ real, link, to, secret string }{
			"a folder": {"dir", "link", "other", "other/f"},
			"a file":   {"dir/f", "link", "other/f", "other/f"},
		} {
			t.Run(name+", "+what, func(t *testing.T) {
				tool := strings.TrimSuffix(name, ", several")
				b := newBench(t)
				const secret = "secret open\nshut\n"
				b.file(names.secret, secret)
				b.file("other/secret-name", "")
				b.file("dir/f", "open\n")
				b.link(b.path(names.to), names.link)
				started := []umpire.Started{b.start(tool, in[0])}
				if in[1] != nil {
					started = append(started, b.start(tool, in[1]))
				}
				stop := b.swap(b.path(names.real), b.path(names.link))
				went := map[string]int{}
				for n := 0; n < *swapRounds || went["ok"] == 0 && n < 100**swapRounds; n++ {
					call := started[n%len(started)]
					r := b.Run(t.Context(), call)
					if strings.Contains(r.Output, "secret") {
						t.Errorf("escaped: %q", r.Output)
						break
					}
					preview, err := b.Preview(call.Call, call.Decision.Accesses)
					if err != nil || strings.Contains(preview.Diff, "secret") {
						t.Errorf("escaped in the preview: %v %q", err, preview)
						break
					}
					went[string(r.Status)]++
				}
				n := stop()
				if n == 0 || went["ok"] == 0 {
					t.Errorf("%d swaps, %v: nothing was tried", n, went)
				}
				t.Logf("%d swaps, %v", n, went)
				if got := b.content(names.secret); got != secret {
					t.Errorf("the secret is %q now", got)
				}
				noTemporaries(t, b.path("other"))
			})
		}
	}
}
