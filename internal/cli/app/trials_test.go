package app

import (
	"strings"
	"testing"
	"testing/fstest"
)

// TestAllowTrials: the command fits what keeps this machine from making namespaces.
func TestAllowTrials(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ file, text, want string }{
		{"proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n", "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"},
		{"proc/sys/kernel/apparmor_restrict_unprivileged_userns", "0\n", ""},
		{"proc/sys/kernel/unprivileged_userns_clone", "0\n", "unprivileged_userns_clone=1"},
		{"proc/sys/user/max_user_namespaces", "0\n", "max_user_namespaces="},
		{".dockerenv", "", "docker run --security-opt seccomp=unconfined"},
		{"etc/passwd", "", ""},
	} {
		got := AllowTrials(fstest.MapFS{tt.file: &fstest.MapFile{Data: []byte(tt.text)}})
		if !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("%s %q: %q, want %q", tt.file, tt.text, got, tt.want)
		}
	}
}
