package judge

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Parts are the relevant contents of a file, by names that people read; "" is all of it. A file
// that cannot be taken apart counts as a whole.

// plainFields are the fields of package.json that name no code. Dependencies are code once they are
// installed, and installing asks separately.
const plainFields = " name version description keywords homepage bugs license licenses author contributors " +
	"maintainers funding files repository private " +
	"dependencies devDependencies peerDependencies peerDependenciesMeta optionalDependencies bundledDependencies " +
	"bundleDependencies engines os cpu types typings sideEffects publishConfig displayName icon categories "

// packageParts splits package.json: each script, and each other field that may name code.
func packageParts(data []byte) map[string][]byte {
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil {
		return map[string][]byte{"": data}
	}
	parts := map[string][]byte{}
	for name, value := range fields {
		if strings.Contains(plainFields, " "+name+" ") {
			continue
		}
		var scripts map[string]json.RawMessage
		if name != "scripts" || json.Unmarshal(value, &scripts) != nil {
			parts[name] = compactJSON(value)
			continue
		}
		for script, line := range scripts {
			parts["scripts."+script] = compactJSON(line)
		}
	}
	return parts
}

func compactJSON(value []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, value) != nil {
		return value
	}
	return b.Bytes()
}

// pyprojectParts splits pyproject.toml into its tables, except that of the project itself: only its
// subtables count. A file with multi-line strings counts as a whole, because a line in them may
// look like the head of a table.
func pyprojectParts(data []byte) map[string][]byte {
	if bytes.Contains(data, []byte(`"""`)) || bytes.Contains(data, []byte("'''")) {
		return map[string][]byte{"": data}
	}
	parts, table := map[string][]byte{}, "the beginning"
	for line := range bytes.Lines(data) {
		text := strings.TrimSpace(string(line))
		if strings.HasPrefix(text, "[") && !strings.HasPrefix(text, "[\"") && tomlTable(text) != "" {
			table = tomlTable(text)
		}
		if table != "project" && text != "" {
			parts[table] = append(parts[table], line...)
		}
	}
	return parts
}

// tomlTable returns the name of the table that a line of TOML begins, or "". A line of a list begins
// with a bracket as well, and then counts for the table before it.
func tomlTable(line string) string {
	line, _, _ = strings.Cut(line, "#")
	line = strings.TrimSpace(line)
	name := strings.Trim(line, "[] ")
	if !strings.HasSuffix(line, "]") || name == "" || strings.ContainsAny(name, `,{}=[]`) {
		return ""
	}
	return name
}

// goParts keeps the lines of go.mod that choose code: those of toolchain, replace, tool and use,
// with their blocks. A dependency is code once it is imported.
func goParts(data []byte) map[string][]byte {
	parts, block := map[string][]byte{}, ""
	for line := range bytes.Lines(data) {
		text, _, _ := strings.Cut(string(line), "//")
		words := strings.Fields(text)
		switch {
		case len(words) == 0:
			continue
		case words[0] == ")":
			block = ""
			continue
		case block == "" && words[len(words)-1] == "(":
			block = strings.TrimSuffix(words[0], "(")
			continue
		}
		verb := block
		if verb == "" {
			verb = words[0]
		}
		if verb != "require" && verb != "module" && verb != "exclude" && verb != "retract" {
			parts[verb] = append(parts[verb], strings.Join(words, " ")+"\n"...)
		}
	}
	return parts
}
