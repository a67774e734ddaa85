package host

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// An event with a name that umpire does not know may decide about a call, in a later release of the host,
// so each host is refused in its own words. The payloads of Antigravity, Copilot and Muse name no event.
func TestUnknownEvents(t *testing.T) {
	t.Parallel()
	nameless := []string{"antigravity", "copilot", "muse"}
	for _, h := range Hosts {
		tried := 0
		for _, payload := range payloadsOf(t, h) {
			if h.own != nil {
				continue
			}
			e, err := h.Read(payload)
			if err != nil || !e.Kind.Decides() {
				continue
			}
			for _, name := range spellings(e.Name) {
				value := regexp.MustCompile(`(:\s*)` + regexp.QuoteMeta(string(encode(e.Name))))
				changed := value.ReplaceAll(payload, append([]byte("${1}"), encode(name)...))
				if bytes.Equal(changed, payload) || h.knows(name) {
					continue
				}
				tried++
				out := answerAlone(t, h, changed, sampleDecisions[0].d)
				if problem := documentedAnswer(h, out); problem != nil || !denies(h, out) {
					t.Errorf("%s at %q: %s: %v", h.Name, name, describeOutput(out), problem)
				}
			}
		}
		if (tried == 0) != slices.Contains(nameless, h.Name) {
			t.Errorf("%s: %d payloads were tried", h.Name, tried)
		}
	}
}

// spellings are names that a person could take for an event's, and one of another event.
func spellings(name string) []string {
	half := len(name) / 2
	all := []string{
		strings.ToUpper(name), strings.ToLower(name), strings.ToUpper(name[:1]) + name[1:], strings.ToLower(name[:1]) + name[1:],
		name + " ", " " + name, name[:half] + " " + name[half:], name + "\u200b", "\u200b" + name, name[:half] + "\u200b" + name[half:],
		name + "\t", name + "\n", name + "s", "beforeTomorrow",
	}
	return slices.DeleteFunc(all, func(spelling string) bool { return spelling == name })
}
