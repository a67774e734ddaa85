package sqlite

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

var createsTable = regexp.MustCompile(`(?m)^CREATE TABLE (\w+)`)

func tablesIn(t *testing.T, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.sql"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", folder, len(files), err)
	}
	var names []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range createsTable.FindAllStringSubmatch(string(text), -1) {
			names = append(names, found[1])
		}
	}
	slices.Sort(names)
	return names
}

// N-5, N-6: both databases have the same tables, and none is about permissions: there are
// no access lists and no roles.
func TestTables(t *testing.T) {
	t.Parallel()
	here, there := tablesIn(t, "migrations"), tablesIn(t, filepath.Join("..", "postgres", "migrations"))
	// Only in SQLite: rows to overwrite a commit that failed in its log.
	here = slices.DeleteFunc(here, func(name string) bool { return name == "failed_commits" })
	if !slices.Equal(here, there) {
		t.Errorf("SQLite has %v, PostgreSQL has %v", here, there)
	}
	rights := regexp.MustCompile(`acl|role|permission|user|member|tenant|organi[sz]ation`)
	if i := slices.IndexFunc(here, rights.MatchString); i >= 0 {
		t.Errorf("the table %s is about rights", here[i])
	}
}
