package view

import (
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/internal/view/languages"
)

var chineseText = languages.Find("zh")

func TestReason(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		said             umpire.Phrase
		english, chinese string
	}{
		{"", "", ""},
		{"deletes files for good", "deletes files for good", "永久删除文件"},
		{
			umpire.Say("你没有权限编辑 %s 类型文件的权限,请注意你的任务权限范围", ".rs"),
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
