package view

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestReason(t *testing.T) {
	t.Parallel()
	zh := Catalogue{"known": "已知"}
	for english, want := range map[string]string{
		"known":                                     "已知",
		"Denied by rule: d1":                        "被规则拒绝：d1",
		"Denied by rule: known":                     "被规则拒绝：known", // a name stays as it is
		"Cannot be judged: Denied by rule: d1":      "无法判定：被规则拒绝：d1",
		`Tool "Write" requires approval (moderate)`: `工具 "Write" 需要批准（中等）`,
		"deletes files for good":                    "永久删除文件",
		"runs the script lists of the project":      "运行项目的脚本 lists",
		"the option --of of xxd is not known":       "xxd 的选项 --of 是未知的",
		"the option --of of of is not known":        "--of 选项对 of 是未知的",
		"not parsed: nested too deeply":             "无法解析：嵌套过深",
		"deletes files; known; nobody said it":      "删除文件；已知；nobody said it",
		"Critical risk: x":                          "致命风险：x",
		"nobody translated this":                    "nobody translated this",
		"":                                          "",
	} {
		if got := zh.Reason(english); got != want {
			t.Errorf("%q is %q, want %q", english, got, want)
		}
		if got := Catalogue(nil).Reason(english); got != english {
			t.Errorf("without a catalogue %q is %q", english, got)
		}
	}
}

// TestProblem: an error is translated part by part, and what it quotes is left alone.
func TestProblem(t *testing.T) {
	t.Parallel()
	zh := Catalogue{"known": "已知"}
	for english, want := range map[string]string{
		"known":                 "已知",
		`unknown flag: --bogus`: "未知的选项：--bogus",
		`rule "a: is missing": want TOOL or TOOL(MATCH)`:                                              `规则 "a: is missing"：应为 TOOL 或 TOOL(MATCH)`,
		"script: open /p/is missing: no such file or directory":                                       "脚本：打开 /p/is missing：没有该文件或目录",
		"line 3: key \"x\" stands twice\nand: what nobody knows":                                      "第 3 行：键 \"x\" 出现了两次\nand: what nobody knows",
		"session s1 is run by m:1 until noon at least: fenced: another runner has taken this session": "会话 s1 正由 m:1 运行，至少到 noon：另一个进程已接管此会话",
		"the provider does not accept the key: check the variable that holds it (status 401): no":     "服务商不接受该密钥：请检查保存它的变量（状态 401）：no",
	} {
		if got := zh.Problem(english); got != want {
			t.Errorf("%q is\n%q, want\n%q", english, got, want)
		}
		if got := Catalogue(nil).Problem(english); got != english {
			t.Errorf("without a catalogue %q is %q", english, got)
		}
	}
}

var value = regexp.MustCompile(`%[sw]`)

// TestComposedTextsFit: every line is a text with its translation, which takes the same
// values in the same order, and no text is there twice.
func TestComposedTextsFit(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for line := range strings.Lines(shellTexts + reasonTexts + errorTexts) {
		english, other, found := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !found || english == "" || other == "" || strings.Contains(other, "\t") {
			t.Errorf("%q is no text with its translation", line)
		}
		if seen[english] {
			t.Errorf("%q is there twice", english)
		}
		seen[english] = true
		if !slices.Equal(value.FindAllString(english, -1), value.FindAllString(other, -1)) || strings.Count(english, "%") != len(value.FindAllString(english, -1)) {
			t.Errorf("%q takes other values than %q", other, english)
		}
	}
	if len(seen) < 1000 {
		t.Errorf("only %d texts", len(seen))
	}
}
