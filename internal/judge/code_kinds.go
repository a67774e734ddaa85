package judge

import (
	"path"
	"slices"
	"strings"
)

// A kind is a group of files that name code.
type kind struct {
	// names are the file names, separated by spaces, in lower case: a name, a pattern, or a folder
	// and one of these. Case is ignored because some file systems ignore it.
	names string
	// parts splits the relevant content of a file; nil means all of it.
	parts func(data []byte) map[string][]byte
	why   string
}

// kinds are the files that name code.
var kinds = []kind{
	{"package.json", packageParts, "scripts, hooks and tool settings"},
	{"package.json5 package.yaml", nil, "pnpm reads its scripts there as well"},
	{".npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .pnpmfile.mjs pnpm-workspace.yaml bunfig.toml deno.json deno.jsonc " +
		".yarn/releases/* .yarn/plugins/* .pnp.*", nil,
		"package managers start the programs that they name"},
	{".eslintrc* eslint.config.* .prettierrc* prettier.config.* .stylelintrc* stylelint.config.* .lintstagedrc* " +
		"lint-staged.config.* .markdownlint* oxlint*.json .oxlintrc.json biome.json* commitlint.config.* " +
		".commitlintrc* .remarkrc* .textlintrc* knip.json* knip.ts knip.js sgconfig.y*ml",
		nil,
		"configurations of checkers are code, or name plugins"},
	{"jest.config.* jest.setup.* jest-preset.* vitest.config.* vitest.workspace.* vitest.setup.* vite.config.* " +
		".mocharc* karma.conf* playwright.config.* cypress.config.* ava.config.* .nycrc* nyc.config.* .c8rc* .taprc " +
		"jasmine.json jasmine.*js cucumber.*js cucumber.json cucumber.y*ml wdio.conf* nightwatch.conf* nodemon.json",
		nil,
		"configurations of test runners are code, or name it"},
	{"tsconfig*.json jsconfig.json", nil, "ts-node and compilers with plugins load the modules that they name"},
	{"babel.config.* .babelrc* webpack* rspack.config.* rsbuild.config.* rolldown.config.* tsdown.config.* " +
		"vue.config.* craco.config.* gatsby-config.* gatsby-node.* docusaurus.config.* remix.config.* .eleventy.* " +
		"eleventy.config.* ember-cli-build.* angular.json .parcelrc .storybook/* hardhat.config.* release.config.* " +
		".releaserc* lage.config.* rollup.config.* tsup.config.* .swcrc postcss.config.* tailwind.config.* " +
		"next.config.* nuxt.config.* svelte.config.* astro.config.* metro.config.* esbuild.config.* gulpfile* " +
		"gruntfile* nx.json project.json turbo.json lerna.json rush.json",
		nil,
		"configurations of builds are code, or name it"},
	{"makefile gnumakefile bsdmakefile *.mk justfile .justfile *.just taskfile.y*ml makefile.am makefile.toml " +
		"taskfile.dist.y*ml .taskrc.y*ml magefile.go magefiles/*.go dodo.py sconstruct sconscript wscript " +
		"build.ninja earthfile", nil, "recipes are command lines"},
	{"pyproject.toml", pyprojectParts, "tool settings, tasks and build hooks"},
	{"setup.py setup.cfg tox.ini tox.toml noxfile.py fabfile.py pavement.py pytest.ini .pytest.ini pytest.toml " +
		".pytest.toml conftest.py tasks.py mypy.ini .mypy.ini .pylintrc* pylintrc pylintrc.toml .flake8 .coveragerc " +
		".isort.cfg manage.py sitecustomize.py usercustomize.py *.pth pipfile .sqlfluff ansible.cfg pants.toml " +
		"hatch.toml poe_tasks.* poetry.toml pdm.toml .pdm.toml .pdm-plugins uv.toml",
		nil,
		"configurations of Python's tools are code, or name plugins"},
	{"cargo.toml build.rs .cargo/config .cargo/config.toml rust-toolchain rust-toolchain.toml clippy.toml " +
		".clippy.toml .config/nextest.toml tarpaulin.toml .tarpaulin.toml trunk.toml", nil,
		"build scripts, wrappers and toolchains"},
	{"go.mod go.work", goParts, "toolchains, replaced modules and tools"},
	{".golangci.* .custom-gcl.y*ml", nil, "names plugins"},
	{"pom.xml *.gradle *.gradle.kts gradle.properties gradlew gradlew.bat mvnw mvnw.cmd build.xml *.sbt build.sc " +
		"build.mill .sbtopts .jvmopts project/build.properties project/*.scala project.clj deps.edn bb.edn " +
		"shadow-cljs.edn .mvn/* gradle/wrapper/* gradle/gradle-daemon-jvm.properties gradle/libs.versions.toml " +
		"buildsrc/*", nil, "plugins and options of the virtual machine"},
	{"gemfile gemfile.lock gems.rb gems.locked rakefile rakefile.rb guardfile dangerfile thorfile *.rake *.gemspec " +
		".rspec .rspec-local .rubocop.yml .rubocop_todo.yml .simplecov .bundle/config spec_helper.rb " +
		"bin/rails bin/rake bin/rspec bin/rubocop bin/standardrb " +
		"rails_helper.rb test_helper.rb", nil, "Ruby's tools load them as code"},
	{"composer.json artisan bin/console bin/phpunit " +
		"phpunit.xml phpunit.xml.dist phpunit.dist.xml phpcs.xml* .phpcs.xml* phpstan.neon* " +
		"phpstan.dist.neon .php-cs-fixer* psalm.xml psalm.xml.dist rector.php ecs.php infection.json* behat.y*ml " +
		"codeception.y*ml", nil, "scripts, plugins and bootstrap files"},
	{"cmakelists.txt *.cmake cmakepresets.json cmakeuserpresets.json meson.build configure build.zig mix.exs " +
		"config/*.exs test_helper.exs .formatter.exs .credo.exs .iex.exs rebar.config rebar.config.script dune " +
		"dune-project stack.yaml setup.hs .ghci dub.json dub.sdl *.nimble config.nims shard.yml xmake.lua " +
		"premake5.lua .luacheckrc .busted makefile.pl build.pl .proverc .perlcriticrc *.cabal cabal.project " +
		"package.swift pubspec.yaml dart_test.yaml build.yaml analysis_options.yaml build.bazel build module.bazel " +
		"workspace workspace.bazel *.bzl .bazelrc buck .buckconfig",
		nil,
		"rules of a build are code, or name it"},
	{"*.csproj *.fsproj *.vbproj *.sln directory.build.props directory.build.targets global.json nuget.config " +
		".runsettings", nil, "targets of a build run commands"},
	{".pre-commit-config.yaml .pre-commit-hooks.yaml lefthook* .lefthook* .huskyrc* .husky/* .overcommit.yml " +
		".githooks/*", nil, "hooks are command lines"},
	{".tool-versions mise*.toml .mise*.toml .mise/* mise/config*.toml .envrc .nvmrc .node-version .python-version " +
		".ruby-version flake.nix shell.nix default.nix devbox.json", nil, "choose the programs that run"},
}

