package umpire_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/umpirehq/umpire"
)

// TargetIn shortens a path only if it lies below the root itself. It shows a path that leaves,
// goes through a link or could be mistaken for another place in full.
func TestTargetIn(t *testing.T) {
	t.Parallel()
	inside := umpire.PlaceInside
	for _, tt := range []struct {
		access umpire.Access
		want   string
	}{
		{umpire.Access{Target: "/p/src/a.go", Resolved: "/p/src/a.go", Place: inside}, "src/a.go"},
		{umpire.Access{Target: "/p", Resolved: "/p", Place: inside}, "."},
		{umpire.Access{Target: "/p/..data", Resolved: "/p/..data", Place: inside}, "..data"},
		{umpire.Access{Target: "/p/src/a.go", Place: inside}, "src/a.go"}, // not resolved
		{umpire.Access{Target: "/p/a.go"}, "/p/a.go"},                     // its place is unknown
		{umpire.Access{Target: "/p/link", Resolved: "/etc/passwd", Place: umpire.PlaceOutside}, "/p/link"},
		{umpire.Access{Target: "/p/link", Resolved: "/p/a.go", Place: inside}, "/p/link"},
		{umpire.Access{Target: "/p/sub/../a.go", Place: inside}, "/p/sub/../a.go"},
		{umpire.Access{Target: "/px/a.go", Place: inside}, "/px/a.go"},
		{umpire.Access{Target: "/added/a.go", Place: inside}, "/added/a.go"},
		{umpire.Access{Target: "/p/~/a.go", Place: inside}, "/p/~/a.go"},
		{umpire.Access{Target: "/p/", Resolved: "/p", Place: inside}, "."},
		{umpire.Access{Target: "/p//dev/null", Resolved: "/p/dev/null", Place: inside}, "dev/null"},
		{umpire.Access{Target: "/p/./a.go", Resolved: "/p/a.go", Place: inside}, "a.go"},
		{umpire.Access{Target: "/p/sub/../~/a.go", Resolved: "/p/~/a.go", Place: inside}, "/p/sub/../~/a.go"},
		{umpire.Access{Target: "/p/-", Resolved: "/p/-", Place: inside}, "/p/-"},
		{umpire.Access{Target: "/p/ /etc/passwd", Resolved: "/p/ /etc/passwd", Place: inside}, "/p/ /etc/passwd"},
		{umpire.Access{Target: "/p/∕etc/passwd", Resolved: "/p/∕etc/passwd", Place: inside}, "/p/∕etc/passwd"},
		{umpire.Access{Target: "/p/$HOME/a.go", Resolved: "/p/$HOME/a.go", Place: inside}, "/p/$HOME/a.go"},
		{umpire.Access{Target: "/p/\xff", Resolved: "/p/\xff", Place: inside}, "/p/\xff"},
		{umpire.Access{Target: "/p/文档.md", Resolved: "/p/文档.md", Place: inside}, "文档.md"},
		{umpire.Access{Target: "example.com"}, "example.com"},
		{umpire.Access{Place: inside}, ""},
	} {
		if got := tt.access.TargetIn("/p"); got != tt.want {
			t.Errorf("%+v is shown as %q, want %q", tt.access, got, tt.want)
		}
		if got := tt.access.TargetIn(""); got != tt.access.Target {
			t.Errorf("without a root %q is shown as %q", tt.access.Target, got)
		}
	}
}

// A client learns where a path leads, although JSON omits an identical Resolved. An unresolved
// path stays unresolved. A path keeps bytes that JSON strings cannot represent.
func TestResolvedInJSON(t *testing.T) {
	t.Parallel()
	places := []umpire.Place{umpire.PlaceUnknown, umpire.PlaceOutside, umpire.PlaceInside, umpire.PlaceHarmless}
	for kind := umpire.KindUnknown; kind <= umpire.KindInvoke; kind++ {
		for _, place := range places {
			for _, resolved := range []string{"/a/b\xff", "/c/d", "/c/\xfe", ""} {
				access := umpire.Access{Kind: kind, Target: "/a/b\xff", Resolved: resolved, Place: place}
				switch isPath := access.Paths(); {
				case isPath != (place != umpire.PlaceUnknown), isPath != (resolved != ""):
					continue // resolving a path sets both, and other accesses are not resolved
				}
				data, err := json.Marshal(access)
				var got umpire.Access
				if err == nil {
					err = json.Unmarshal(data, &got)
				}
				if err != nil || !reflect.DeepEqual(got, access) {
					t.Errorf("%s: got %+v, %v, want %+v", data, got, err, access)
				}
			}
		}
	}
	var masked umpire.Access
	err := json.Unmarshal([]byte(`{"kind":"read","target":"/***\ufffd","target_bytes":"L2Ev/w=="}`), &masked)
	if err != nil || masked.Target != "/***\ufffd" {
		t.Errorf("got %q, %v, want the masked path", masked.Target, err)
	}
	var refused umpire.Access
	if err := json.Unmarshal([]byte(`{"kind":"bite","target":"/a"}`), &refused); err == nil {
		t.Error("an unknown kind is read")
	}
}
