package setup

import (
	"slices"
	"strings"
	"testing"
)

// TestProxyRoundTrip: the ports are added to what a file has, and taken back byte for byte.
func TestProxyRoundTrip(t *testing.T) {
	t.Parallel()
	file := Claude.WithProxy("7578")
	for _, settings := range []string{
		commented, "{\n  \"model\": \"opus\"\n}\n", "{}",
		"{\n  \"sandbox\": {\n    \"enabled\": true\n  }\n}\n",
		"{\n  \"sandbox\": {\n    \"enabled\": true,\n    \"network\": {\n      \"allowedDomains\": [\"a.example\"]\n    }\n  }\n}\n",
	} {
		once, err := file.Install([]byte(settings), install)
		if err != nil {
			t.Fatal(err)
		}
		_, ports := ClaudeSandbox(once)
		if len(ports) != 2 || ports[0].Port != "7578" || ports[1].Port != "7578" || ports[0].Line == 0 {
			t.Errorf("%v in\n%s", ports, once)
		}
		twice, err := file.Install(once, install)
		if err != nil || string(twice) != string(once) {
			t.Errorf("installing twice differs: %v\n%s", err, twice)
		}
		back, err := file.Uninstall(once)
		if err != nil || string(back) != settings {
			t.Errorf("%v, got %q, want %q", err, back, settings)
		}
		hooks, err := Claude.Uninstall(once)
		if _, left := ClaudeSandbox(hooks); err != nil || len(left) != 2 {
			t.Errorf("without the proxy, the ports are gone: %v\n%s", err, hooks)
		}
	}
}

// TestOtherProxiesStay: a value of the person is neither replaced nor removed.
func TestOtherProxiesStay(t *testing.T) {
	t.Parallel()
	file := Claude.WithProxy("7578")
	for settings, want := range map[string]string{
		`{"sandbox":{"network":{"httpProxyPort":8080}}}`:                         "column 40: httpProxyPort is 8080 already",
		`{"sandbox":{"network":{"httpProxyPort":7578,"socksProxyPort":"7578"}}}`: "socksProxyPort is 7578 already",
		`{"sandbox":{"network":{"socksProxyPort":1080}}}`:                        "socksProxyPort is 1080 already",
		`{"sandbox":{"network":[]}}`:                                             "network: want an object",
		`{"sandbox":true}`:                                                       "sandbox: want an object",
		`{"sandbox":{},"sandbox":{}}`:                                            "duplicate key",
	} {
		_, err := file.Install([]byte(settings), install)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", settings, err)
		}
	}
	const other = `{"sandbox":{"network":{"httpProxyPort":8080,"socksProxyPort":7578}}}`
	back, err := file.Uninstall([]byte(other))
	if want := `{"sandbox":{"network":{"httpProxyPort":8080}}}`; err != nil || string(back) != want {
		t.Errorf("%v, got %s, want %s", err, back, want)
	}
}

func TestClaudeSandbox(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]bool{
		"": false, "{": false, `{"sandbox":{"enabled":true}}`: true, `{"sandbox":{"enabled":false}}`: false,
		`{"sandbox":{"enabled":"true"}}`: false, `{"sandbox":[]}`: false,
	} {
		if on, ports := ClaudeSandbox([]byte(settings)); on != want || !slices.Equal(ports, nil) {
			t.Errorf("%s: %t, %v", settings, on, ports)
		}
	}
}
