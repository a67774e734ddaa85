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
	// Unread says that the proxy does not look into TLS: the hosts take what strangers send, such as a push with a
	// token of their own, or programs (those of Java) ignore a further authority.
	Unread bool
	// Programs fetch from these hosts, unless their settings name others. It is empty for an unread group.
	Programs []string
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

// GroupsOf returns the names of the groups that only serve files and cover some of the destinations, which are hosts
// and addresses, each with a port or without.
func GroupsOf(destinations []string) (names []string) {
	for i := range groups {
		g := &groups[i]
		covers := func(to string) bool {
			host, _, _ := strings.Cut(to, ":")
			return slices.Contains(g.Hosts, host)
		}
		if !g.Unread && slices.ContainsFunc(destinations, covers) {
			names = append(names, g.Name)
		}
	}
	return names
}

// Groups returns all groups.
func Groups() []Group { return slices.Clone(groups) }

var groups = []Group{
	{
		Name: "npm", Hosts: []string{"registry.npmjs.org", "registry.yarnpkg.com", "nodejs.org"}, Ports: secure,
		Quota: quotaPackages, Why: "packages of npm, pnpm and Yarn, and the headers of Node.js",
		Programs: []string{"npm", "npx", "pnpm", "yarn", "bun"},
	},
	{
		Name: "pypi", Hosts: []string{"pypi.org", "files.pythonhosted.org"}, Ports: secure,
		Quota: quotaPackages, Why: "packages of pip, uv and Poetry",
		Programs: []string{"pip", "pip3", "pipx", "uv", "poetry"},
	},
	{
		Name:  "go",
		Hosts: []string{"proxy.golang.org", "sum.golang.org", "go.dev", "golang.org", "dl.google.com"},
		Ports: secure, Quota: quotaPackages, Why: "modules and toolchains of Go", Programs: []string{"go"},
	},
	{
		Name:  "crates",
		Hosts: []string{"index.crates.io", "static.crates.io", "crates.io", "static.rust-lang.org"},
		Ports: secure, Quota: quotaPackages, Why: "packages of Cargo, and toolchains of Rust",
		Programs: []string{"cargo"},
	},
	{
		Name:  "maven",
		Hosts: []string{"repo.maven.apache.org", "repo1.maven.org", "plugins.gradle.org", "services.gradle.org"},
		Ports: secure, Quota: quotaPackages, Why: "packages of Maven and Gradle", Unread: true,
	},
	{
		Name: "rubygems", Hosts: []string{"rubygems.org", "index.rubygems.org"}, Ports: secure,
		Quota: quotaPackages, Why: "packages of RubyGems and Bundler", Programs: []string{"gem", "bundle"},
	},
	{
		Name: "nuget", Hosts: []string{"api.nuget.org", "www.nuget.org"}, Ports: secure, Quota: quotaPackages,
		Why: "packages of .NET", Programs: []string{"dotnet"},
	},
	{
		Name: "packagist", Hosts: []string{"packagist.org", "repo.packagist.org"}, Ports: secure,
		Quota: quotaPackages, Why: "the index of Composer; its packages lie on other hosts",
	},
	{
		Name: "github", Hosts: []string{
			"github.com", "codeload.github.com", "raw.githubusercontent.com", "objects.githubusercontent.com",
			"release-assets.githubusercontent.com",
		},
		Ports: secure, Quota: quotaPackages, Unread: true,
		Why: "fetching from GitHub over HTTPS; with a token, pushing too",
	},
	{
		Name: "gitlab", Hosts: []string{"gitlab.com"}, Ports: secure, Quota: quotaPackages,
		Why: "fetching from GitLab over HTTPS; with a token, pushing too", Unread: true,
	},
	{
		Name: "debian", Hosts: []string{"deb.debian.org", "security.debian.org", "snapshot.debian.org"}, Ports: both,
		Quota: quotaPackages, Why: "packages of Debian",
	},
	{
		Name: "ubuntu", Hosts: []string{"archive.ubuntu.com", "security.ubuntu.com", "ports.ubuntu.com"}, Ports: both,
		Quota: quotaPackages, Why: "packages of Ubuntu",
	},
	{
		Name: "alpine", Hosts: []string{"dl-cdn.alpinelinux.org"}, Ports: both, Quota: quotaPackages,
		Why: "packages of Alpine Linux",
	},
	{
		Name: "docs", Hosts: []string{
			"developer.mozilla.org", "docs.python.org", "pkg.go.dev", "docs.rs", "doc.rust-lang.org", "man7.org",
			"en.cppreference.com", "www.rfc-editor.org", "docs.npmjs.com",
		},
		Ports: secure, Quota: quotaPages, Why: "pages of documentation",
	},
}

func findGroup(name string) (Group, bool) {
	at := slices.IndexFunc(groups, func(g Group) bool { return g.Name == name })
	if at < 0 {
		return Group{}, false
	}
	return groups[at], true
}

// GroupNames returns the names of all groups in the order of the documentation.
func GroupNames() (names []string) {
	for _, group := range groups {
		names = append(names, group.Name)
	}
	return names
}

// entries returns an entry for each host and port; their common text makes them share the quota.
func (g Group) entries() (all []Entry) {
	for _, host := range g.Hosts {
		for _, port := range g.Ports {
			all = append(all, Entry{
				Text: g.Name, Group: g.Name, Unread: g.Unread, Quota: g.Quota, host: host, port: port,
			})
		}
	}
	return all
}
