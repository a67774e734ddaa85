package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
)

func TestReplaceLines(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, before string
		first, last  any
		content      string
		want, fails  string
	}{
		{"one line", "a\nb\nc\n", 2, 2, "B", "a\nB\nc\n", ""},
		{"it ends in a line end already", "a\nb\nc\n", 2, 2, "B\n", "a\nB\nc\n", ""},
		{"one becomes two", "a\nb\n", 1, 1, "x\ny", "x\ny\nb\n", ""},
		{"several become one", "a\nb\nc\nd\n", 2, 3, "x", "a\nx\nd\n", ""},
		{"all of them", "a\nb\n", 1, 2, "x\n", "x\n", ""},
		{"taken out", "a\nb\nc\n", 2, 2, "", "a\nc\n", ""},
		{"an empty line", "a\nb\nc\n", 2, 2, "\n", "a\n\nc\n", ""},
		{"the last line had no end", "a\nb", 2, 2, "x", "a\nx", ""},
		{"and may get one", "a\nb", 2, 2, "x\n", "a\nx\n", ""},
		{"the end is behind the end", "a\nb\n", 2, 99, "x", "a\nx\n", ""},
		{"appended", "a\n", 2, 2, "x", "a\nx\n", ""},
		{"appended to a line without end", "a", 2, 2, "x", "a\nx", ""},
		{"an empty file", "", 1, 1, "x\n", "x\n", ""},
		{"line ends of the file", "a\r\nb\r\nc\r\n", 2, 2, "x\ny", "a\r\nx\r\ny\r\nc\r\n", ""},
		{"written as text", "a\nb\n", "1", "1", "x", "x\nb\n", ""},
		{"behind all lines", "a\nb\n", 4, 4, "x", "a\nb\n", "has only 2 lines: startLine 4 is past the end"},
		{"the wrong way round", "a\nb\n", 2, 1, "x", "a\nb\n", "input.endLine: 1 comes before startLine 2"},
		{"line 0", "a\n", 0, 0, "x", "a\n", "input.startLine: want 1 to"},
		{"no end", "a\n", 1, nil, "x", "a\n", "input.endLine: is missing"},
		{"no beginning", "a\n", nil, 1, "x", "a\n", "input.startLine: is missing"},
	} {
		b := newBench(t)
		b.file("f", tt.before)
		in := fields{"filePath": "f", "startLine": tt.first, "endLine": tt.last, "newContent": tt.content}
		if tt.fails != "" {
			b.fails("filesystem-edit", in, tt.fails)
		} else {
			b.ok("filesystem-edit", in)
		}
		if got := b.content("f"); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		noTemporaries(t, b.root)
	}
	b := newBench(t)
	b.fails("filesystem-edit", fields{"filePath": "missing", "startLine": 1, "endLine": 1, "newContent": "x"}, "no such file")
	b.fails("filesystem-edit", fields{"filePath": "missing", "startLine": 1, "endLine": 1}, "input.newContent: is missing")
}

