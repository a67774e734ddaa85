package cli

const grantsLong = `Lists what you approved in this project beside the rules: grants for one call or for a
session, answers that auto mode remembers, and allowAll, with who gave it, how old it is,
when it ends and how often it was used. Rules are in umpire rules list.

umpire rules grants revoke takes one back, or all with --all: from then on the calls ask again.
allowAll is switched with umpire sessions mode --allow-all on or off.`

const grantsExample = `  umpire rules grants
  umpire rules grants list --json
  umpire rules grants revoke --all`
