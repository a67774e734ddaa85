package view

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
)

// fixedTexts are kept letter by letter, since programs and people rely on them.
var fixedTexts = strings.NewReplacer(
	"工具请求执行:", "", "已允许工具: ", "", "已拒绝工具: ", "", "类型文件的权限,请注意你的任务权限范围", "",
)

// oneWord holds words for things that have another word here: each thing has one.
var oneWord = map[string]string{
	"关卡": "闸门", "门禁": "闸门", "智能体": "代理", "代理人": "代理", "凭证": "凭据", "文件夹": "目录", "沙盒": "沙箱", "时间轴": "时间线",
	"许可": "允许 or 批准", "同意": "批准", "工程": "项目", "您": "你", "指令": "命令", "扩展名": "后缀", "家目录": "主目录", "撤回": "收回 or 撤销",
	"提问": "询问", "准则": "规则", "聊天": "对话", "清除会话": "移除会话", "被清除": "被移除", "无法清除": "无法移除",
}

var (
	codeSpan = regexp.MustCompile("`[^`\n]*`")
	beside   = regexp.MustCompile(`\p{Han}[,:;?!()]|[,:;?!()]\p{Han}|\p{Han} \(|[,;] \p{Han}`)
)

// faultsOf returns the faults of a Chinese text.
func faultsOf(text string) (faults []string) {
	text = codeSpan.ReplaceAllString(fixedTexts.Replace(text), "x")
	for _, found := range beside.FindAllString(text, -1) {
		faults = append(faults, "an English mark beside Chinese: "+strconv.Quote(found))
	}
	for word, want := range oneWord {
		if strings.Contains(text, word) {
			faults = append(faults, word+" is called "+want+" here")
		}
	}
	return faults
}

func hasHan(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}

// TestChineseTexts: every Chinese text of the program has Chinese marks, and one word for
// each thing.
func TestChineseTexts(t *testing.T) {
	t.Parallel()
	texts := 0
	see := func(where, text string) {
		if !hasHan(text) {
			return
		}
		texts++
		for _, fault := range faultsOf(text) {
			t.Errorf("%s: %s in %q", where, fault, text)
		}
	}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch name := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && (strings.HasPrefix(name, ".") && path != root || name == "fake" || name == "bin"):
			return filepath.SkipDir
		case strings.HasSuffix(name, ".po"):
			data, err := os.ReadFile(path)
			for line := range strings.Lines(string(data)) {
				_, quoted, _ := strings.Cut(strings.TrimSpace(line), " ")
				if strings.HasPrefix(line, `"`) {
					quoted = strings.TrimSpace(line)
				}
				if text, err := strconv.Unquote(quoted); err == nil {
					see(path, text)
				}
			}
			return err
		case strings.HasSuffix(name, ".golden") && strings.Contains(name, "_zh_"), strings.HasSuffix(name, ".zh.md"):
			data, err := os.ReadFile(path)
			for line := range strings.Lines(string(data)) {
				_, chinese, translated := strings.Cut(line, "\t")
				if !translated {
					chinese = line
				}
				see(path, chinese)
			}
			return err
		case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			return literals(path, see)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if texts < 1500 {
		t.Errorf("only %d Chinese texts were found", texts)
	}
}

// literals shows the texts that a source file holds.
func literals(path string, see func(where, text string)) error {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for node := range ast.Preorder(file) {
		literal, is := node.(*ast.BasicLit)
		if !is || literal.Kind != token.STRING {
			continue
		}
		text, err := strconv.Unquote(literal.Value)
		if err != nil {
			return err
		}
		see(fset.Position(literal.Pos()).String(), text)
	}
	return nil
}

func TestFaultsOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"风险：高": 0, "风险:高": 1, "高,低": 1, "等待(两个)": 2, "等待 (two)": 1, "见 `a:会话`": 0, "Bash 工具请求执行:": 0, "关卡": 1, "a, b: 无": 0, "%s, 两个": 1,
	} {
		if got := faultsOf(text); len(got) != want {
			t.Errorf("%q has %d faults, want %d: %q", text, len(got), want, got)
		}
	}
}

func TestJoined(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ got, want string }{
		{Joined("risk", ": ", "high"), "risk: high"},
		{Joined("风险", ": ", "high"), "风险：high"},
		{Joined("x", "; ", "两个"), "x；两个"},
		{Joined("名称", ":", ""), "名称："},
		{List([]string{"a", "b", "两个", "c"}, ", "), "a, b，两个，c"},
		{Bracketed("a", "b"), "a (b)"},
		{Bracketed("a", "已排队"), "a（已排队）"},
	} {
		if tt.got != tt.want {
			t.Errorf("%q, want %q", tt.got, tt.want)
		}
	}
}

// TestOrderInChinese: every row of the order of decision has its name in the language of the reader.
func TestOrderInChinese(t *testing.T) {
	t.Parallel()
	for _, r := range policy.Order {
		if name := RowName(r.Row, chineseText); !hasHan(name) {
			t.Errorf("row %d is called %q", r.Row, name)
		}
	}
	ref := &umpire.RuleRef{ID: "r", Source: umpire.SourceProject, File: "a.json", Line: 3}
	if got := RuleText(ref, chineseText); got != "r（项目 a.json:3）" {
		t.Errorf("a rule is called %q", got)
	}
}
