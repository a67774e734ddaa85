package lang

import "testing"

func TestReason(t *testing.T) {
	t.Parallel()
	zh := Catalogue{
		"Denied by rule: ": "被规则拒绝:", "Tool ": "工具 ", " requires approval ": " 需要批准", "(moderate)": "(中等)",
		"Cannot be judged: ": "无法判定:", "known": "已知",
	}
	for english, want := range map[string]string{
		"known":                                     "已知",
		"Denied by rule: d1":                        "被规则拒绝:d1",
		"Cannot be judged: Denied by rule: d1":      "无法判定:被规则拒绝:d1",
		`Tool "Write" requires approval (moderate)`: `工具 "Write" 需要批准(中等)`,
		"Critical risk: x":                          "Critical risk: x",
		"nobody translated this":                    "nobody translated this",
	} {
		if got := zh.Reason(english); got != want {
			t.Errorf("%q is %q, want %q", english, got, want)
		}
		if got := Catalogue(nil).Reason(english); got != english {
			t.Errorf("without a catalogue %q is %q", english, got)
		}
	}
}