// kindOf returns the kind of a file by its path with slashes, or nil.
func kindOf(name string) *kind {
	name = strings.ToLower(name)
	for i := range kinds {
		for pattern := range strings.FieldsSeq(kinds[i].names) {
			if ok, _ := path.Match(pattern, tailOf(name, strings.Count(pattern, "/"))); ok {
				return &kinds[i]
			}
		}
	}
	return nil
}

// inKindFolder reports whether a kind lists files in folders of this name.
func inKindFolder(name string) bool {
	for i := range kinds {
		for pattern := range strings.FieldsSeq(kinds[i].names) {
			folders := strings.Split(pattern, "/")
			if slices.Contains(folders[:len(folders)-1], strings.ToLower(name)) {
				return true
			}
		}
	}
	return false
}

// tailOf returns the last segment of a path, with the given number of folders before it.
func tailOf(name string, folders int) string {
	at := len(name)
	for range folders + 1 {
		if at = strings.LastIndexByte(name[:at], '/'); at < 0 {
			return name
		}
	}
	return name[at+1:]
}

// passed are folders that are not searched for manifests: the installed and built files of tools.
// Code that runs in one of them is not trusted.
const passed = "node_modules .git .hg .svn .jj .venv venv .tox .nox .direnv __pycache__ .mypy_cache .pytest_cache " +
	".ruff_cache target dist out .next .nuxt .svelte-kit .turbo .cache .gradle coverage bazel-out _build .terraform"

// isPassed reports whether a folder's name is in passed.
func isPassed(name string) bool {
	for one := range strings.FieldsSeq(passed) {
		if strings.EqualFold(one, name) {
			return true
		}
	}
	return false
}
