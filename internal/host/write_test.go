package host

import "testing"

// TestWritesOfHosts: each agent's own way to name the one file that it writes is understood.
func TestWritesOfHosts(t *testing.T) {
	t.Parallel()
	writes := map[string]bool{}
	for _, h := range Hosts {
		if h.own != nil {
			continue
		}
		for _, payload := range payloadsOf(t, h) {
			e, err := h.Read(payload)
			if err != nil || e.Kind != BeforeTool {
				continue
			}
			w, ok := WriteOf(&e, "/work/shop")
			if writer := e.Call.Tool == "Write" || e.Call.Tool == "Edit"; ok != writer || ok && w.Path == "" {
				t.Errorf("%s: %s %s: %t, %+v", h.Name, e.ToolName, e.Call.Input, ok, w)
			}
			writes[h.Name] = writes[h.Name] || ok
		}
	}
	for _, name := range []string{"codex", "gemini", "qwen", "copilot", "opencode", "kiro", "windsurf"} {
		if !writes[name] {
			t.Errorf("%s: no payload writes a file", name)
		}
	}
}
