package policy_test

import (
	"fmt"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
)

func ExampleDecide() {
	rule, err := policy.ParseShort("Bash(npm test:*)")
	if err != nil {
		fmt.Println(err)
		return
	}
	rule.ID, rule.Action, rule.Source = "tests", umpire.Allow, umpire.SourceUser
	rules, err := policy.New([]umpire.Rule{rule}, policy.Options{Root: "/p", Home: "/home/u"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, words := range [][]string{{"npm", "test", "--", "x"}, {"python3", "x.py"}} {
		decision := policy.Decide(rules, policy.Query{
			Call: umpire.Call{Tool: "Bash"}, Facts: umpire.Facts{Accesses: []umpire.Access{
				{Kind: umpire.KindExec, Program: words[0], Words: words, Risk: umpire.Medium},
			}},
			Conditions: policy.Conditions{
				Mode: umpire.ModeDefault, Now: time.Now(),
			},
		})
		fmt.Println(decision.Verdict, "-", decision.Reason)
	}
	// Output:
	// allow - Allowed by rule: tests
	// ask - Tool "Bash" requires approval (moderate)
}

func ExampleParseShort() {
	rule, err := policy.ParseShort("Read(~/go/pkg/mod/**)")
	fmt.Println(rule.Tool, rule.Match.PathGlob, policy.FormatShort(rule), err)
	// Output: Read ~/go/pkg/mod/** Read(~/go/pkg/mod/**) <nil>
}
