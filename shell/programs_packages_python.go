package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
)

// pythonPackages are the package managers of Python.
var pythonPackages = []program{
	{
		names: "pip pip3 pip2", risk: umpire.High, consequence: lost, why: changesPackages, style: leading,
		about: "--version -V --help -h", opts: []option{
			{flags: "-q --quiet -v --verbose --no-color --no-input --disable-pip-version-check --isolated " +
				"--require-virtualenv --no-python-version-warning", values: "--timeout --retries", does: plain},
			{values: "--python --proxy --cert --client-cert --trusted-host --log --keyring-provider", does: asks,
				consequence: lost, why: "works with other programs or hosts"},
		},
		subs: []program{
			// safe: pip list
			{
				names: "list freeze check", each: true, risk: umpire.Safe, why: listsPackages, args: "none",
				about: aboutItself, also: []*[]option{&pipLooks}, opts: []option{
					{flags: "-l -q -v -u -o -e"},
					{values: "--path -r --requirement", does: reads},
				},
			},
			{names: "show inspect debug help", each: true, risk: umpire.Safe, why: listsPackages,
				about: aboutItself, also: []*[]option{&pipLooks}, opts: []option{{flags: "-f -q -v -l --files"}}},
			{names: "index search", each: true, risk: umpire.Low, why: asksRegistry, check: registryNames,
				about: aboutItself, opts: []option{{flags: "--pre --json", values: "--format", does: plain}}},
			{names: "hash", risk: umpire.Safe, why: "prints checksums of files", args: "read…",
				opts: []option{{values: "-a --algorithm", does: plain}}},
			{
				names: "config", risk: umpire.High, consequence: lost, why: "changes pip's configuration",
				style: leading, opts: []option{
					{flags: "--user --site --global"},
					{values: "--editor", does: runs | harms, consequence: lost, why: "runs an editor"},
				},
				subs: []program{
					{names: "list get debug", each: true, risk: umpire.Safe, why: "prints pip's configuration",
						check: checkPackageConfig},
				},
			},
			{
				names: "cache", risk: umpire.High, consequence: reversible, why: "changes pip's cache", style: leading,
				subs: []program{
					{names: "dir info list", each: true, risk: umpire.Safe, why: "looks at pip's cache",
						opts: []option{{values: "--format", does: plain}}},
				},
			},
			// asks: pip install x
			{
				names: "install download wheel", each: true, risk: umpire.High, consequence: reversible,
				why: changesPackages, lax: true, check: fromRegistry, opts: []option{
					{values: otherIndex + " -i -f", does: harms, consequence: lost, why: fromElsewhere},
					{values: "-r --requirement", does: reads | harms, consequence: lost, why: fromElsewhere},
					{values: "-c --constraint", does: reads},
					{values: "-t --target -d --dest -w --wheel-dir --root --prefix --log", does: writes},
				},
			},
		},
	},
	// asks: pipx run x
	{
		names: "pipx", risk: umpire.High, consequence: lost, why: downloadsRun, style: leading,
		about: "--version --help -h",
		subs: []program{
			// safe: pipx list
			{names: "list environment", each: true, risk: umpire.Safe, why: listsPackages,
				opts: []option{
					{flags: "--short --json --include-injected --skip-maintenance", values: "--value -V", does: plain},
				}},
		},
	},
	// asks: uvx x
	// safe: uvx --version
	{names: "uvx", risk: umpire.High, consequence: lost, why: downloadsRun, style: leading,
		about: "--version -V --help -h"},
	{
		names: "uv", risk: umpire.High, consequence: lost, why: changesPackages, style: leading,
		about: "--version -V --help -h", opts: []option{
			{flags: "-q --quiet -v --verbose --no-progress --offline --no-config", values: "--color", does: plain},
			{values: "--directory --project", does: enters, why: worksInOther},
		},
		subs: []program{
			{names: "pip", risk: umpire.High, consequence: lost, why: changesPackages, style: leading, subs: []program{
				// safe: uv pip list
				{
					names: "list show freeze tree check", each: true, risk: umpire.Safe, why: listsPackages,
					opts: []option{
						{flags: "--outdated --editable --exclude-editable --files --no-dedupe --invert --strict " +
							"--quiet -q", values: "--format --exclude --depth", does: plain},
					},
				},
			}},
			{names: "add remove sync", each: true, risk: umpire.High, consequence: reversible, why: changesPackages,
				lax: true, check: fromRegistry,
				opts: []option{{values: otherIndex, does: harms, consequence: lost, why: fromElsewhere}}},
			{names: "version", risk: umpire.Safe, why: "prints the version", args: "none",
				opts: []option{{flags: "--short", values: "--output-format", does: plain}}},
			// safe: uv run ruff check .
			// asks: uv run --with evil pytest
			// asks: uv run x.py
			// asks: uv run x
			{names: "run", risk: umpire.Safe, why: runsOwn, style: leading, check: checkProjectRun, opts: []option{
				{flags: "--frozen --locked --no-sync --offline --quiet -q --isolated --no-project --active --exact " +
					"--all-extras --no-dev -v --verbose", values: "--extra --group --package", does: plain},
				{values: "--with --with-requirements --with-editable --from --python -p --index --index-url " +
					"--default-index --extra-index-url -w", does: harms, consequence: lost, why: downloadsRun},
				{flags: "-s --script --gui-script", values: "-m --module --env-file", does: asks, consequence: lost,
					why: "runs Python code"},
			}},
			{
				names: "python", risk: umpire.High, consequence: lost, why: "installs versions of Python",
				style: leading,
				subs: []program{
					{names: "list find dir", each: true, risk: umpire.Safe, why: "lists versions of Python",
						check: startsNamed, opts: []option{{flags: "--all-versions --only-installed --offline"}}},
				},
			},
			{names: "cache", risk: umpire.High, consequence: reversible, why: "changes uv's cache", style: leading,
				subs: []program{{names: "dir size", each: true, risk: umpire.Safe, why: "looks at uv's cache"}}},
			// safe: uv tree --frozen --depth 1
			// asks: uv tree --depth 1
			{
				names: "tree", risk: umpire.Medium, consequence: reversible, why: "changes the project",
				check: checkTree, about: aboutItself, opts: []option{
					{flags: "--frozen --locked --offline --no-dedupe --invert --no-dev --only-dev --all-groups " +
						"--universal --outdated --quiet -q --show-sizes",
						values: "--depth -d --package --prune --group --no-group", does: plain},
				},
			},
			{names: "venv lock export build init", each: true, risk: umpire.Medium, consequence: reversible,
				why: "changes the project", lax: true},
			{names: "tool", risk: umpire.High, consequence: lost, why: changesPackages, style: leading, subs: []program{
				{names: "list dir", each: true, risk: umpire.Safe, why: listsPackages,
					opts: []option{{flags: "--show-paths --show-version-specifiers --show-with --bin"}}},
			}},
			{names: "help", risk: umpire.Safe, why: "prints help"},
		},
	},
	{
		names: "poetry pdm pipenv hatch rye", risk: umpire.High, consequence: lost, why: changesPackages,
		style: leading, about: "--version -V --help -h", opts: []option{
			{flags: "-q --quiet -n --no-interaction --no-ansi --ansi -v"},
			{values: "-C --directory -P --project", does: enters, why: worksInOther},
		},
		subs: []program{
			// safe: poetry show
			{
				names: "show list check about graph verify", each: true, risk: umpire.Safe, why: listsPackages,
				about: aboutItself, opts: []option{
					{flags: "--tree --latest --outdated --all --top-level --no-dev --why --json --lock --strict " +
						"--graph", values: "--only --with --without", does: plain},
					{flags: "-t -l -o -a -T -q"},
				},
			},
			// asks: poetry install
			{names: "add install update remove sync", each: true, risk: umpire.High, consequence: reversible,
				why: changesPackages, lax: true},
			{names: "version", risk: umpire.Safe, why: "prints the version", check: checkShownVersion,
				opts: []option{{flags: "-s --short"}}},
			// safe: poetry run pytest -q
			// asks: poetry run ./x
			// asks: poetry run python x.py
			// asks: poetry run pytest -p evil
			{names: "run", risk: umpire.Safe, why: runsOwn, style: leading, check: checkProjectRun},
			{
				names: "env", risk: umpire.Medium, consequence: reversible, why: "works on virtual environments",
				style: leading,
				subs: []program{
					{names: "info list", each: true, risk: umpire.Safe, why: "lists environments",
						opts: []option{{flags: "--path -p --full-path"}}},
				},
			},
			{names: "config", risk: umpire.High, consequence: lost, why: "changes the configuration",
				opts: []option{{flags: "--list"}}, lax: true},
			{names: "lock build shell", each: true, risk: umpire.Medium, consequence: reversible,
				why: "changes the project", lax: true},
		},
	},
	{
		names: "poe", manifests: "pyproject.toml", risk: umpire.Medium, consequence: lost,
		why: "runs a task of the project", style: leading, check: checkPoe,
		about: "--version --help -h", opts: []option{
			{flags: "-q --quiet -v --verbose"}, {values: "-C --directory", does: enters, why: worksInOther},
		},
	},
	// asks: conda install x
	{
		names: "conda mamba micromamba", risk: umpire.High, consequence: lost, why: changesPackages, style: leading,
		about: "--version -V --help -h",
		subs: []program{
			// safe: conda list
			{names: "list info", each: true, risk: umpire.Safe, why: listsPackages, opts: []option{
				{values: "-n --name", does: plain},
				{flags: "--json --envs --explicit --export --revisions --all --system --base"},
				{flags: "-e -a -c -s"}, {values: "-p --prefix", does: reads},
			}},
			{names: "search", risk: umpire.Low, why: asksRegistry, check: registryNames,
				opts: []option{{flags: "--info --json -i"}}},
			{
				names: "env", risk: umpire.High, consequence: reversible, why: changesPackages, style: leading,
				subs: []program{
					{names: "list", risk: umpire.Safe, why: "lists environments", opts: []option{{flags: "--json"}}},
				},
			},
			{
				names: "run", risk: umpire.Medium, consequence: lost, why: "runs a program of an environment",
				style: leading, args: "command", opts: []option{
					{flags: "--no-capture-output --live-stream", values: "-n --name", does: plain},
					{values: "-p --prefix", does: asks, consequence: lost, why: "runs in another environment"},
				},
			},
		},
	},
}