func TestReplaceFoundText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, before, search, replace, want, fails string }{
		{"once", "a b c", "b", "x", "a x c", ""},
		{"over lines", "a\nb\nc\n", "a\nb", "x", "x\nc\n", ""},
		{"lines that end in CR LF", "a\r\nb\r\n", "a\nb", "x\ny", "x\r\ny\r\n", ""},
		{"taken out", "a b", " b", "", "a", ""},
		{"twice", "a a", "a", "b", "a a", "searchContent matches 2 times"},
		{"nowhere", "a", "b", "c", "a", "searchContent not found"},
		{"nothing to look for", "a", "", "c", "a", "input.searchContent: is empty"},
		{"nothing to do", "a", "a", "a", "a", "is the same as searchContent"},
	} {
		b := newBench(t)
		b.file("f", tt.before)
		in := fields{"filePath": "f", "searchContent": tt.search, "replaceContent": tt.replace}
		if tt.fails != "" {
			b.fails("filesystem-edit_search", in, tt.fails)
		} else {
			b.ok("filesystem-edit_search", in)
		}
		if got := b.content("f"); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// each is an edit of every path by either tool: the first line, which holds "old".
func each(name string, paths ...string) fields {
	var files []fields
	for _, path := range paths {
		files = append(files, edit(name, path))
	}
	return fields{"filePath": files}
}

func edit(name, path string) fields {
	if name == "filesystem-edit" {
		return fields{"path": path, "startLine": 1, "endLine": 1, "newContent": "new"}
	}
	return fields{"path": path, "searchContent": "old", "replaceContent": "new"}
}

var limited = []string{"filesystem-edit", "filesystem-edit_search"}

func refusal(of string) string {
	return "你没有权限编辑 " + of + " 类型文件的权限,请注意你的任务权限范围"
}

// results reads the result of a list of files, without the remarks on edited files.
func (b *bench) results(output string) []fileResult {
	b.t.Helper()
	var out struct {
		Results []fileResult `json:"results"`
	}
	if err := json.Unmarshal([]byte(output), &out); err != nil {
		b.t.Fatalf("%v: %s", err, output)
	}
	for i := range out.Results {
		if r := &out.Results[i]; r.Edited {
			if !strings.HasPrefix(r.Message, "edited "+b.path(r.Path)+": ") {
				b.t.Errorf("%s: said %q", r.Path, r.Message)
			}
			r.Message = ""
		}
	}
	return out.Results
}

// TestListOfFiles is S-36 to S-41 and example 8: each file has its own result, in the
// order of the list. Refused files are untouched, and edited files stay edited.
func TestListOfFiles(t *testing.T) {
	t.Parallel()
	for _, name := range limited {
		b := newBench(t)
		b.profile = &policy.Profile{EditableSuffixes: []string{".md", ".py"}}
		for _, path := range []string{"a.md", "b.java", "script.PY"} {
			b.file(path, "old\nrest\n")
		}
		got := b.results(b.ok(name, each(name, "a.md", "b.java", "missing.md", "script.PY")))
		want := []fileResult{
			{"a.md", true, ""}, {"b.java", false, refusal(".java")},
			{"missing.md", false, b.path("missing.md") + ": no such file or directory"}, {"script.PY", true, ""},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
		for path, want := range map[string]string{"a.md": "new\nrest\n", "b.java": "old\nrest\n", "script.PY": "new\nrest\n"} {
			if got := b.content(path); got != want {
				t.Errorf("%s: %s holds %q", name, path, got)
			}
		}
	}
}

// TestListOfFilesInWhichNothingIsDone: the error has the same message for each file.
func TestListOfFilesInWhichNothingIsDone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.file("a", "other\n")
	r := b.do("filesystem-edit_search", each("filesystem-edit_search", "a", "b"))
	if got := b.results(r.Output); r.Status != umpire.ResultError || len(got) != 2 || got[0].Edited || got[1].Edited {
		t.Errorf("%s: %s", r.Status, r.Output)
	}
}

// TestListsMayShareFields: a file without a field uses that of the list.
func TestListsMayShareFields(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.file("a", "1\n2\n")
	b.file("b", "1\n2\n")
	b.ok("filesystem-edit", fields{
		"filePath": []any{"a", fields{"path": "b", "newContent": "own"}}, "startLine": 2, "endLine": 2, "newContent": "shared",
	})
	if b.content("a") != "1\nshared\n" || b.content("b") != "1\nown\n" {
		t.Errorf("a %q, b %q", b.content("a"), b.content("b"))
	}
	b.ok("filesystem-edit", fields{"filePath": []fields{
		{"path": "a", "startLine": 1, "endLine": 1, "newContent": ""}, {"path": "a", "startLine": 1, "endLine": 1, "newContent": "again"},
	}})
	if b.content("a") != "again\n" {
		t.Errorf("one file after the other: %q", b.content("a"))
	}
	b.fails("filesystem-edit", fields{"filePath": []any{}}, "names no file")
}

// TestBothToolsRefuseTheSame is S-7, S-8, S-67: one set of rules for both, for
// thirty names.
func TestBothToolsRefuseTheSame(t *testing.T) {
	t.Parallel()
	names := strings.Fields("a.md A.MD .md a..md a.mdx amd a.md.txt a.txt.md .env .gitignore LICENSE a. a.. .a. dir.md/LICENSE dir/a.md " +
		"dir/a.py a.test.ts a.ts .config.json a.json 文.md 文.档 a.Md a.mD md x.d/y.md a-b.md a_b.py Makefile")
	if len(names) != 30 {
		t.Fatalf("%d names", len(names))
	}
	refused := 0
	for _, path := range names {
		var said [2]fileResult
		for i, name := range limited {
			b := newBench(t)
			b.profile = &policy.Profile{EditableSuffixes: []string{".md", "TS"}}
			b.file(path, "old\n")
			b.file("other.md", "old\n")
			said[i] = b.results(b.ok(name, each(name, path, "other.md")))[0]
			if changed := b.content(path) == "new\n"; changed != said[i].Edited {
				t.Errorf("%s %s: says edited %v, and it is %q", name, path, said[i].Edited, b.content(path))
			}
		}
		if said[0] != said[1] {
			t.Errorf("%s: %+v and %+v", path, said[0], said[1])
		}
		if !said[0].Edited {
			refused++
		}
	}
	if refused != 17 {
		t.Errorf("%d names were refused", refused)
	}
}

// TestWhereALinkLeadsIsLimitedToo: a name that may be edited does not lead to a file
// that may not.
func TestWhereALinkLeadsIsLimitedToo(t *testing.T) {
	t.Parallel()
	for _, name := range limited {
		b := newBench(t)
		b.profile = &policy.Profile{EditableSuffixes: []string{".md"}}
		b.file("code.py", "old\n")
		b.file("b.md", "old\n")
		b.link("code.py", "a.md")
		got := b.results(b.ok(name, each(name, "a.md", "b.md")))
		if got[0].Edited || got[0].Message != refusal(".py") || b.content("code.py") != "old\n" {
			t.Errorf("%s: %+v, code.py holds %q", name, got, b.content("code.py"))
		}
	}
}

// TestOnlyWhatIsAllowedIsChanged: that a call may run does not mean that each of its
// files may be touched.
func TestOnlyWhatIsAllowedIsChanged(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, v := range []umpire.Verdict{umpire.Deny, umpire.Ask} {
		for tool, in := range map[string]fields{
			"Write":           {"file_path": "f", "content": "x"},
			"Edit":            {"file_path": "f", "old_string": "old", "new_string": "x"},
			"filesystem-edit": {"filePath": "f", "startLine": 1, "endLine": 1, "newContent": "x"},
			"Read":            {"file_path": "f"},
		} {
			b.file("f", "old\n")
			started := b.start(tool, in)
			started.Decision.Accesses[0].Verdict = v
			started.Decision.Reasons = nil
			r := b.Run(t.Context(), started)
			if r.Status != umpire.ResultError || r.Output != "the decision does not allow it" || b.content("f") != "old\n" {
				t.Errorf("%s, %v: %s %q", tool, v, r.Status, r.Output)
			}
		}
	}
}

// TestChangesAreShown: the result of a change holds its diff, if the model might have
// read the file, and is bounded.
func TestChangesAreShown(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const hunk = "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
	for tool, in := range map[string]fields{
		"Write":                  {"file_path": "f", "content": "one\n2\nthree\n"},
		"Edit":                   {"file_path": "f", "old_string": "two", "new_string": "2"},
		"filesystem-edit":        {"filePath": "f", "startLine": 2, "endLine": 2, "newContent": "2"},
		"filesystem-edit_search": {"filePath": "f", "searchContent": "two", "replaceContent": "2"},
	} {
		path := b.file("f", "one\ntwo\nthree\n")
		if out := b.ok(tool, in); !strings.HasSuffix(out, "\n--- "+path+"\n+++ "+path+"\n"+hunk) {
			t.Errorf("%s: %q", tool, out)
		}
		b.file("f", "one\ntwo\nthree\n")
		b.options.MayRead = func(_ context.Context, call umpire.Call, path string) bool {
			if call.ID != "c1" || path != "f" {
				t.Errorf("asked for %q of %q", path, call.ID)
			}
			return false
		}
		if out := b.ok(tool, in); strings.Contains(out, "three") || b.content("f") != "one\n2\nthree\n" {
			t.Errorf("%s, and not to be read: %q", tool, out)
		}
		b.options.MayRead = readsAll
	}
	b.file("long", strings.Repeat("a line\n", 100_000))
	if out := b.ok("Write", fields{"file_path": "long", "content": strings.Repeat("b line\n", 100_000)}); len(out) > maxDiff+500 || !strings.Contains(out, "more bytes of this change]") {
		t.Errorf("%d bytes", len(out))
	}
	if err := os.Truncate(b.file("huge", ""), maxEdit+1); err != nil {
		t.Fatal(err)
	}
	if out := b.ok("Write", fields{"file_path": "huge", "content": "x"}); !strings.HasSuffix(out, fmt.Sprintf("[%d bytes become 1, which are not shown]\n", maxEdit+1)) {
		t.Errorf("huge: %q", out)
	}
}

// TestPreview: the preview shows a change before it is made, even while the question is
// open. A refused change says so in place of its diff, and only a complete diff
// replaces fields of the input.
func TestPreview(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.profile = &policy.Profile{EditableSuffixes: []string{".md"}}
	path := b.file("a.md", "old\n")
	b.file("b.py", "old\n")
	asked := func(tool string, in fields) (umpire.Call, []umpire.Access) {
		started := b.start(tool, in)
		for i := range started.Decision.Accesses {
			if a := &started.Decision.Accesses[i]; a.Verdict == umpire.Allow {
				a.Verdict = umpire.Ask
			}
		}
		return started.Call, started.Decision.Accesses
	}
	change := "--- a.md\n+++ a.md\n@@ -1 +1 @@\n-old\n+new\n"
	for name, tt := range map[string]struct {
		tool string
		in   fields
		want Preview
	}{
		"edit":         {"Edit", fields{"file_path": "a.md", "old_string": "old", "new_string": "new"}, Preview{change, []string{"old_string", "new_string"}}},
		"write":        {"Write", fields{"file_path": "a.md", "content": "new\n"}, Preview{change, []string{"content"}}},
		"lines":        {"filesystem-edit", fields{"filePath": "a.md", "startLine": 1, "endLine": 1, "newContent": "new"}, Preview{change, []string{"newContent"}}},
		"no change":    {"Write", fields{"file_path": "a.md", "content": "old\n"}, Preview{}},
		"a new file":   {"Write", fields{"file_path": "new", "content": "x\n"}, Preview{"--- /dev/null\n+++ new\n@@ -0,0 +1 @@\n+x\n", []string{"content"}}},
		"a new folder": {"Write", fields{"file_path": "dir/sub/new", "content": "x\n"}, Preview{"--- /dev/null\n+++ dir/sub/new\n@@ -0,0 +1 @@\n+x\n", []string{"content"}}},
		"what is not found": {"Edit", fields{"file_path": "a.md", "old_string": "none", "new_string": "new"},
			Preview{Diff: "[a.md: " + path + ": old_string not found: read the file and copy the text exactly]\n"}},
		"several":             {"filesystem-edit", each("filesystem-edit", "a.md", "b.py"), Preview{Diff: change + "[b.py: the decision does not allow it]\n"}},
		"a command":           {"Bash", fields{"command": "rm a.md"}, Preview{}},
		"a file that is read": {"Read", fields{"file_path": "a.md"}, Preview{}},
	} {
		got, err := b.Preview(asked(tt.tool, tt.in))
		if unlike := cmp.Diff(tt.want, got); err != nil || unlike != "" {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, unlike)
		}
	}
	cut, err := b.Preview(asked("Write", fields{"file_path": "a.md", "content": strings.Repeat("long\n", maxDiff)}))
	if err != nil || !Whole(cut.Diff) || cut.Shown == nil {
		t.Errorf("a long diff is not whole: %v, stands for %q", err, cut.Shown)
	}
	cut, err = b.Preview(asked("Write", fields{"file_path": "a.md", "content": strings.Repeat("long\n", maxDiffSide/4)}))
	if err != nil || !strings.HasSuffix(cut.Diff, "which are not shown]\n") || cut.Shown != nil {
		t.Errorf("a diff that is cut: %v, stands for %q", err, cut.Shown)
	}
	if b.content("a.md") != "old\n" || b.content("b.py") != "old\n" {
		t.Error("a preview has changed a file")
	}
	if _, err := os.Stat(b.path("dir")); err == nil {
		t.Error("a preview has made a folder")
	}
	call, accesses := asked("Edit", fields{"file_path": "a.md", "old_string": "old", "new_string": "new"})
	b.link("b.py", "link")
	accesses[0].Target, accesses[0].Resolved = b.path("link"), b.path("link")
	call.Input = []byte(`{"file_path":"link","old_string":"old","new_string":"new"}`)
	if got, err := b.Preview(call, accesses); err != nil || !strings.Contains(got.Diff, "a link has appeared since the decision") {
		t.Errorf("through a link: %v %q", err, got.Diff)
	}
}
