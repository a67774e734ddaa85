package view

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

var chineseText = catalogue.Find("zh")

func TestReason(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		said             umpire.Phrase
		english, chinese string
	}{
		{"", "", ""},
		{"deletes-files-for-good", "deletes files for good", "永久删除文件"},
		{
			umpire.Say("suffix-refused", ".rs"),
			"你没有权限编辑 .rs 类型文件的权限,请注意你的任务权限范围 (this agent may not edit files of the type .rs)",
			"你没有权限编辑 .rs 类型文件的权限,请注意你的任务权限范围",
		},
	} {
		if got := catalogue.English.Reason(tt.said); got != tt.english {
			t.Errorf("%q is %q, want %q", tt.said, got, tt.english)
		}
		if got := chineseText.Reason(tt.said); got != tt.chinese {
			t.Errorf("%q is %q, want %q", tt.said, got, tt.chinese)
		}
	}
}

// TestProblem: an error is translated part by part, and what it quotes is left alone.
func TestProblem(t *testing.T) {
	t.Parallel()
	for english, want := range map[string]string{
		"nothing waits":         "没有等待中的调用",
		`unknown flag: --bogus`: "未知的选项：--bogus",
		`rule "a: is missing": want TOOL or TOOL(MATCH)`:                                              `规则 "a: is missing"：应为 TOOL 或 TOOL(MATCH)`,
		"script: open /p/is missing: no such file or directory":                                       "脚本：打开 /p/is missing：没有该文件或目录",
		"line 3: key \"x\" stands twice\nand: what nobody knows":                                      "第 3 行：键 \"x\" 出现了两次\nand: what nobody knows",
		"session s1 is run by m:1 until noon at least: fenced: another runner has taken this session": "会话 s1 正由 m:1 运行，至少到 noon：另一个进程已接管此会话",
		"the provider does not accept the key: check the variable that holds it (status 401): no":     "服务商不接受该密钥：请检查保存它的变量（状态 401）：no",
	} {
		if got := Problem(chineseText, english); got != want {
			t.Errorf("%q is\n%q, want\n%q", english, got, want)
		}
		if got := Problem(catalogue.English, english); got != english {
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
	for line := range strings.Lines(errorTexts) {
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
	if len(seen) < 300 {
		t.Errorf("only %d texts", len(seen))
	}
}
