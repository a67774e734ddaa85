package policy

import "testing"

func TestHoldsSystem(t *testing.T) {
	t.Parallel()
	const home = "/work/people/ann"
	for dir, want := range map[string]bool{
		"/": true, "/etc": true, "/usr": true, "/usr/lib": true, "/var/log": true, "/home": true, "/home/bob": true, "/root": true, "/Users": true,
		home: true, "/work": true, "/work/people": true,
		home + "/src": false, "/home/bob/src": false, "/srv/app": false, "/app": false, "/work/people/anna": false, "/tmp/x": false,
	} {
		if got := HoldsSystem(dir, home); got != want {
			t.Errorf("HoldsSystem(%q) is %t", dir, got)
		}
	}
	if !HoldsSystem("/", "") || HoldsSystem("/app", "") {
		t.Error("without a known home the answer is another")
	}
}
