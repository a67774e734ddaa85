package catalogue_test

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/internal/view/languages"
)

const suffixRefused = "你没有权限编辑 %s 类型文件的权限,请注意你的任务权限范围"

// TestError: an error is translated by its format, and each error in it in turn; what it
// quotes is left alone.
func TestError(t *testing.T) {
	t.Parallel()
	zh := languages.Find("zh")
	missing := &fs.PathError{Op: "open", Path: "/p/is missing", Err: syscall.ENOENT}
	for _, tt := range []struct {
		err     error
		chinese string
	}{
		{umpire.ErrNotFound, "没有找到"},
		{errors.New("of a library: 100%d"), "of a library: 100%d"},
		{umpire.Errorf("unknown flag: --%s", "bogus"), "未知的选项：--bogus"},
		{umpire.Errorf("rule %q: want TOOL or TOOL(MATCH)", "a: is missing"),
			`规则 "a: is missing"：应为 TOOL 或 TOOL(MATCH)`},
		{umpire.Errorf("script: %w", missing), "脚本：打开 /p/is missing：没有该文件或目录"},
		{fmt.Errorf("script: %w", missing), "script: 打开 /p/is missing：没有该文件或目录"},
		{errors.Join(umpire.Errorf("line %d: %w", 3, umpire.Errorf("duplicate key %q", "x")),
			errors.New("and: this")),
			"第 3 行：键 \"x\" 重复\nand: this"},
		{umpire.Errorf("session %q is run by %s until %s at least: %w", "s1", "m:1", "noon", umpire.ErrFenced),
			`会话 "s1" 正由 m:1 运行，至少到 noon：另一个进程已接管此会话`},
		{&umpire.ResolvedError{Standing: umpire.Standing{Choice: "deny"}}, "已有回答：deny"},
	} {
		if got := zh.Error(tt.err); got != tt.chinese {
			t.Errorf("%v is\n%q, want\n%q", tt.err, got, tt.chinese)
		}
		if got, said := catalogue.English.Error(tt.err),
			catalogue.English.Text(umpire.PhraseOf(tt.err)); got != tt.err.Error() || said != got {
			t.Errorf("%v is %q and %q in English", tt.err, got, said)
		}
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	catalogue.English.Reason(suffixRefused)               // a damaged one, without its argument
	rule := umpire.Say("Denied by rule: %s", "no-policy") // a name stays as it is
	for _, tt := range []struct {
		said             umpire.Phrase
		english, chinese string
	}{
		{"", "", ""},
		{"Tool classified as safe", "Tool classified as safe", "该工具属于安全类"},
		{rule, "Denied by rule: no-policy", "被规则拒绝：no-policy"},
		{umpire.Say("Cannot be judged: %s", rule), "Cannot be judged: Denied by rule: no-policy",
			"无法判定：被规则拒绝：no-policy"},
		{umpire.Say("Tool %q requires approval (%s)", `"W"`, umpire.Phrase("moderate")),
			`Tool "\"W\"" requires approval (moderate)`, `工具 "\"W\"" 需要批准（中等）`},
		{umpire.Say("not parsed: %s", umpire.Phrase("nested too deeply")), "not parsed: nested too deeply",
			"无法解析：嵌套过深"},
		{umpire.Say("%s; %s", "x", umpire.Verbatim("100%s")), "x; 100%s", "x；100%s"},
		{umpire.Verbatim("Tool classified as safe"), "Tool classified as safe", "Tool classified as safe"},
		{umpire.Say("of a later version: %s", "x"), "of a later version: x", "of a later version: x"},
		// Older versions stored these.
		{"tool-is-safe", "Tool classified as safe", "该工具属于安全类"},
		{`cannot-be-judged(denied-by-rule("no-policy"))`, "Cannot be judged: Denied by rule: no-policy",
			"无法判定：被规则拒绝：no-policy"},
		{`tool-requires-approval("W",class-moderate)`, `Tool "W" requires approval (moderate)`, `工具 "W" 需要批准（中等）`},
		{umpire.Say("%s; %s", "x", umpire.Phrase("tool-is-safe")), "x; Tool classified as safe", "x；该工具属于安全类"},
		{`denied-by-rule("a","b")`, `denied-by-rule("a","b")`, `denied-by-rule("a","b")`},
		{`of-a-later-version("x")`, `of-a-later-version("x")`, `of-a-later-version("x")`},
	} {
		if got := catalogue.English.Text(tt.said); got != tt.english || catalogue.English.Reason(tt.said) != got {
			t.Errorf("%q is %q, want %q", string(tt.said), got, tt.english)
		}
		if got := languages.Find("zh").Text(tt.said); got != tt.chinese {
			t.Errorf("%q is %q, want %q", string(tt.said), got, tt.chinese)
		}
	}
}
