package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// packageManagers are the package managers of operating systems. Installed packages run their
// own code, mostly as root.
var packageManagers = []program{
	// asks: brew install x
	{
		names: "brew", risk: umpire.High, consequence: lost, why: changesPackages, style: leading,
		about: "--version -v --help -h --prefix --cellar --cache --repository --config", opts: []option{
			{flags: "-q --quiet -d --debug"},
		},
		check: checkBrewFolder,
		subs: []program{
			// safe: brew list
			{names: "list ls", risk: umpire.Safe, why: listsPackages, opts: []option{
				{flags: "--formula --cask --full-name --versions --multiple --pinned", attached: "--json", does: plain},
				{flags: "-1 -l -t -r --formulae --casks --installed-on-request --installed-as-dependency"},
			}},
			{names: "info abv", risk: umpire.Low, why: asksRegistry, check: registryNames, opts: []option{
				{flags: "--installed --formula --cask --analytics --variations --sizes", values: "--days --category",
					attached: "--json", does: plain},
				{flags: "-v --verbose"},
			}},
			{names: "search", risk: umpire.Low, why: asksRegistry, check: registryNames,
				opts: []option{{flags: "--formula --cask --formulae --casks --desc"}}},
			{
				names: "deps uses leaves outdated desc", each: true, risk: umpire.Low, why: listsPackages,
				check: registryNames, opts: []option{
					{flags: "--tree --installed --formula --cask --recursive --direct --topological --include-build " +
						"--include-optional --installed-on-request", attached: "--json", does: plain},
					{flags: "-v -q -s -r --greedy"},
				},
			},
			// safe: brew cat wget
			{
				names: "cat log options missing formulae casks tap-info", each: true, risk: umpire.Low,
				why: listsPackages, check: registryNames,
				opts: []option{
					{flags: "--formula --cask --installed --compact --oneline -1", values: "-n", does: plain},
				},
			},
			// asks: brew services stop x
			{
				names: "services", risk: umpire.High, consequence: lost, why: "controls services", style: leading,
				subs: []program{
					// safe: brew services list
					{names: "list info", each: true, risk: umpire.Low, why: "lists services",
						opts: []option{{flags: "--all --json"}}},
				},
			},
			// safe: brew --prefix openssl
			// asks: brew --cache -d install x
			{names: "config doctor --prefix --cellar --cache --repository --env commands help", each: true,
				risk: umpire.Low, why: listsPackages, args: "data…", opts: []option{{flags: "--quiet --installed"}}},
		},
	},
	// asks: apt-mark hold x
	{names: "apt-mark", risk: umpire.High, consequence: lost, why: changesPackages, style: leading, subs: []program{
		// safe: apt-mark showmanual
		{names: "showauto showmanual showhold showinstall showremove showpurge", each: true, risk: umpire.Safe,
			why: listsPackages},
	}},
	// asks: apt-file update
	{names: "apt-file", risk: umpire.High, consequence: lost, why: changesPackages, style: leading, subs: []program{
		// safe: apt-file search bin/x
		{names: "search find list show", each: true, risk: umpire.Safe, why: listsPackages,
			opts: []option{{flags: "-x -i -l -F -D --regexp --ignore-case --package-only --fixed-string"}}},
	}},
	// safe: dpkg-deb -c a.deb
	// asks: dpkg-deb -x a.deb out
	// asks: dpkg-deb -c /root/a.deb
	{
		names: "dpkg-deb", risk: umpire.Medium, consequence: reversible, why: "packs or unpacks packages",
		args: "read data…", check: checkPackageFile, about: aboutItself, opts: []option{
			{flags: "-I --info -c --contents -f --field -W --show", why: "prints what a package holds"},
		},
	},
	// asks: apt install x
	{
		names: "apt apt-get", every: checkRemoval, risk: umpire.High, consequence: lost, why: changesPackages,
		style: leading, about: "--version -v --help -h", opts: []option{
			{flags: "-q -y --quiet --yes --assume-yes"},
			{values: "-o --option -c --config-file", does: obeys, why: "obeys another configuration"},
		},
		subs: []program{
			// safe: apt list
			{names: "list search", each: true, risk: umpire.Safe, why: listsPackages, opts: []option{
				{flags: "--installed --upgradable --manual-installed --all-versions --full --names-only"},
				{flags: "-a -q -n"},
			}},
			{names: "show policy depends rdepends", each: true, risk: umpire.Safe, why: listsPackages, opts: []option{
				{flags: "--all-versions --no-all-versions --installed --recurse --no-recommends"}, {flags: "-a -q"},
			}},
			{names: "changelog", risk: umpire.Medium, consequence: reversible,
				why: "downloads a text and shows it in a pager", lax: true},
			{names: "download source", each: true, risk: umpire.High, consequence: reversible,
				why: "downloads a package", lax: true},
		},
	},
	// asks: aptitude install x
	{
		names: "aptitude", every: checkRemoval, risk: umpire.High, consequence: lost, why: changesPackages,
		style: leading, about: "--version --help -h",
		subs: []program{
			// safe: aptitude search x
			{names: "search show versions why why-not", each: true, risk: umpire.Safe,
				why: "asks the lists of packages", opts: []option{{flags: "-q"}}},
		},
	},
	// asks: apt-cache -o x=y show z
	{
		names: "apt-cache", risk: umpire.Medium, consequence: reversible, why: listsPackages, style: leading,
		about: "--version -v --help -h", opts: []option{
			{flags: "-q -n -f -a -i --quiet --names-only --full --all-versions --installed --no-all-versions"},
			{values: "-o --option -c --config-file", does: obeys, why: "obeys another configuration"},
		},
		subs: []program{
			// safe: apt-cache show x
			{
				names: "search show showpkg showsrc policy madison depends rdepends pkgnames stats dump dumpavail " +
					"unmet xvcg dotty",
				each: true, risk: umpire.Safe, why: listsPackages, opts: []option{
					{flags: "--names-only --full --all-versions --no-all-versions --installed --recurse " +
						"--no-recommends --no-suggests --important --generate"},
					{flags: "-q -n -f -a -i"},
				},
			},
		},
	},
	// safe: dpkg -l
	// asks: dpkg -i a.deb
	{names: "dpkg", every: checkRemoval, risk: umpire.Safe, why: listsPackages, check: checkDpkg, opts: []option{
		{flags: "-l -s -L -S -p --list --status --listfiles --search --print-avail --get-selections " +
			"--print-architecture --print-foreign-architectures --audit -C --verify -V --no-pager", why: "lists"},
		{values: "-c --contents -I --info -f --field", does: reads, why: "looks into a package"},
		{flags: "--compare-versions"},
		{flags: "-i --install -r --remove -P --purge --unpack --configure -a --pending --force-all",
			attached: "--force", does: harms, consequence: lost, why: changesPackages},
		{values: "-x --extract -e --control", does: harms, consequence: reversible, why: "unpacks a package"},
	}, about: "--version --help"},
	// safe: dpkg-query -l
	// asks: dpkg-query --surprise
	{names: "dpkg-query", risk: umpire.Safe, why: listsPackages, about: aboutItself, opts: []option{
		{flags: "-l -s -L -S -W -p -c --list --status --listfiles --search --show --print-avail --control-list " +
			"--no-pager"},
		{values: "-f --showformat", does: plain},
	}},
	// safe: rpm --version
	// asks: rpm -i a.rpm
	{
		names: "rpm", every: checkRemoval, risk: umpire.Medium, consequence: reversible, why: "works on packages",
		check: checkRpm, about: "--version", opts: []option{
			{flags: "-q -a -l -i -c -d -p -R -v -h --query --all --list --info --configfiles --docfiles --package " +
				"--requires --provides --changelog --scripts --conflicts --obsoletes --last -f --file", why: "lists"},
			{values: "--qf --queryformat", does: asks, consequence: harmless, why: "expands a macro"},
			{flags: "-U -F -e --install --upgrade --freshen --erase --nodeps --force --import --rebuilddb --initdb",
				does: harms, consequence: lost, why: changesPackages},
			{values: "-E --eval -D --define --undefine --macros --rcfile --load --pipe --root --dbpath", does: harms,
				consequence: lost, why: "runs code"},
		},
	},
	// asks: dnf install x
	{
		names: "dnf yum microdnf zypper tdnf", every: checkRemoval, risk: umpire.High, consequence: lost,
		why: changesPackages, style: leading,
		about: "--version --help -h", opts: []option{{flags: "-q -y -v -C --quiet --assumeyes --cacheonly --verbose"}},
		subs: []program{
			// safe: dnf list --installed
			{
				names: "list search info repolist provides deplist repoquery se if lr", each: true, risk: umpire.Low,
				why: asksRegistry, check: registryNames,
				opts: []option{{flags: "-q -C -v --installed --available --updates --quiet --cacheonly --all"}},
			},
		},
	},
	// asks: apk add x
	{
		names: "apk", every: checkRemoval, risk: umpire.High, consequence: lost, why: changesPackages, style: leading,
		about: "--version -V --help -h", opts: []option{{flags: "-q -v --quiet --verbose"}},
		subs: []program{
			// safe: apk info
			{
				names: "info list search policy version dot stats", each: true, risk: umpire.Safe, why: listsPackages,
				opts: []option{
					{flags: "-I -O -P -u -v -q -a -d -e -L -r -s -R -w -W -x --installed --upgradable --available " +
						"--description --contents --depends --rdepends --size --exact --quiet --verbose"},
				},
			},
		},
	},
	// safe: pacman --version
	// asks: pacman -S x
	{names: "pacman", every: checkRemoval, risk: umpire.High, consequence: lost, why: changesPackages, lax: true,
		check: checkPacman, about: "--version -V --help -h"},
	{names: "yay paru emerge xbps-install xbps-remove", every: checkRemoval, risk: umpire.High, consequence: lost,
		why: changesPackages, lax: true, about: "--version -V --help -h"},
	// asks: snap install x
	{
		names: "snap flatpak port pkg pkgin guix opkg slackpkg swupd choco scoop winget mas eopkg", risk: umpire.High,
		consequence: lost, why: changesPackages, style: leading, about: "--version --help -h",
		subs: []program{
			// safe: snap list
			{
				names: "list ls info find search version remote-ls remotes installed contents deps outdated",
				each:  true, risk: umpire.Low, why: listsPackages, check: registryNames,
				opts: []option{
					{flags: "--all --app --runtime --user --system --installed", values: "--columns", does: plain},
				},
			},
		},
	},
	// safe: nix --version
	{
		names: "nix", risk: umpire.Medium, consequence: lost, why: "evaluates and builds Nix code", style: leading,
		about: "--version --help",
		subs: []program{
			{names: "profile upgrade-nix copy store registry", each: true, risk: umpire.High, consequence: sent,
				why: changesPackages, lax: true},
			// asks: nix run x
			{names: "run shell develop", each: true, risk: umpire.High, consequence: lost,
				why: "downloads and runs programs", lax: true},
		},
	},
	{names: "nix-shell nix-env nix-build nix-instantiate nix-store", risk: umpire.Medium, consequence: lost,
		why: "evaluates and builds Nix code", lax: true, about: "--version"},
}

