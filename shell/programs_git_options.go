package shell

// The options that git's subcommands share. An option that accepts only an attached value ends
// in ?, so the next word is never mistaken for its value.

// gitDiffOpts are the options of all commands that print differences.
var gitDiffOpts = []option{
	{names: "-puszwbaRDWr --patch --no-patch --raw --patch-with-raw --patch-with-stat --function-context " +
		"--no-function-context"},
	{names: "-U? --unified? -X? --dirstat? --cumulative --dirstat-by-file? --stat? --stat-width= --stat-name-width= " +
		"--stat-graph-width= --stat-count= --numstat --shortstat --compact-summary --no-compact-summary --summary",
		does: plain},
	{names: "--name-only"},
	{names: "--name-status --check --binary --full-index --no-full-index --color? --no-color --ws-error-highlight= " +
		"--abbrev? --no-abbrev --no-stat", does: plain},
	{names: "--src-prefix= --dst-prefix= --no-prefix --default-prefix --inter-hunk-context= --output-indicator-new= " +
		"--output-indicator-old= --output-indicator-context=", does: plain},
	{names: "-B? -M? -C? --break-rewrites? --find-renames? --find-copies? --find-copies-harder " +
		"--no-find-copies-harder --no-renames --renames --rename-empty --no-rename-empty --irreversible-delete -l= " +
		"--follow --no-follow", does: plain},
	{names: "--minimal --no-minimal --patience --histogram --diff-algorithm= --anchored= --indent-heuristic " +
		"--no-indent-heuristic", does: plain},
	{names: "--ignore-all-space --ignore-space-change --ignore-space-at-eol --ignore-cr-at-eol --ignore-blank-lines " +
		"-I= --ignore-matching-lines= --no-ignore-matching-lines", does: plain},
	{names: "--word-diff? --word-diff-regex= --color-words? --color-moved? --no-color-moved --color-moved-ws= " +
		"--no-color-moved-ws --relative? --no-relative --text --no-text", does: plain},
	{names: "--exit-code --no-exit-code --quiet --no-quiet --ignore-submodules? --submodule? " +
		"--ita-invisible-in-index --ita-visible-in-index", does: plain},
	{names: "-S= -G= --pickaxe-all --pickaxe-regex --rotate-to= --skip-to= --find-object= --diff-filter= " +
		"--no-ext-diff --no-textconv", does: plain},
	{names: "--cc --combined-all-paths --max-depth=", does: plain},
	{names: "--line-prefix=", does: plain},
	{names: "-O=", does: reads},
	{names: "--output=", does: writes, why: "writes what it prints to a file"},
	{names: "--ext-diff", does: asks, consequence: lost, why: "runs the diff program of the settings"},
	{names: "--textconv", does: asks, consequence: lost, why: "runs the converters of the settings"},
	{names: aboutItself, does: shows},
}

// gitRevOpts are the options of all commands that walk commits.
var gitRevOpts = []option{
	{names: "-0123456789"},
	{names: "--all --branches? --tags? --remotes? --glob= --exclude= --exclude-hidden= --reflog --alternate-refs " +
		"--single-worktree --ignore-missing --bisect --stdin --no-walk? --do-walk --not --end-of-options", does: plain},
	{names: "-n= --max-count= --skip= --since= --after= --until= --before= --since-as-filter= --max-age= --min-age= " +
		"--author= --committer= --grep= --grep-reflog= --encoding=", does: plain},
	{names: "-iEFP --all-match --invert-grep --regexp-ignore-case --basic-regexp --extended-regexp --fixed-strings " +
		"--perl-regexp"},
	{names: "--merges --no-merges --min-parents? --max-parents? --no-min-parents --no-max-parents --first-parent " +
		"--exclude-first-parent-only", does: plain},
	{names: "--remove-empty --dense --sparse --simplify-merges --simplify-by-decoration --show-pulls --full-history " +
		"--ancestry-path? --full-diff", does: plain},
	{names: "--topo-order --date-order --author-date-order --reverse --no-reverse --left-only --right-only " +
		"--cherry-pick --merge --merge-base"},
	{names: "-gcmt --walk-reflogs --diff-merges= --no-diff-merges --dd --remerge-diff --root --no-commit-id --always",
		does: plain},
	{names: "--in-commit-order --unpacked --filter? --no-filter --missing? --exclude-promisor-objects " +
		"--use-bitmap-index --progress= --no-graph --abbrev-commit --no-abbrev-commit --date= --relative-date " +
		"--expand-tabs? --no-expand-tabs", does: plain},
	// These make rev-list print more than the names of commits.
	{names: "-v --oneline"},
	{names: "--pretty? --format?", does: asks, consequence: lost, when: "%G",
		why: "starts the signature program of the settings"},
	{names: "--graph --boundary --left-right --cherry --cherry-mark --count --parents --children --header " +
		"--timestamp --objects --objects-edge --object-names --no-object-names --filter-print-omitted --disk-usage? " +
		"--bisect-vars --bisect-all --show-linear-break?", does: plain},
	{names: "--notes? --no-notes --show-notes? --show-notes-by-default --standard-notes --no-standard-notes " +
		"--commit-header --no-commit-header", does: plain},
	{names: "--decorate? --no-decorate --decorate-refs= --decorate-refs-exclude= --clear-decorations --source " +
		"--log-size -L= -q --use-mailmap --no-use-mailmap --mailmap --no-mailmap --no-show-signature", does: plain},
	{names: "--show-signature", does: asks, consequence: lost, why: "starts the signature program of the settings"},
}

// gitListOpts are the options of all commands that list refs.
var gitListOpts = []option{
	{names: "--contains= --no-contains= --merged= --no-merged= --points-at=", does: plain, why: "lists what fits"},
	{names: "--sort= --format=", does: asks, consequence: lost, when: "signature",
		why: "starts the signature program of the settings"},
	{names: "--no-sort --count= --exclude= --color? --no-color --column? --no-column --abbrev? --no-abbrev " +
		"--omit-empty", does: plain},
	{names: aboutItself, does: shows},
}
