package host

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
)

// settingsFiles are the files from which a host reads settings, hooks or servers: in a project, and in a home.
// A host runs every file beside one in a folder of hooks or plugins.
func (h *Host) settingsFiles() (files []string) {
	for start, file := range map[string]string{"": h.Settings.Project, "~/": h.Settings.User} {
		if file == "" {
			continue
		}
		files = append(files, start+file)
		dir, name := path.Split(file)
		if base := strings.ToLower(path.Base(dir)); strings.HasPrefix(base, "hook") || strings.HasPrefix(base, "plugin") {
			files = append(files, start+dir+"another"+path.Ext(name))
		}
	}
	return files
}

// TestSettingsOfHostsAreGuarded walks the table of hosts: a call must not write, unasked, a file that makes a host
// start programs.
func TestSettingsOfHostsAreGuarded(t *testing.T) {
	t.Parallel()
	const root, home = "/work/project", "/home/ann"
	settings := policy.Settings{Mode: umpire.ModeDefault, Autonomy: policy.AutonomyHigh.Autonomy()}
	rules, err := policy.New(nil, policy.Options{Settings: settings, Root: root, Home: home})
	if err != nil {
		t.Fatal(err)
	}
	asks := func(file string, placed umpire.Place) bool {
		a := umpire.Access{
			Kind: umpire.KindWrite, Target: file, Resolved: file, Place: placed, Risk: umpire.Medium, Observed: true,
		}
		d := policy.Decide(rules, policy.Query{
			Call: umpire.Call{Tool: "Write"}, Conditions: policy.Conditions{Mode: umpire.ModeDefault},
			Facts: umpire.Facts{Type: umpire.FileWrite, Accesses: []umpire.Access{a}},
		})
		return d.Verdict == umpire.Ask && slices.ContainsFunc(d.Reasons, func(r umpire.Reason) bool {
			return r.Code == umpire.CodeControlFile
		})
	}
	files := 0
	for _, h := range Hosts {
		for _, file := range h.settingsFiles() {
			files++
			full, placed := path.Join(root, "sub", file), umpire.PlaceInside
			if rest, below := strings.CutPrefix(file, "~/"); below {
				full, placed = path.Join(home, rest), umpire.PlaceOutside
			}
			if !asks(full, placed) {
				t.Errorf("%s: %s is not guarded", h.Name, file)
			}
		}
	}
	if files < 2*len(Hosts) || asks(root+"/sub/main.go", umpire.PlaceInside) {
		t.Errorf("%d files of %d hosts: the test tells nothing", files, len(Hosts))
	}
}
