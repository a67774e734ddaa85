package cli

const grantsLong = `Lists your approvals in this project apart from rules: grants for one call or for a
session, answers that auto mode remembers, and allowAll. Each shows its author, its age,
its end and its number of uses. For rules, see umpire rules list.

umpire rules grants revoke revokes one, or all with --all: the calls then ask again.
umpire sessions mode --allow-all switches allowAll on or off.`

const grantsExample = `  umpire rules grants
  umpire rules grants list --json
  umpire rules grants revoke --all`