// Reasons for uses of package managers, as approval cards show them.
const (
	changesPackages = "installs, changes or publishes packages, whose code runs"
	otherIndex      = "--registry --index-url --extra-index-url --index --default-index --find-links"
	fromElsewhere   = "installs packages that a file, a folder, an address or another registry names"
	listsPackages   = "lists packages"
	asksRegistry    = "asks the registry about packages"
)

// checkDpkg makes dpkg ask without a listing option.
func checkDpkg(u *use) {
	if len(u.given) == 0 {
		u.raise(umpire.Medium, "works on packages")
	}
	u.operands = nil
}

// checkRpm lowers the risk of rpm if it is only a query.
func checkRpm(u *use) {
	reads := u.gave("-p", "--package", "-f", "--file")
	for _, operand := range u.operands {
		switch {
		case strings.Contains(operand.text, "://"):
			u.visit(operand, umpire.High, "downloads a package")
		case reads:
			u.touch(umpire.KindRead, operand, accessOf{})
		}
	}
	u.operands = nil
	if u.gave("-i") && !u.gave("-q") {
		u.raise(umpire.High, changesPackages)
	}
	query := len(u.given) > 0 && (u.given[0].name == "-q" || u.given[0].name == "--query")
	if query && u.risk == umpire.Medium && u.spoke == "" && len(u.unknown) == 0 {
		u.become(umpire.Safe, listsPackages)
	}
}

