package view

import (
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

func TestDescribeStanding(t *testing.T) {
	t.Parallel()
	approved := umpire.Event{Kind: umpire.EventPermissionApproved, Scope: new(umpire.ScopeSession), Actor: "kim\x1b[2J"}
	cancelled := umpire.Event{Kind: umpire.EventPermissionRejected, Code: umpire.CodeCancelled}
	denied := umpire.Event{Kind: umpire.EventPermissionRejected, Code: umpire.CodeDenied, Reason: umpire.Verbatim("not\nthis")}
	for _, tt := range []struct {
		event            *umpire.Event
		english, chinese string
	}{
		{&approved, `already resolved: approved (session) by kim\x1b[2J`, `已有回答：已批准（会话） 由 kim\x1b[2J`},
		{&cancelled, "already resolved: cancelled", "已有回答：已取消"},
		{&denied, `already resolved: denied: not\nthis`, `已有回答：已拒绝：not\nthis`},
	} {
		for text, want := range map[*catalogue.Language]string{catalogue.English: tt.english, chineseText: tt.chinese} {
			if got := DescribeStanding(StandingOf(tt.event), text); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
	}
}
