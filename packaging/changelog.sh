#!/bin/sh
# Makes the section of a release out of changelog/unreleased: changelog.sh VERSION DATE. It adds the section
# to CHANGELOG.md, removes the entries, and leaves a line of risk for the next release.
set -eu
cd "$(dirname "$0")/.."
entries=changelog/unreleased
version=${1-} date=${2-}

fail() {
  echo "changelog: $*" >&2
  exit 1
}

printf '%s\n' "$version" | grep -Eqx '[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?' ||
  fail "version '$version': want one such as 1.2.3: make changelog VERSION=1.2.3"
! grep -qF "## $version (" CHANGELOG.md || fail "CHANGELOG.md already has a section for $version"
[ -n "$date" ] || fail "no date: changelog.sh VERSION DATE"
new=$(mktemp)
{
  sed '/^## /,$d' CHANGELOG.md
  printf '## %s (%s)\n\n' "$version" "$date"
  cat "$entries/risk.md"
  echo
  for entry in "$entries"/*.md; do
    [ "$entry" = "$entries/risk.md" ] || sed '1s/^/- /; 2,$s/^./  &/' "$entry"
  done
  echo
  sed -n '/^## /,$p' CHANGELOG.md
} >"$new"
cat "$new" >CHANGELOG.md
rm "$new" "$entries"/*.md
echo '**Risk:** none.' >"$entries/risk.md"
