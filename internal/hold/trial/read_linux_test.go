package trial

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire/internal/files/sample"
)

// TestEffects checks the listed effects of command lines.
func TestEffects(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ prepare, line, want string }{
		"nothing":           {"echo x >f", "cat f", ""},
		"created":           {"", "mkdir d && echo x >d/f && ln -s d l", "created d\ncreated d/f\ncreated l\n"},
		"changed":           {"echo x >f", "echo y >f", "changed f\n"},
		"appended":          {"echo x >f", "echo y >>f", "changed f\n"},
		"deleted":           {"echo x >f", "rm f", "deleted f\n"},
		"a folder deleted":  {"mkdir -p d/e && echo x >d/e/f && ln -s x d/l", "rm -r d", "deleted d\ndeleted d/e\ndeleted d/e/f\ndeleted d/l\n"},
		"made and deleted":  {"", "mkdir d && echo x >d/f && rm -r d", ""},
		"deleted and made":  {"echo x >f", "cp -p f /tmp/f && rm f && cp -p /tmp/f f", ""},
		"a folder replaced": {"mkdir d && echo x >d/f && echo y >d/g", "rm -r d && mkdir d && echo z >d/f", "changed d/f\ndeleted d/g\n"},
		"deep in one":       {"mkdir -p d/e && echo x >d/e/f && echo x >d/e/g", "rm -r d && mkdir -p d/e && echo z >d/e/f", "changed d/e/f\ndeleted d/e/g\n"},
		"moved":             {"echo x >f && mkdir d", "mv f d/g", "moved d/g from f\n"},
		"moved and changed": {"echo x >f", "mv f g && echo y >>g", "deleted f\ncreated g\n"},
		"copied, no move":   {"echo x >f", "cp f g", "created g\n"},
		"empty, no move":    {": >f", "mv f g", "deleted f\ncreated g\n"},
		"folder moved":      {"mkdir -p a/b && echo x >a/b/f && echo y >a/g", "mv a z", "deleted a\ndeleted a/b\ncreated z\ncreated z/b\nmoved z/b/f from a/b/f\nmoved z/g from a/g\n"},
		"two alike moved":   {"mkdir a && echo x >a/f && echo x >a/g", "mkdir z && mv a/g z/g && mv a/f z/f", "created z\nmoved z/f from a/f\nmoved z/g from a/g\n"},
		"mode":              {"echo x >f && mkdir d", "chmod 700 f && chmod 700 d", "attributes d\nattributes f\n"},
		"mode of the root":  {"", "chmod 700 .", "attributes PROJECT\n"},
		"mode and back":     {"echo x >f", "chmod 600 f && chmod 644 f", ""},
		"time":              {"echo x >f", "touch -d 2001-01-01 f", "attributes f\n"},
		"written the same":  {"echo x >f", "t=$(stat -c %y f); echo x >f; touch -d \"$t\" f", ""},
		"link changed":      {"ln -s a l", "ln -sfn b l", "changed l\n"},
		"link made anew":    {"ln -s a l", "rm l && ln -s a l", ""},
		"file to folder":    {"echo x >f", "rm f && mkdir f && echo y >f/g", "changed f\ncreated f/g\n"},
		"folder to file":    {"mkdir f && echo y >f/g", "rm -r f && echo x >f", "changed f\ndeleted f/g\n"},
		"folder to link":    {"mkdir f && echo y >f/g", "rm -r f && ln -s /etc f", "changed f\ndeleted f/g\n"},
		"hard links":        {"echo x >a", "ln a b && echo y >c && ln c d", "created b same as a\ncreated c\ncreated d same as c\n"},
		"one of two names":  {"echo x >a && ln a b", "echo y >>a", "changed a\n! hard_link a\n"},
		"both names":        {"echo x >a && ln a b", "rm a b", "deleted a\ndeleted b\n"},
		"a name moved":      {"echo x >a && ln a b", "mv a c", "moved c from a\n! hard_link c\n"},
		"pipe":              {"", "mkfifo p", "created p\n! special p\n"},
		"attribute":         {"echo x >f", "python3 -c 'import os; os.setxattr(\"f\", \"user.x\", b\"y\")'", "! extended_attributes f\n"},
		"odd names":         {"", "touch 'a b' \"$(printf 'n\\377')\" \"$(printf 'l\\nm')\"", "created a b\ncreated l\nm\ncreated n\xff\n"},
		"whiteout by hand":  {"echo x >f", "python3 -c 'import os,stat; os.mknod(\"f2\", stat.S_IFCHR|0o600, 0)' 2>/dev/null || true", ""},
		"opaque by hand":    {"mkdir d && echo x >d/f", "python3 -c 'import os; os.setxattr(\"d\", \"user.overlay.opaque\", b\"y\")' && ls d", "! extended_attributes d\n"},
		"redirect by hand":  {"mkdir d e && echo x >d/f", "mkdir d/n; python3 -c 'import os; os.setxattr(\"d/n\", \"user.overlay.redirect\", b\"/e\")'", "created d/n\n! extended_attributes d/n\n"},
		"unreadable made":   {"", "mkdir d && echo x >d/f && chmod 0 d/f d", "created d\ncreated d/f\n"},
		"read-only folder":  {"mkdir d && echo x >d/f && chmod 555 d", "chmod 755 d && echo y >d/f && chmod 555 d", "changed d/f\n"},
		"sparse":            {"", "truncate -s 1T big && echo x >>big", "created big\n"},
		"hole or zeros":     {"head -c 200000 /dev/zero >z && truncate -s 200000 h && touch -d @0 h z", "mv h t && cp -p z h && mv t z", ""},
		"tmp and caches":    {"", "echo x >/tmp/f && echo x >/var/tmp/f && mkdir -p ~/.cache || true", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.bare("touch -d 2020-02-02 .")
			b.bare(test.prepare)
			before := snapshot(t, b.root)
			result := b.try(test.line)
			got := b.listing(&result.Effects)
			if got == "attributes "+b.root+"\n" {
				got = "attributes PROJECT\n"
			}
			if got != test.want {
				t.Errorf("%s\n%s(-want +got):\n%s", test.line, result.Output, cmp.Diff(test.want, got))
			}
			again, err := read(t.Context(), result.Layer, limits{})
			if err != nil || again.Digest != result.Effects.Digest {
				t.Errorf("read again: %v, %+v", err, again)
			}
			if diff := cmp.Diff(before, snapshot(t, b.root)); diff != "" {
				t.Errorf("the project is not as it was (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTrialsAsAnotherUser(t *testing.T) {
	t.Parallel()
	sample.OnlyFull(t)
	asNobody(t, "^(TestEffects|TestRun.*|TestRead.*|TestSweep.*|TestRandom.*|TestNothingLeaks|TestEditorSavesWhile.*|TestKilledWhileRunning)$")
}
