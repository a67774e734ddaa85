package app

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
)

// A Build is the version information of the program.
type Build struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// release is the version of a release, set by the linker. For its own builds, the go command
// knows the version.
var release string

// ThisBuild is the version of the running program.
func ThisBuild() Build {
	v := Build{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v.Version = cmp.Or(release, info.Main.Version, v.Version)
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.time":
			v.Time = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

// String is the version as people read it, on a line.
func (v Build) String() string {
	return fmt.Sprintf("umpire %s %s %s\n", v.Version, v.Go, v.Platform)
}
