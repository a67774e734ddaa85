package shell

import "testing"

func TestAwk(t *testing.T) {
	t.Parallel()
	runToolLines(t, []toolLine{
		{"M-40", "awk 'NR>=10 && NR<=20' f", "safe", []string{"read /p/f"}},
		{"M-40", "awk -F: -v n=3 '{print $1, n > 2 ? 1 : 2}' f", "doubt", nil},
		{"M-40", "awk -F: -v n=3 '{print $1, (n > 2 ? 1 : 2)}' f", "safe", nil},
		{"M-40", `awk '/a|b/ || $2 ~ /[/>|]x/ {printf("%s > %s | %s\n", $1, $2, $3)}' f`, "safe", nil},
		{"M-40", `awk '{ n = $1 / $2; m = (n + 1) / 2; a[n] / 3 } # system("x")' f`, "safe", nil},
		{"M-40", `awk '/^func x/,/^}/' f`, "safe", nil},
		{"M-40", "awk 'BEGIN { while ((getline line) > 0) if (line < 5) n++ } END { print n }' f", "safe", nil},
		{"M-40", `awk '{ print "system(x) | getline" > "/dev/stderr" }' f`, "safe", nil},
		{"M-40", "awk '!seen[$0]++' f | sort | head", "safe", nil},
		{"M-40", "awk '{ s += length($0)\n print s,\n  NR }' f", "safe", nil},
		{"M-40 awk system", `awk 'BEGIN { system("ls") }'`, "medium", nil},
		{"M-40 awk system", `awk 'BEGIN { system("rm x") }'`, "high", []string{"delete /p/x"}},
		{"awk system after a number", `awk '{ print 1e3system("ls") }' f`, "doubt", nil},
		{"M-40", `awk '$1 > 1.5e+3 || $2 == 0x1F' f`, "safe", nil},
		{"awk system of what it reads", `awk '{ system ($1) }' f`, "doubt", nil},
		{"awk system by its full name", `gawk 'BEGIN { awk::system("ls") }'`, "medium", nil},
		{"awk pipe", `awk '{ print | "sh" }' f`, "doubt", nil},
		{"awk pipe", `awk 'BEGIN { "rm x" | getline y }'`, "high", []string{"delete /p/x"}},
		{"awk pipe of joined text", `awk '{ "ls " $1 | getline y }' f`, "doubt", nil},
		{"awk coprocess", `gawk 'BEGIN { "ls" |& getline }'`, "medium", nil},
		{"awk writes", `awk '{ print $1 > "out" }' f`, "medium", []string{"write /p/out"}},
		{"awk writes", `awk '{ printf "%s", $1 >> "/etc/out" }' f`, "medium", []string{"write /etc/out"}},
		{"awk writes", "awk '{ print $1,\n$2 > $3 }' f", "doubt", nil},
		{"awk writes after parentheses", `awk '{ print($1)($2) > "out" }' f`, "medium", []string{"write /p/out"}},
		{"awk reads", `awk 'BEGIN { while ((getline l < "../x") > 0) print l }'`, "safe", []string{"read /p/../x"}},
		{"awk reads what it is told", `awk '{ getline l < $1; print l }' f`, "doubt", nil},
		{"awk chooses files", `awk 'BEGIN { ARGV[1] = "/etc/x"; ARGC = 2 } 1'`, "medium", nil},
		{"awk environment", `awk 'BEGIN { print ENVIRON["X"] }'`, "medium", nil},
		{"awk indirect call", `gawk 'BEGIN { f = "sys" "tem"; @f("ls") }'`, "medium", nil},
		{"awk include", `gawk '@include "x"; 1' f`, "medium", nil},
		{"awk file", "awk -f x.awk f", "medium", []string{"read /p/x.awk", "read /p/f"}},
		{"awk file, attached", "awk -F: -fx.awk f", "medium", []string{"read /p/x.awk"}},
		{"awk extension", "gawk -l ext 1 f", "medium", nil},
		{"gawk writes", "gawk -ofile 1 f", "medium", []string{"write /p/file"}},
		{"awk hides behind a condition", `awk '{ if (1) /"/; system("ls"); x = "/" }'`, "doubt", nil},
		{"awk, slash in brackets", `awk '/[/"]/; { system("ls") } /[/"]/'`, "medium", nil},
		{"awk, not ended", `awk '{ print "a }' f`, "doubt", nil},
		{"awk, unknown text", `awk "{print $x}" f`, "doubt", nil},
		{"awk, not known", "awk --frobnicate 1 f", "medium", nil},
	})
}