// languagePackages are the package managers of other languages.
var languagePackages = []program{
	// asks: gem install x
	{
		names: "gem", risk: umpire.High, consequence: lost, why: changesPackages, style: leading,
		about: "--version -v --help -h",
		subs: []program{
			// safe: gem list
			{
				names: "list environment env contents dependency which query help", each: true, risk: umpire.Safe,
				why: listsPackages, opts: []option{
					{flags: "--local --all --details --versions --no-versions --installed --exact --quiet " +
						"--no-verbose"},
					{flags: "-l -d -a -i -q"},
				},
			},
			{
				names: "search info outdated specification", each: true, risk: umpire.Low, why: asksRegistry,
				check: registryNames, opts: []option{
					{flags: "--local --remote --all --exact --versions --details --prerelease"},
					{flags: "-l -r -a -e -d"},
				},
			},
		},
	},
	{
		names: "bundle bundler", risk: umpire.High, consequence: lost, why: changesPackages, style: leading,
		about: "--version -v --help -h", opts: []option{{flags: "--no-color --verbose -V"}},
		subs: []program{
			// Listing a bundle runs the project's Gemfile, which is Ruby code.
			// safe: bundle list
			// safe: bundle info rails --path
			{
				names: "list show info check", each: true, risk: umpire.Safe,
				why: "runs the project's Gemfile, and lists its gems", about: "--help -h", opts: []option{
					{flags: "--name-only --paths --path --version --dry-run",
						values: "--only-group --without-group --without --only", does: plain},
					{values: "--gemfile", does: obeys, why: otherRules},
				},
			},
			// asks: bundle outdated
			{names: "outdated platform env viz licenses", each: true, risk: umpire.Medium, consequence: lost,
				why: "runs the project's Gemfile", lax: true},
			// asks: bundle install
			{names: "install update add remove", each: true, risk: umpire.High, consequence: reversible,
				why: changesPackages, lax: true},
			// safe: bundle exec rspec spec/a_spec.rb
			// asks: bundle exec rake
			// asks: bundle exec sh -c ls
			{names: "exec", risk: umpire.Safe, why: runsOwn, style: leading, check: checkProjectRun},
			// safe: bundle help
			{names: "help version", each: true, risk: umpire.Safe, why: "prints help"},
		},
	},
	// safe: composer --version
	{
		names: "composer", risk: umpire.High, consequence: lost, why: changesPackages, style: leading,
		about: "--version -V --help -h", opts: []option{
			{flags: "-q --quiet -n --no-interaction --no-ansi --ansi --no-plugins --no-scripts -v"},
			{values: "-d --working-dir", does: enters, why: worksInOther},
		},
		subs: []program{
			// asks: composer install
			{names: "install update require remove", each: true, risk: umpire.High, consequence: reversible,
				why: changesPackages, lax: true},
			// Every command of composer loads the project's plugins.
			// safe: composer show --tree
			// asks: composer show -l
			{
				names: "show info licenses", each: true, risk: umpire.Safe,
				why: "loads the project's composer plugins, and lists packages", about: "--help -h", opts: []option{
					{flags: "--tree -t --installed -i --direct -D --name-only -N --path -P --platform -p --self -s " +
						"--no-dev --locked --no-ansi -q -n -v"},
					{values: "--format", does: plain},
				},
			},
			// asks: composer outdated
			{names: "outdated why depends why-not prohibits validate diagnose check-platform-reqs suggests fund " +
				"status audit search", each: true, risk: umpire.Medium, consequence: lost,
				why: "runs the project's composer plugins", lax: true},
			{names: "run run-script test dump-autoload dumpautoload exec", each: true, risk: umpire.Medium,
				consequence: lost, why: "runs a script of the project", lax: true},
		},
	},
	{
		names: "opam dub nimble shards luarocks cpan cpanm", risk: umpire.Medium, consequence: lost,
		why: "builds or changes a project", style: leading, about: "--version --help -h",
		subs: []program{
			{names: "install i upgrade update publish upload deps.get deps.update hex.publish archive.install " +
				"local.hex escript.install", each: true, risk: umpire.High, consequence: sent, why: changesPackages,
				lax: true},
		},
	},
	{names: "rebar3 sbt lein", risk: umpire.Medium, consequence: lost,
		why: "builds or changes a project, by code that it names", lax: true},
}

// startsNamed judges a Python given by its path: uv starts it to query its version.
func startsNamed(u *use) {
	for _, operand := range u.operands {
		if operand.open || strings.ContainsAny(operand.text, `/\`) {
			u.raise(umpire.Medium, umpire.Say("starts %s", operand.display()))
		}
	}
}

// pipLooks are the options of pip's listings.
var pipLooks = []option{
	{flags: "--outdated --uptodate --local --user --editable --exclude-editable --include-editable --not-required " +
		"--pre --all --verbose --quiet --disable-pip-version-check --no-color", values: "--format --exclude",
		does: plain},
}
