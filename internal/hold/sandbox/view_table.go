package sandbox

import "strings"

// A row lists files and folders of a home that a tried command sees, and why it needs them.
type row struct{ paths, why string }

// table lists the visible parts of a home. A folder is visible with all its content, except for secrets.
var table = []row{
	{".nvm .volta .fnm .nodenv .n n .local/share/fnm .local/share/pnpm .npm-global .npm-packages .yarn .bun .deno",
		"node, deno, bun, and the programs that their package managers have installed"},
	{"go sdk .gvm .goenv .local/share/go", "Go, and what go install has built"},
	{".rustup .cargo", "Rust"},
	{".pyenv .local/lib .local/share/uv .local/share/pipx .local/share/virtualenvs .virtualenvs .local/share/hatch " +
		".local/share/pdm .local/share/pypoetry .pixi .rye", "Python, and the environments of its package managers"},
	{"miniconda3 anaconda3 miniforge3 mambaforge miniconda conda .conda micromamba .micromamba", "conda"},
	{".rbenv .rvm .rubies .gem .local/share/gem .bundle .chruby", "Ruby"},
	{".sdkman .jenv .jdks .gradle .m2 .ivy2 .sbt .coursier .jabba .local/share/coursier", "Java, Kotlin and Scala"},
	{".dotnet .nuget .local/share/NuGet", ".NET"},
	{".ghcup .cabal .stack .opam .elan", "Haskell, OCaml and Lean"},
	{".mix .hex .kiex .kerl .asdf .local/share/mise .local/share/rtx .proto .local/share/proto " +
		".local/share/aquaproj-aqua",
		"Elixir, and managers of all kinds of tools"},
	{".phpenv .phpbrew .composer .config/composer perl5 .plenv .perlbrew .luarocks .julia R .local/share/R",
		"PHP, Perl, Lua, Julia and R"},
	{"flutter .pub-cache Android/Sdk .android .swiftly .local/share/swiftly .dart-sdk", "Flutter, Android and Swift"},
	{".foundry .zvm .emsdk emsdk .wasmtime .wasmer .tfenv .tgenv .krew google-cloud-sdk",
		"further compilers and tools"},
	{".nix-profile .local/state/nix .linuxbrew .guix-profile .local/bin .local/opt bin", "programs of this user"},
	{".gitconfig .gitignore .gitignore_global .gitattributes .gitmessage .config/git .hgrc .config/jj .jjconfig.toml",
		"settings of version control"},
	{".profile .bashrc .bash_profile .bash_login .bash_aliases .zshrc .zshenv .zprofile .zlogin .inputrc",
		"what a shell begins with"},
	{".editorconfig .prettierrc .clang-format .clang-tidy .rustfmt.toml .config/rustfmt .config/nextest .config/ruff " +
		".pylintrc .flake8 .rubocop.yml .config/rubocop .eslintrc.json .config/pycodestyle",
		"settings of formatters and checkers"},
	{".tool-versions .nvmrc .node-version .python-version .ruby-version .config/mise .config/go .config/pip .pip " +
		".config/uv .config/yarn .yarnrc .yarnrc.yml .config/pnpm .bunfig.toml .condarc .mambarc .gemrc " +
		".config/pypoetry .config/matplotlib .config/NuGet .mavenrc .config/containers .Rprofile .wgetrc .terminfo",
		"settings of toolchains and package managers"},
}

// empties are folders that programs expect. They exist, with only the visible content inside.
const empties = ".config .local .local/share .local/state .cache"

// A variable is an environment variable for a folder that may be in a home. It is used
// only if the folder has its typical content, so it cannot expose another folder.
type variable struct{ name, holds string }

var variables = []variable{
	{"GOROOT", "bin/go"}, {"GOPATH", "pkg/mod"}, {"CARGO_HOME", "bin/cargo"}, {"CARGO_HOME", "registry"},
	{"RUSTUP_HOME", "toolchains"}, {"NVM_DIR", "nvm.sh"}, {"VOLTA_HOME", "tools"}, {"FNM_DIR", "node-versions"},
	{"PYENV_ROOT", "versions"}, {"RBENV_ROOT", "versions"}, {"NODENV_ROOT", "versions"}, {"ASDF_DATA_DIR", "installs"},
	{"MISE_DATA_DIR", "installs"}, {"JAVA_HOME", "bin/java"}, {"SDKMAN_DIR", "candidates"}, {"DOTNET_ROOT", "dotnet"},
	{"CONDA_PREFIX", "conda-meta"}, {"VIRTUAL_ENV", "pyvenv.cfg"}, {"DENO_INSTALL", "bin/deno"},
	{"BUN_INSTALL", "bin/bun"}, {"ANDROID_HOME", "platform-tools"}, {"GRADLE_HOME", "bin/gradle"},
	{"MAVEN_HOME", "bin/mvn"}, {"OPAMROOT", "config"},
}

// named returns the paths in the table.
func named() (all []string) {
	for _, r := range table {
		all = append(all, strings.Fields(r.paths)...)
	}
	return all
}
