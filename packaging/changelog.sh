#!/bin/sh
# Makes the section of a release out of changelog/unreleased: changelog.sh VERSION DATE. It adds the section
# to CHANGELOG.md, removes the entries, and leaves a line of risk for the next release.
set -eu
cd "$(dirname "$0")/.."
entries=changelog/unreleased
new=$(mktemp)
{
  sed '/^## /,$d' CHANGELOG.md
  printf '## %s (%s)\n\n' "${1:?usage: changelog.sh VERSION DATE}" "${2:?usage: changelog.sh VERSION DATE}"
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
