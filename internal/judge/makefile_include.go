package judge

import (
	"path/filepath"
	"strings"
)

// MakefileIncludes returns the files that a makefile includes, as far as it names them without variables or
// patterns. It returns none for other files.
func MakefileIncludes(path string, text []byte) (files []string) {
	name := strings.ToLower(filepath.Base(path))
	if !strings.HasSuffix(name, "makefile") && !strings.HasSuffix(name, ".mk") {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) < 2 || words[0] != "include" && words[0] != "-include" && words[0] != "sinclude" {
			continue
		}
		for _, file := range words[1:] {
			if strings.ContainsAny(file, "$*?[") {
				continue
			}
			if !filepath.IsAbs(file) {
				file = filepath.Join(filepath.Dir(path), file)
			}
			files = append(files, filepath.Clean(file))
		}
	}
	return files
}
