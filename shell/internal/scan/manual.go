package scan

// A Source states the version and text against which the entries of some programs were checked.
// If it names manuals of several systems, an option is accepted only if it is harmless in all
// of them.
type Source struct {
	Checked string
	Names   string // first names of entries
}

// NothingAccepted is for programs that always ask, except uses that print something about the
// program.
const NothingAccepted = "no version: every use asks, but for what prints about the program itself"

// Sources cover every entry of the tables, which a test ensures. They are used only to describe
// a program.
var Sources = []Source{
	{
		"bash 5.2, its manual and bash itself; zsh 5.9, its manual",
		"echo printf true exit wait shift test pwd cd popd set unset read type jobs eval source exec command trap " +
			"alias unalias bind help history autoload sh which where whereis hash umask ulimit builtin bash dash zsh " +
			"ksh",
	},
	{
		"GNU coreutils 9.1, its manual and the programs; macOS 14 and FreeBSD 14, their manual pages",
		"cat tac nl head tail wc ls stat du df basename dirname realpath md5sum od comm cut paste join sort uniq tr " +
			"shuf seq factor numfmt fold fmt pr expand tsort ptx split csplit rm rmdir unlink shred mv cp ln install " +
			"mkdir touch truncate tee mktemp pathchk mkfifo mknod sync whoami users sleep printenv stty uname date " +
			"env timeout nice nohup stdbuf base64 basenc chmod chown dd chroot readlink b2sum cksum sum unexpand " +
			"dircolors md5 crc32",
	},
	{
		"util-linux 2.38, its manual pages and the programs",
		"more hexdump column colrm rev look setterm hwclock dmesg ionice chrt taskset flock rename logger lslocks " +
			"fuser mount umount wipefs fdisk blkdiscard losetup unshare nsenter setpriv su runuser script " +
			"scriptreplay pm-suspend setsid setarch choom blkid findmnt lscpu last fallocate",
	},
	{"GNU grep 3.8, its manual and the program; macOS 14, its manual page", "grep"},
	{"GNU findutils 4.9, its manual and the programs; macOS 14, their manual pages", "find xargs locate"},
	{"GNU sed 4.9, its manual and the program; macOS 14, its manual page", "sed"},
	{"gawk 5.2 and mawk 1.3.4, their manuals", "awk mawk nawk"},
	{"GNU diffutils 3.8, its manual", "diff sdiff diff3 cmp"},
	{"GNU patch 2.7, its manual", "patch"},
	{"less 590, its manual page", "less"},
	{"file 5.44, its manual page", "file"},
	{"bat 0.24, eza 0.18, lsd 1.1 and tree 2.1, their manuals", "bat eza lsd tree"},
	{"xxd 2022-01-14, its manual page", "xxd"},
	{"GNU binutils 2.40, its manual; LLVM 17, its manual pages", "strings nm strip ar dwarfdump addr2line c++filt"},
	{"ripgrep 14.1, its manual page", "rg"},
	{"ag 2.2 and ack 3.7, their manual pages", "ag ack"},
	{"fd 10.1, its manual page", "fd"},
	{"jq 1.6 and 1.7, their manuals; gojq 0.12; jaq 1.2", "jq"},
	{"yq 4.44 (Go) and 3.4 (Python), their manuals", "yq"},
	{"libxml2 2.9, the manual page of xmllint", "xmllint"},
	{
		"GNU gettext 0.21, glibc 2.36, dos2unix 7.4, athena-jot 9.0: their manual pages",
		"envsubst iconv dos2unix jot getent locale ldd ldconfig ld.so",
	},
	{
		"procps-ng 4.0 and psmisc 23.6, their manual pages; macOS 14, their manual pages",
		"lastlog top pmap tload ps pgrep sysctl watch kill killall renice iostat acpi",
	},
	{"GNU units 2.22, its manual page", "units"},
	{"nvidia-smi 550, lshw B.02, lsof 4.95, their manual pages", "nvidia-smi lshw lsof"},
	{
		"hostname 3.23 and net-tools 2.10, their manual pages; macOS 14, their manual pages",
		"hostname netstat ifconfig route arp",
	},
	{"iproute2 6.1, its manual pages", "ss ip"},
	{
		"systemd 252, its manual pages",
		"shutdown journalctl systemctl loginctl timedatectl systemd-detect-virt systemd-run run0",
	},
	{
		"macOS 14, their manual pages",
		"arch pbpaste pbcopy system_profiler heap defaults launchctl dscl diskutil mdfind mdls ioreg dsmemberutil " +
			"caffeinate afplay",
	},
	{
		"GNU time 1.9, numactl 2.0, hyperfine 1.18, entr 5.5, moreutils 0.67: their manual pages",
		"time numactl hyperfine entr unbuffer sponge ifne chronic",
	},
	{"GNU parallel 20231122, its manual", "parallel sem"},
	{"BusyBox 1.36, its --help", "busybox toybox"},
	{"Python 3.11, its manual and python -m … --help", "python"},
	{"Node.js 20, its manual", "node"},
	{"Deno 1.45, its manual", "deno"},
	{"Ruby 3.2, PHP 8.2 and Perl 5.36, their manual pages", "ruby perl php"},
	{"OpenJDK 17, its manual pages", "java jps javap jar"},
	{"git 2.39 to 2.51, its manual pages and git itself", "git git-add"},
	{"gh 2.50, its manual; glab 1.40, its manual", "gh glab"},
	{"Homebrew 4.3, its manual page", "brew"},
	{"apt 2.6 and dpkg 1.21, their manual pages", "apt apt-cache apt-mark apt-file dpkg dpkg-deb dpkg-query aptitude"},
	{"rpm 4.18, dnf 4.14, apk-tools 2.14, pacman 6.0: their manual pages", "rpm dnf apk pacman"},
	{"snap 2.63, flatpak 1.14 and others: what lists packages, by their manual pages", "snap"},
	{"Nix 2.18, its manual", "nix"},
	{"GNU make 4.3, its manual", "make"},
	{"CMake 3.25, its manual", "cmake"},
	{"cargo 1.79 to 1.95 and rustup 1.27, their books and --help", "cargo rustup rustfmt"},
	{"clang-format 17, its manual", "clang-format"},
	{"GCC 12 and clang 17, their manuals; the others by their --help", "rustc gcc"},
	{
		"iputils 20221126, traceroute 2.1, mtr 0.95, BIND 9.18, whois 5.5: their manual pages",
		"ping traceroute mtr dig nslookup host whois",
	},
	{"OpenBSD netcat 1.219 and nmap 7.93, socat 1.7, tcpdump 4.99: their manual pages", "nmap tcpdump nc socat"},
	{"Docker 28, its reference; podman 4.9, its manual pages", "docker docker-compose"},
	{"containerd 1.7, LXD 5.21 and others: what lists images and machines, by their manuals", "crictl"},
	{"LVM 2.03, e2fsprogs 1.47, efibootmgr 18: their manual pages", "pvs efibootmgr e2fsck pvremove dumpe2fs xfs_info"},
	{"npm 11, its manual and npm itself", "npm npx"},
	{"Yarn 1.22 and 4, pnpm 9, bun 1.1: their manuals", "yarn pnpm bun"},
	{"nvm 0.39, fnm 1.37, volta 2.0, asdf 0.14, mise 2024, pyenv 2.4: their --help", "corepack n"},
	{"pip 23.2, its manual and pip itself", "pip"},
	{"pipx 1.6, uv 0.4, poetry 1.8, conda 24: their manuals", "pipx uvx uv poetry conda"},
	{"RubyGems 3.4, Bundler 2.4, Composer 2.7, their manuals", "gem bundle composer"},
	{"Go 1.22 to 1.26, go help and the source of go", "go gofmt"},
	{"golang.org/x/tools 0.24, staticcheck 2024.1, govulncheck 1.1: their --help", "goimports staticcheck"},
	{"golangci-lint 1.60 and 2.0, its manual", "golangci-lint"},
	{"TypeScript 5.5, ESLint 9, Prettier 3.3: their manuals", "tsc eslint prettier"},
	{
		"ruff 0.6, black 24, isort 5.13, pyright 1.1, mypy 1.11, flake8 7, pylint 3.2: their manuals",
		"ruff black pyright mypy flake8 pylint",
	},
	{
		"ShellCheck 0.9, shfmt 3.8, hadolint 2.12, yamllint 1.35, cloc 2.0, tokei 12, scc 3.3: their manuals",
		"shellcheck shfmt hadolint yamllint markdownlint jsonlint codespell typos tokei scc cloc actionlint",
	},
	{"curl 7.88 to 8.9, its manual page", "curl"},
	{"GNU Wget 1.21 and Wget2 2.1, HTTPie 3.2, aria2 1.37, yt-dlp 2024: their manuals", "wget http aria2c yt-dlp lynx"},
	{"OpenSSH 9.2, its manual pages", "ssh scp sftp ssh-keyscan ssh-keygen ssh-add"},
	{"acl 2.3, attr 2.5, libcap 2.66, e2fsprogs 1.47: their manual pages", "chattr setfacl setcap getfacl"},
	{"rsync 3.2, its manual page", "rsync"},
	{"GNU tar 1.34, its manual and tar itself; bsdtar 3.6, its manual page", "tar"},
	{
		"gzip 1.12, bzip2 1.0, xz 5.4, zstd 1.5, lz4 1.9: their manual pages and the programs",
		"gzip zstdcat zcat zless zdiff pigz bzip2 pbzip2 xz lzip zstd lz4 compress brotli lz4cat bzcat xzcat zgrep " +
			"bzgrep xzgrep zstdgrep",
	},
	{
		"most 5.2, eza's ancestor exa 0.10, colordiff 1.0, difftastic 0.58, rpm2cpio 4.18: their manual pages",
		"most exa colordiff difft rpm2cpio",
	},
	{"Perl's shasum 6.02, BLAKE3 1.5, xxHash 0.8: their manual pages", "shasum b3sum xxhsum"},
	{"pciutils 3.9, usbutils 014, kmod 30: their manual pages", "lspci lsusb modinfo"},
	{
		"expect 5.45, rlwrap 0.46, cpulimit 2.8, daemontools 0.76, glibc 2.33, libfaketime 0.9, multitime 1.4: their " +
			"manual pages",
		"rlwrap cpulimit softlimit catchsegv faketime multitime",
	},
	{"The Unarchiver 1.10, zipinfo 3.00, tzcode 2023: their manual pages", "lsar zipinfo zdump"},
	{"Info-ZIP zip 3.0 and unzip 6.00, their manual pages", "zip unzip zipnote"},
	{"p7zip 16.02, unrar 6.2, their manuals", "unrar"},
	{"GNU cpio 2.13, its manual", "cpio"},
	{"Vim 9.0, its manual", "vi"},
	{
		"man-db 2.11, its manual pages and the programs; GNU Texinfo 6.8, the manual of info; tldr 3.2",
		"man apropos info tldr",
	},
	{"cron 3.0 and at 3.2, their manual pages", "crontab at atq"},
	{"hdparm 9.65, cryptsetup 2.6, ZFS 2.1, nvme-cli 2.4: their manual pages", "hdparm cryptsetup zpool zfs nvme"},
	{
		"iptables 1.8, nftables 1.0, SELinux 3.4, AppArmor 3.0: their manual pages",
		"iptables iptables-save nft getenforce",
	},
	{
		"wl-clipboard 2.2, xclip 0.13, xsel 1.2, libnotify 0.8: their manual pages",
		"wl-paste xclip xsel say wl-copy notify-send",
	},
	{"Windows 11, the help of its commands", "cls ipconfig del copy attrib clip systeminfo"},
	{"sudo 1.9, its manual page", "sudo"},
	{"strace 6.1, ltrace 0.7, valgrind 3.19, perf 6.1: their manual pages", "strace valgrind perf ltrace"},
	{"tmux 3.3, its manual page", "tmux"},
	{"OpenSSL 3.0, its manual pages and openssl itself", "openssl"},
	{"GnuPG 2.2, its manual", "gpg gpgv"},
	{"kubectl 1.32, its reference; helm 3.15, its manual", "kubectl helm"},
	{"Terraform 1.9 and OpenTofu 1.8, their manuals", "terraform"},
	{"minikube 1.33, kind 0.23 and others: version and status, by their --help", "minikube"},
	{"SQLite 3.40, its manual and sqlite3 itself; DuckDB 1.0, its manual", "sqlite3 duckdb"},
	{"PostgreSQL 15, its manual and psql itself", "psql pg_isready pg_config"},
	{"MySQL 8.0 and MariaDB 10.11, their manuals", "mysql"},
	{"Redis 7.2, its manual", "redis-cli"},
	{"AWS CLI 2.17, its reference", "aws"},
	{"Google Cloud SDK 480, Azure CLI 2.61, their references", "gcloud az"},
	{"pytest 8.2, its manual", "pytest"},
	{"Cppcheck 2.10, pkg-config and pkgconf 1.8, Coverage.py 7.5: their manuals", "cppcheck pkg-config coverage"},
	{"jest 29 and 30, vitest 2, mocha 10: their manuals", "jest vitest mocha"},
	{"Mix 1.17, Credo 1.7, Stack 2.15, cabal 3.10, Dune 3.16: their manuals", "mix stack dune"},
	{"Swift 5.10, Dart 3.4 and Flutter 3.22, Zig 0.13: their --help", "swift flutter zig"},
	{"Rake 13, Rails 7.1, RuboCop 1.64 and Standard 1.37: their manuals and --help", "rake rails rubocop"},
	{"Playwright 1.45, CTest 3.25, tox 4.15: their manuals and --help", "playwright ctest tox"},
	{"Biome 1.8 and 2.0, oxlint 0.5 and 1.0, stylelint 16: their manuals and --help", "biome oxlint stylelint"},
	{"ast-grep 0.38 and shadow 4.13, their manuals", "ast-grep sg"},
	{"gotestsum 1.12 and Slurm 24.05, their manuals", "gotestsum sinfo squeue"},
	{"knip 5, madge 8 and depcheck 1.4: their manuals; publint and others, no options", "knip madge depcheck publint"},
	{
		"PHPStan 2, Psalm 6, PHP_CodeSniffer 3, Pint 1 and PHP-CS-Fixer 3: their manuals",
		"phpstan psalm phpcs pint php-cs-fixer",
	},
	{"Laravel 11, Symfony 7 and Django 5: the manuals of their commands", "artisan console manage.py"},
	{"PHPUnit 11, RSpec 3.13, .NET 8, Maven 3.9, Gradle 8.8: their manuals", "phpunit rspec dotnet mvn gradle"},
	{"GNU bc 1.07 with its dc, their manuals", "bc dc"},
	{
		"csvkit 1.5 and 2.0, xsv 0.13, GNU datamash 1.8, duf 0.8, dust 1.0: their --help",
		"csvlook csvgrep csvsort xsv datamash duf",
	},
	{
		"diffstat 1.65, patchutils 0.4, delta 0.18, diff-so-fancy 1.4, fzf 0.54: their manual pages",
		"diffstat lsdiff delta diff-so-fancy fzf",
	},
	{
		"Poppler 22.12, FFmpeg 5.1, bsdextrautils 2.38, GNU sharutils 4.15, FIGlet 2.2: their manual pages",
		"pdfinfo pdftotext pdfimages ffprobe col uuencode figlet",
	},
}

// CheckedAgainst returns the source for the entry with that first name. A program without a
// source accepts nothing.
func CheckedAgainst(name string) string {
	for i := range Sources {
		if HasField(Sources[i].Names, name) {
			return Sources[i].Checked
		}
	}
	return NothingAccepted
}
