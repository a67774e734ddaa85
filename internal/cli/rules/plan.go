package rules

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files/lazyregexp"
	"github.com/umpirehq/umpire/shell"
)

// planners are the tools that show a plan or a list of steps.
var planners = []string{"ExitPlanMode", "TodoWrite"}

// maxPlanned bounds the calls that are read from the plans of a session.
const maxPlanned = 100

// addPlanned adds the calls that the plans of the past name. They were not made: they count as no times.
func (past *pastCalls) addPlanned(ctx context.Context, batches *batchCache) error {
	seen := map[string]bool{}
	for _, p := range slices.Clone(past.calls) {
		if !slices.Contains(planners, p.tool) {
			continue
		}
		call, err := p.loadCall(ctx, batches)
		if err != nil {
			return err
		}
		if call == nil {
			continue
		}
		for _, planned := range readPlan(call) {
			if key := planned.Tool + string(planned.Input); !seen[key] && len(seen) < maxPlanned {
				seen[key] = true
				past.calls = append(past.calls, &pastCall{root: p.root, dir: p.dir, own: p.own, session: p.session,
					call: &planned})
			}
		}
	}
	return nil
}

var (
	codeBlock = lazyregexp.Regexp{Text: "(?ms)^[ \t]*```(sh|bash|shell|zsh|console)?[ \t]*$\n(.*?)^[ \t]*```[ \t]*$"}
	codeSpan  = lazyregexp.Regexp{Text: "`([^`\n]+)`"}
	fileName  = lazyregexp.Regexp{Text: `^(?:[\w.@-]+/)*[\w.@-]*\w\.[A-Za-z]\w{0,7}$`}
)

// readPlan returns the calls that a plan names: the commands in its code, and changes of the files that it mentions.
func readPlan(plan *umpire.Call) (calls []umpire.Call) {
	add := func(tool string, input map[string]string) {
		if data, err := json.Marshal(input); err == nil {
			calls = append(calls, umpire.Call{Tool: tool, Dir: plan.Dir, Input: data})
		}
	}
	for _, text := range stringsIn(plan.Input) {
		var code []string
		for _, block := range codeBlock.Get().FindAllStringSubmatch(text, -1) {
			code = append(code, strings.Split(block[2], "\n")...)
		}
		for _, span := range codeSpan.Get().FindAllStringSubmatch(codeBlock.Get().ReplaceAllString(text, ""), -1) {
			code = append(code, span[1])
		}
		for _, line := range code {
			line = strings.TrimPrefix(strings.TrimSpace(line), "$ ")
			program, _, _ := strings.Cut(line, " ")
			if _, known := shell.Describe(program, nil); known {
				add("Bash", map[string]string{"command": line})
			}
		}
		for word := range strings.FieldsSeq(text) {
			word = strings.Trim(word, "`*_()[]<>\"',:;.")
			if !fileName.Get().MatchString(word) || !filepath.IsLocal(word) {
				continue
			}
			_, err := os.Stat(filepath.Join(plan.Dir, word))
			if err == nil || strings.Contains(word, "/") {
				add("Edit", map[string]string{"file_path": word, "old_string": "a", "new_string": "b"})
			}
		}
	}
	return calls
}

// stringsIn returns the strings of a JSON value, in order.
func stringsIn(input json.RawMessage) (all []string) {
	var list []json.RawMessage
	var fields map[string]json.RawMessage
	var text string
	switch {
	case json.Unmarshal(input, &text) == nil:
		return []string{text}
	case json.Unmarshal(input, &list) == nil:
	case json.Unmarshal(input, &fields) == nil:
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			list = append(list, fields[name])
		}
	}
	for _, value := range list {
		all = append(all, stringsIn(value)...)
	}
	return all
}
