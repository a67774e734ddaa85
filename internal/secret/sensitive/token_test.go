package sensitive

import (
	"strings"
	"testing"
)

func TestFound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"ghp_16C7e42F292c6912E7710c838347Ae178B4a":           true,
		"x=sk-ant-api03-R2D2c3po4LuKeLe1aH4nS0l0ChEwb4cc4&y": true,
		"-----BEGIN OPENSSH PRIVATE KEY-----":                true,
		"-----BEGIN PUBLIC KEY-----":                         false,
		"task-16C7e42F292c6912E7710c838347Ae178B4a":          false, // sk- within a word
		"sk-learn-pipeline-and-its-many-options":             false,
		"npm_config_registry npm_config_userconfig":          false,
		"ghp_ ghp_ ghp_16C7e42F292c6912E7710c838347Ae178B4a": true,
		"key-value-stores-with-a-very-long-name":             false,
		"":                                                   false,
		strings.Repeat("ghp_", 1000):                         false,
		"AKIAIOSFODNN7EXAMPL3":                               true,
	} {
		if got := HasToken(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}
