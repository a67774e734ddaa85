package shell

import "testing"

func TestSearching(t *testing.T) {
	t.Parallel()
	runToolLines(t, []toolLine{
		{"M-171", `grep -r "TODO" src/`, "safe", []string{"read /p/src/"}},
		{"M-35", `grep -n "a\|b" file | head`, "safe", []string{"read /p/file"}},
		{"M-35", "grep -rn x --include='*.go' . | grep -v _test", "safe", []string{"read /p"}},
		{"M-35", `grep -E '^(foo|bar)$|[$]{x}' f; egrep -c 'a;b&c>d' f`, "safe", nil},
		{"M-35", "grep -A3 -B 3 --color=never -e a -e b f", "safe", []string{"read /p/f"}},
		{"grep reads patterns", "grep -f ../patterns f", "safe", []string{"read /p/../patterns", "read /p/f"}},
		{"grep reads patterns, clustered", "grep -nf/etc/hosts f", "safe", []string{"read /etc/hosts", "read /p/f"}},
		{"grep goes through the folder", "grep -rl x", "safe", []string{"read /p"}},
		{"grep to some -C has no value", "grep -C x /etc/hosts", "doubt", nil},
		{"grep, one word", `grep "$x" f`, "safe", nil},
		{"grep, several words", "grep a$x f", "doubt", nil},
		{"M-35", "rg -n --type go 'func \\w+' src", "safe", []string{"read /p/src"}},
		{"M-35", "rg TODO", "safe", []string{"read /p"}},
		{"M-35 rg --pre", "rg --pre ./x a", "medium", nil},
		{"M-35 rg --pre=", "rg --pre='rm -rf x' a", "high", nil},
		{"M-35 rg --hostname-bin", "rg --hostname-bin=./x a", "medium", nil},
		{"rg -z", "rg -z a", "medium", nil},
		{"rg, clustered", "rg -nz a", "medium", nil},
		{"rg, not known", "rg --frobnicate a", "medium", nil},
		{"M-35", "ag -l --go TODO", "safe", nil},
		{"ag --pager", "ag --pager ./x TODO", "medium", nil},
		{"M-35", "ack -l TODO src", "safe", []string{"read /p/src"}},
		{"ack --pager", "ack --pager=./x TODO", "medium", nil},
		{"ack --ackrc", "ack --ackrc=x TODO", "medium", nil},
		{"found files are read", "grep -rl x src | xargs sed -n 1p", "safe", []string{"read /p/src"}},
		{"found lines are not files", "grep -r x src | xargs cat", "doubt", nil},
		{
			"lines of a list of files", "find src -name '*.go' | grep -v _test | sort -u | xargs wc -l", "safe",
			[]string{"read /p/src"},
		},
		{"locate", "locate passwd", "safe", nil},
	})
}

func TestFind(t *testing.T) {
	t.Parallel()
	runToolLines(t, []toolLine{
		{"M-34", "find . -name '*.go' -not -path '*/x/*' | sort | head", "safe", []string{"read /p"}},
		{"M-34", "find", "safe", []string{"read /p"}},
		{
			"M-34",
			`find src \( -name a -o -iname b \) -type f -mtime -1 -size +1k ! -empty -newermt 2024-01-01 -print0`,
			"safe", []string{"read /p/src"},
		},
		{"M-34", "find -L a b -maxdepth 2 -printf '%T@ %p\\n'", "safe", []string{"read /p/a", "read /p/b"}},
		{"outside is seen", "find /etc -newer ~/x", "safe", []string{"read /etc", "read /home/u/x"}},
		{"M-34 find -delete", "find build -name '*.o' -delete", "high", []string{"delete /p/build/**/*.o"}},
		{"M-34 find -exec", `find . -name '*.go' -exec grep -n x {} +`, "safe", []string{"read /p"}},
		{"M-34 find -exec", `find . -exec rm -f {} \;`, "high", []string{"delete /p"}},
		{"M-34 find -exec twice", `find . -exec true \; -exec rm x \;`, "high", []string{"delete /p/x"}},
		{"M-34 find -ok", `find . -ok ./x {} \;`, "medium", nil},
		{"M-34 find -exec sh", `find . -name x -exec sh -c 'wc -l "$1"' _ {} \;`, "safe", []string{"read /p"}},
		{"find puts names into code", `find . -exec sh -c 'wc -l {}' \;`, "doubt", nil},
		{"find -execdir", `find . -execdir cat {} \;`, "safe", []string{"read /p"}},
		{"find -execdir elsewhere", `find . -execdir cat x \;`, "doubt", nil},
		{"find -exec without end", `find . -exec cat {}`, "doubt", nil},
		{"find writes", "find . -fprint out", "medium", []string{"write /p/out"}},
		{"find writes", "find . -fprintf out %p -fls out2", "medium", []string{"write /p/out", "write /p/out2"}},
		{"find, not known", "find . -frobnicate", "medium", nil},
		{"find may act", "find . $x", "doubt", nil},
		{"find may act", "find . -name a $x", "doubt", nil},
		{"find reads names", "find -files0-from list -name x", "doubt", []string{"read /p/list"}},
		{
			"found files are read", "for f in $(find src -name '*.go'); do head -1 $f; done", "safe",
			[]string{"read /p/src"},
		},
		{"found files are read", "find src -name '*.go' -print0 | xargs -0 grep -l x", "safe", []string{"read /p/src"}},
		{"fd", "fd -e go -t f x src", "safe", []string{"read /p/src"}},
		{"fd -x", "fd -e go -x wc -l", "safe", []string{"read /p"}},
		{"fd -x", "fd x -x rm", "high", []string{"delete /p"}},
		{"fd -x, clustered", "fd -HX rm", "high", []string{"delete /p"}},
		{"fd --exec=", "fd x --exec=rm", "high", []string{"delete /p"}},
		{"fd twice", `fd x -x echo \; -x rm`, "high", []string{"delete /p"}},
		{"fd, parts of paths", "fd x -x cat {.}", "doubt", nil},
		{"fd, not known", "fd --exec-foo x", "medium", nil},
	})
}