// registryNames judges operands that are sent to a registry. A plain name reveals nothing, but
// a URL or a folder is looked up there, and an unknown word may contain a secret.
func registryNames(u *use) {
	for _, operand := range u.operands {
		if !registryName(operand) {
			u.raise(umpire.Medium, umpire.Say("%s is not the plain name of a package", operand.display()))
		}
	}
}

// fromRegistry judges the packages that are installed: those of a folder or an address are not a registry's.
// A rule for any package covers no option that its table does not list, because it may name another source.
func fromRegistry(u *use) {
	for _, g := range u.strange {
		u.extras = append(u.extras, g.name)
	}
	for _, operand := range u.operands {
		if !registryName(operand) {
			u.raiseTo(umpire.High, lost, fromElsewhere)
		}
	}
}

// registryName reports whether a word is name, @scope/name or either @version.
func registryName(wd word) bool {
	if !wd.known() || wd.text == "" || len(wd.text) > maxPackageName || strings.ContainsAny(wd.text[:1], "./~") {
		return false
	}
	odd := func(r rune) bool { return r < ' ' || strings.ContainsRune(`:\#%?`, r) }
	slashes := strings.Count(wd.text, "/")
	return !strings.ContainsFunc(wd.text, odd) && (slashes == 0 || slashes == 1 && wd.text[0] == '@')
}

// maxPackageName is the maximum length of a package's name and version, too short to carry a
// file.
const maxPackageName = 120

// checkPacman allows queries of installed and known packages.
func checkPacman(u *use) {
	for i, wd := range u.words[1:] {
		query := strings.HasPrefix(wd.text, "-Q") && strings.Trim(wd.text, "-Qqiledmntugsc") == "" ||
			scan.HasField("-Ss -Si -Sl -Sg", wd.text)
		if !wd.known() || i == 0 && !query || i > 0 && strings.HasPrefix(wd.text, "-") {
			return
		}
	}
	if len(u.words) > 1 {
		u.become(umpire.Safe, listsPackages)
	}
}

// checkBrewFolder judges `brew --prefix NAME`, which prints a folder.
func checkBrewFolder(u *use) {
	if len(u.given) == 1 && scan.HasField("--prefix --cellar", u.given[0].name) && len(u.operands) == 1 &&
		registryName(u.operands[0]) {
		u.onlyShows("prints a folder")
	}
}

// checkPackageFile judges dpkg-deb, which with some options only prints.
func checkPackageFile(u *use) {
	if len(u.given) > 0 {
		u.onlyShows("prints what a package holds")
	}
}
