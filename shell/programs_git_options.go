package shell

// The options that git's subcommands share. An option that accepts only an attached value ends
// in ?, so the next word is never mistaken for its value.

// gitDiffOpts are the options of all commands that print differences.
var gitDiffOpts = []option{
	{flags: "-p -u -s -z -w -b -a -R -D -W -r --patch --no-patch --raw --patch-with-raw --patch-with-stat " +
		"--function-context --no-function-context"},
	{flags: "--cumulative --numstat --shortstat --compact-summary --no-compact-summary --summary",
		values:   "--stat-width --stat-name-width --stat-graph-width --stat-count",
		attached: "-U --unified -X --dirstat --dirstat-by-file --stat", does: plain},
	{flags: "--name-only"},
	{flags: "--name-status --check --binary --full-index --no-full-index --no-color --no-abbrev --no-stat",
		values: "--ws-error-highlight", attached: "--color --abbrev", does: plain},
	{flags: "--no-prefix --default-prefix", values: "--src-prefix --dst-prefix --inter-hunk-context " +
		"--output-indicator-new --output-indicator-old --output-indicator-context", does: plain},
	{flags: "--find-copies-harder --no-find-copies-harder --no-renames --renames --rename-empty --no-rename-empty " +
		"--irreversible-delete --follow --no-follow", values: "-l",
		attached: "-B -M -C --break-rewrites --find-renames --find-copies", does: plain},
	{flags: "--minimal --no-minimal --patience --histogram --indent-heuristic --no-indent-heuristic",
		values: "--diff-algorithm --anchored", does: plain},
	{flags: "--ignore-all-space --ignore-space-change --ignore-space-at-eol --ignore-cr-at-eol --ignore-blank-lines " +
		"--no-ignore-matching-lines", values: "-I --ignore-matching-lines", does: plain},
	{flags: "--no-color-moved --no-color-moved-ws --no-relative --text --no-text",
		values: "--word-diff-regex --color-moved-ws", attached: "--word-diff --color-words --color-moved --relative",
		does: plain},
	{flags: "--exit-code --no-exit-code --quiet --no-quiet --ita-invisible-in-index --ita-visible-in-index",
		attached: "--ignore-submodules --submodule", does: plain},
	{flags: "--pickaxe-all --pickaxe-regex --no-ext-diff --no-textconv",
		values: "-S -G --rotate-to --skip-to --find-object --diff-filter", does: plain},
	{flags: "--cc --combined-all-paths", values: "--max-depth", does: plain},
	{values: "--line-prefix", does: plain},
	{values: "-O", does: reads},
	{values: "--output", does: writes, why: "writes what it prints to a file"},
	{flags: "--ext-diff", does: asks, consequence: lost, why: "runs the diff program of the settings"},
	{flags: "--textconv", does: asks, consequence: lost, why: "runs the converters of the settings"},
	{flags: aboutItself, does: shows},
}

// gitRevOpts are the options of all commands that walk commits.
var gitRevOpts = []option{
	{flags: "-0 -1 -2 -3 -4 -5 -6 -7 -8 -9"},
	{flags: "--all --reflog --alternate-refs --single-worktree --ignore-missing --bisect --stdin --do-walk --not " +
		"--end-of-options", values: "--glob --exclude --exclude-hidden",
		attached: "--branches --tags --remotes --no-walk", does: plain},
	{values: "-n --max-count --skip --since --after --until --before --since-as-filter --max-age --min-age --author " +
		"--committer --grep --grep-reflog --encoding", does: plain},
	{flags: "-i -E -F -P --all-match --invert-grep --regexp-ignore-case --basic-regexp --extended-regexp " +
		"--fixed-strings --perl-regexp"},
	{flags: "--merges --no-merges --no-min-parents --no-max-parents --first-parent --exclude-first-parent-only",
		attached: "--min-parents --max-parents", does: plain},
	{flags: "--remove-empty --dense --sparse --simplify-merges --simplify-by-decoration --show-pulls --full-history " +
		"--full-diff", attached: "--ancestry-path", does: plain},
	{flags: "--topo-order --date-order --author-date-order --reverse --no-reverse --left-only --right-only " +
		"--cherry-pick --merge --merge-base"},
	{flags: "-g -c -m -t --walk-reflogs --no-diff-merges --dd --remerge-diff --root --no-commit-id --always",
		values: "--diff-merges", does: plain},
	{flags: "--in-commit-order --unpacked --no-filter --exclude-promisor-objects --use-bitmap-index --no-graph " +
		"--abbrev-commit --no-abbrev-commit --relative-date --no-expand-tabs", values: "--progress --date",
		attached: "--filter --missing --expand-tabs", does: plain},
	// These make rev-list print more than the names of commits.
	{flags: "-v --oneline"},
	{attached: "--pretty --format", does: asks, consequence: lost, limits: &limits{when: "%G"},
		why: "starts the signature program of the settings"},
	{flags: "--graph --boundary --left-right --cherry --cherry-mark --count --parents --children --header " +
		"--timestamp --objects --objects-edge --object-names --no-object-names --filter-print-omitted --bisect-vars " +
		"--bisect-all", attached: "--disk-usage --show-linear-break", does: plain},
	{flags: "--no-notes --show-notes-by-default --standard-notes --no-standard-notes --commit-header " +
		"--no-commit-header", attached: "--notes --show-notes", does: plain},
	{flags: "--no-decorate --clear-decorations --source --log-size -q --use-mailmap --no-use-mailmap --mailmap " +
		"--no-mailmap --no-show-signature", values: "--decorate-refs --decorate-refs-exclude -L",
		attached: "--decorate", does: plain},
	{flags: "--show-signature", does: asks, consequence: lost, why: "starts the signature program of the settings"},
}

// gitListOpts are the options of all commands that list refs.
var gitListOpts = []option{
	{values: "--contains --no-contains --merged --no-merged --points-at", does: plain, why: "lists what fits"},
	{values: "--sort --format", does: asks, consequence: lost, limits: &limits{when: "signature"},
		why: "starts the signature program of the settings"},
	{flags: "--no-sort --no-color --no-column --no-abbrev --omit-empty", values: "--count --exclude",
		attached: "--color --column --abbrev", does: plain},
	{flags: aboutItself, does: shows},
}
