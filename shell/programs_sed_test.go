package shell

import "testing"

func TestSed(t *testing.T) {
	t.Parallel()
	runToolLines(t, []toolLine{
		{"M-174", "sed -n '1,10p' file.txt", "safe", []string{"read /p/file.txt"}},
		{"M-40", "sed -n '10,20p;20q' f", "safe", nil},
		{"M-40", `sed -E 's/(a|b)[^/]*\/(w|e)/\2/g; /x;w y/d' f`, "safe", nil},
		{"M-40", "sed -e 's|/w out|e|' -e '$!{N;D}' f", "safe", nil},
		{"M-40", "sed ':a;N;$!ba;s/\\n/ /g' f", "safe", nil},
		{"M-40", "sed '/a/,/b/{/c/!d;};y/ab/cd/;0~3d;2,+4!s/x/y/2' f", "safe", nil},
		{"M-40", "sed '/x/i\\\nw out\n1a e id' f", "safe", nil},
		{"M-40", `sed 's,[,/],w,g' f`, "safe", nil},
		{"M-40", "sed 's/a/b/w /dev/stdout' f", "safe", nil},
		{"M-185", "sed -i 's/old/new/g' file.txt", "medium", []string{"write /p/file.txt"}},
		{"M-69", "sed -n -i 1p f", "medium", []string{"write /p/f"}},
		{"M-69 clustered", "sed -ni 1p f", "medium", []string{"write /p/f"}},
		{"sed -i after operands", "sed 1p f -i.bak", "medium", []string{"write /p/f"}},
		{"sed -i of BSD", "sed -i '' 's/a/b/' f", "medium", []string{"write /p/f"}},
		{"sed -i of BSD", "sed -i .bak -e 1p f", "medium", nil},
		{"sed --in-pl, abbreviated", "sed --in-pl 1p f", "medium", []string{"write /p/f"}},
		{"sed writes", "sed 'w out' f", "medium", []string{"write /p/out"}},
		{"sed writes", "sed -n '/a/{s/x/y/gw /etc/out\n}' f", "medium", []string{"write /etc/out"}},
		{"sed writes after a list", "sed 's/[/]/x/;w out' f", "medium", []string{"write /p/out"}},
		{"sed writes after a closed expression", `sed '\,[,],w out' f`, "medium", []string{"write /p/out"}},
		{"sed writes in a later piece", "sed -e p -e 'W out' f", "medium", []string{"write /p/out"}},
		{"sed reads", "sed 'r ../x' f", "safe", []string{"read /p/../x"}},
		{"sed runs", "sed '1e rm x' f", "high", []string{"delete /p/x"}},
		{"sed runs its input", "sed 's/a/b/e' f", "doubt", nil},
		{"sed runs its input", "sed -n e f", "doubt", nil},
		{"sed runs a file", "sed -f x.sed f", "medium", []string{"read /p/x.sed", "read /p/f"}},
		{"sed, not known", "sed 'k' f", "doubt", nil},
		{"sed, not ended", "sed 's/a/b' f", "doubt", nil},
		{"sed, label", "sed ':a;s/x/\\\nw out/' f", "doubt", nil},
		{"sed, braces", "sed '{p' f", "doubt", nil},
		{"sed -l", "sed -l 'w out' p", "doubt", nil},
		{"sed, unknown text", `sed "s/a/$x/" f`, "doubt", nil},
		{"sed, unknown option", "sed --frobnicate p f", "medium", nil},
		{"lines of a list of files", "git ls-files | sed -n '1,5p' | xargs cat", "safe", nil},
		{"changed lines of a list", "find . | sed 's/a/b/' | xargs cat", "doubt", nil},
	})
}
