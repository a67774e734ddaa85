#!/bin/sh
# Writes what packages carry beside the programs, made by the program itself: the completions of
# the shells and the manual pages.
set -eu
cd "$(dirname "$0")/.."
to=dist-documents
rm -rf "$to"
mkdir -p "$to/completions" "$to/man"
umpire=$to/umpire
CGO_ENABLED=0 go build -trimpath -o "$umpire" ./cmd/umpire
"$umpire" completion bash >"$to/completions/umpire.bash"
"$umpire" completion zsh >"$to/completions/_umpire"
"$umpire" completion fish >"$to/completions/umpire.fish"
"$umpire" man "$to/man"
rm "$umpire"
