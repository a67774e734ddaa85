package egress

import (
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
)

// A Group is a set of destinations that a person lists by one name. None of its hosts shows requests to the
// strangers whose files it serves, as rented storage does.
type Group struct {
	Name  string
	Hosts []string
	Ports []uint16
	Quota int64 // bytes that may be sent to all hosts together
	Why   umpire.Phrase
}

var (
	secure = []uint16{portHTTPS}
	both   = []uint16{portHTTP, portHTTPS}
)

// The quotas cover the requests of a large installation with a connection for each few packages.
const (
	quotaPackages = 8 << 20
	quotaPages    = 2 << 20
)

var groups = []Group{
	{"npm", []string{"registry.npmjs.org", "registry.yarnpkg.com", "nodejs.org"}, secure, quotaPackages,
		umpire.Say("packages of npm, pnpm and Yarn, and the headers of Node.js")},
	{"pypi", []string{"pypi.org", "files.pythonhosted.org"}, secure, quotaPackages,
		umpire.Say("packages of pip, uv and Poetry")},
	{"go", []string{"proxy.golang.org", "sum.golang.org", "go.dev", "golang.org", "dl.google.com"}, secure,
		quotaPackages, umpire.Say("modules and toolchains of Go")},
	{"crates", []string{"index.crates.io", "static.crates.io", "crates.io", "static.rust-lang.org"}, secure,
		quotaPackages, umpire.Say("packages of Cargo, and toolchains of Rust")},
	{"maven", []string{"repo.maven.apache.org", "repo1.maven.org", "plugins.gradle.org", "services.gradle.org"}, secure,
		quotaPackages, umpire.Say("packages of Maven and Gradle")},
	{"rubygems", []string{"rubygems.org", "index.rubygems.org"}, secure, quotaPackages,
		umpire.Say("packages of RubyGems and Bundler")},
	{"nuget", []string{"api.nuget.org", "www.nuget.org"}, secure, quotaPackages, umpire.Say("packages of .NET")},
	{"packagist", []string{"packagist.org", "repo.packagist.org"}, secure, quotaPackages,
		umpire.Say("the index of Composer; its packages lie on other hosts")},
	{"github", []string{
		"github.com", "codeload.github.com", "raw.githubusercontent.com", "objects.githubusercontent.com",
		"release-assets.githubusercontent.com",
	}, secure, quotaPackages, umpire.Say("fetching from GitHub over HTTPS; with a token, pushing too")},
	{"gitlab", []string{"gitlab.com"}, secure, quotaPackages,
		umpire.Say("fetching from GitLab over HTTPS; with a token, pushing too")},
	{"debian", []string{"deb.debian.org", "security.debian.org", "snapshot.debian.org"}, both, quotaPackages,
		umpire.Say("packages of Debian")},
	{"ubuntu", []string{"archive.ubuntu.com", "security.ubuntu.com", "ports.ubuntu.com"}, both, quotaPackages,
		umpire.Say("packages of Ubuntu")},
	{"alpine", []string{"dl-cdn.alpinelinux.org"}, both, quotaPackages, umpire.Say("packages of Alpine Linux")},
	{"docs", []string{
		"developer.mozilla.org", "docs.python.org", "pkg.go.dev", "docs.rs", "doc.rust-lang.org", "man7.org",
		"en.cppreference.com", "www.rfc-editor.org", "docs.npmjs.com",
	}, secure, quotaPages, umpire.Say("pages of documentation")},
}

// Groups returns all groups in the order of the documentation.
func Groups() []Group { return slices.Clone(groups) }

func findGroup(name string) (Group, bool) {
	at := slices.IndexFunc(groups, func(g Group) bool { return g.Name == name })
	if at < 0 {
		return Group{}, false
	}
	return groups[at], true
}

func groupNames() string {
	var names []string
	for _, group := range groups {
		names = append(names, group.Name)
	}
	return strings.Join(names, ", ")
}

// entries returns an entry for each host and port; their common text makes them share the quota.
func (g Group) entries() (all []Entry) {
	for _, host := range g.Hosts {
		for _, port := range g.Ports {
			all = append(all, Entry{Text: g.Name, Group: g.Name, Quota: g.Quota, host: host, port: port})
		}
	}
	return all
}
