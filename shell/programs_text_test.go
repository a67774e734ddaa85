package shell

import "testing"

func TestTextTools(t *testing.T) {
	t.Parallel()
	runToolLines(t, []toolLine{
		{"M-40", "sort a | uniq -c | sort -rn | cut -d: -f1 | tr a-z A-Z", "safe", []string{"read /p/a"}},
		{"M-40", "column -t -s, a.csv", "safe", []string{"read /p/a.csv"}},
		{"M-40", "sort -t, -k2,2n -u a b", "safe", []string{"read /p/a", "read /p/b"}},
		{"M-40 sort -o", "sort -o out a", "medium", []string{"write /p/out"}},
		{"M-40 sort -o, attached", "sort -uoout a", "medium", []string{"write /p/out"}},
		{"M-40 sort -o, after operands", "sort a -o /etc/x", "medium", []string{"write /etc/x"}},
		{"M-40 sort, abbreviated", "sort --compress=./x a", "medium", nil},
		{"M-40 sort --compress-program", "sort --compress-program 'rm -rf x' a", "high", nil},
		{"sort reads names", "sort --files0-from=list", "medium", []string{"read /p/list"}},
		{"sort, not known", "sort --frobnicate a", "medium", nil},
		{"M-40 uniq writes", "uniq in out", "medium", []string{"read /p/in", "write /p/out"}},
		{"M-40 uniq writes", "uniq -f 1 - out", "medium", []string{"write /p/out"}},
		{"shuf", "shuf -n 3 a", "safe", []string{"read /p/a"}},
		{"shuf -r reads", "shuf -r -n1 /etc/hosts", "safe", []string{"read /etc/hosts"}},
		{"shuf writes", "shuf -o out a", "medium", []string{"write /p/out"}},
		{"split", "split -l 10 a /tmp/x", "medium", []string{"write /tmp/x"}},
		{"split --filter", "split --filter='rm x' a", "high", []string{"delete /p/x"}},
		{"iconv", "iconv -f latin1 -t utf-8 a", "safe", nil},
		{"iconv writes", "iconv -o out a", "medium", []string{"write /p/out"}},
		{"dos2unix", "dos2unix a", "medium", []string{"write /p/a"}},
		{"xmllint", "xmllint --xpath '//a' f.xml", "safe", []string{"read /p/f.xml"}},
		{"xmllint writes", "xmllint --output out f.xml", "medium", []string{"write /p/out"}},
		{"xmllint writes to a URL", "xmllint -o file:///etc/x f.xml", "medium", []string{"write /etc/x", "write /p/file:///etc/x"}},
		{"xmllint --shell", "xmllint --shell f.xml", "medium", nil},
		{
			"M-40", `jq -r --arg k v '.[] | select(.name == "env") | .env, .a.env, {env: 1}' f.json`, "safe",
			[]string{"read /p/f.json"},
		},
		{"M-40", `jq '.a as $x | "\($x) and \(.b|length)"' f.json`, "safe", nil},
		{"jq env", "jq -n env", "medium", nil},
		{"jq $ENV", "jq -n '$ENV.X'", "medium", nil},
		{"jq env in text", `jq -n '"a \(env.X) b"'`, "medium", nil},
		{"jq obeys its filter", "jq -f ../x.jq f.json", "medium", []string{"read /p/../x.jq", "read /p/f.json"}},
		{
			"jq reads values", "jq --slurpfile a ../a.json . f.json", "safe",
			[]string{"read /p/../a.json", "read /p/f.json"},
		},
		{"jq, not known", "jq --frobnicate . f.json", "medium", nil},
		{"yq", "yq -o=json '.a.b' f.yaml", "safe", []string{"read /p/f.yaml"}},
		{"yq", "yq eval '.a' f.yaml", "safe", []string{"read /p/f.yaml"}},
		{"yq edits", "yq -i '.a = 1' f.yaml", "medium", []string{"write /p/f.yaml"}},
		{"yq loads", `yq '.a = load("/etc/x")' f.yaml`, "medium", nil},
		{"yq without a filter", "yq ../f.yaml", "safe", []string{"read /p/../f.yaml"}},
	})
}
