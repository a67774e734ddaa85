#!/bin/sh
# Installs umpire for one person: the newest release for this system, its checksum compared, and
# the completions of the shells.
#
#   curl -fsSL https://github.com/umpirehq/umpire/releases/latest/download/install.sh | sh
#
# UMPIRE_BIN is where the programs go (~/.local/bin), and UMPIRE_RELEASE where they come from.
set -eu

release=${UMPIRE_RELEASE:-https://github.com/umpirehq/umpire/releases/latest/download}
bin=${UMPIRE_BIN:-$HOME/.local/bin}

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

# fetch URL FILE
fetch() {
  if command -v curl >/dev/null; then
    curl -fsSL -o "$2" "$1"
  elif command -v wget >/dev/null; then
    wget -q -O "$2" "$1"
  else
    fail "it takes curl or wget to download anything"
  fi || fail "$1 cannot be downloaded"
}

# digest FILE
digest() {
  if command -v sha256sum >/dev/null; then
    sha256sum "$1"
  elif command -v shasum >/dev/null; then
    shasum -a 256 "$1"
  else
    fail "it takes sha256sum or shasum to check what was downloaded"
  fi | cut -d ' ' -f 1
}

system() {
  case $(uname -s) in
  Linux) echo linux ;;
  Darwin) echo darwin ;;
  *) fail "there is no release for $(uname -s); on Windows download the zip file" ;;
  esac
}

machine() {
  case $(uname -m) in
  x86_64 | amd64) echo amd64 ;;
  aarch64 | arm64) echo arm64 ;;
  *) fail "there is no release for $(uname -m)" ;;
  esac
}

# complete SHELL FILE writes the completions of a shell that is here.
complete() {
  command -v "$1" >/dev/null || return 0
  mkdir -p "$(dirname "$2")"
  "$bin/umpire" completion "$1" >"$2"
}

main() {
  archive=umpire_$(system)_$(machine).tar.gz
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  fetch "$release/$archive" "$work/$archive"
  fetch "$release/checksums.txt" "$work/checksums.txt"
  want=$(awk -v name="$archive" '$2 == name { print $1 }' "$work/checksums.txt")
  [ -n "$want" ] || fail "checksums.txt does not name $archive"
  [ "$(digest "$work/$archive")" = "$want" ] || fail "$archive is not what checksums.txt says: nothing was installed"
  tar -xzf "$work/$archive" -C "$work"
  mkdir -p "$bin"
  for program in umpire umpire-hook; do
    chmod 755 "$work/$program"
    mv -f "$work/$program" "$bin/$program"
  done
  complete bash "${XDG_DATA_HOME:-$HOME/.local/share}/bash-completion/completions/umpire"
  complete zsh "${XDG_DATA_HOME:-$HOME/.local/share}/zsh/site-functions/_umpire"
  complete fish "${XDG_CONFIG_HOME:-$HOME/.config}/fish/completions/umpire.fish"
  "$bin/umpire" --version
  echo "installed in $bin"
  case :$PATH: in
  *":$bin:"*) echo "next: umpire setup" ;;
  *) echo "$bin is not on your PATH; next: $bin/umpire setup" ;;
  esac
}

main
