package tool

import "context"

// exitPlanTool ends plan mode. The gate shows the plan to the person and has switched
// the mode before the call runs, so the tool itself has nothing to do.
var exitPlanTool = tool{
	about: "Ends plan mode: shows the plan to the user, who approves it or says what is wrong with it. Call it " +
		"alone, when the plan is complete.",
	schema: `{"type":"object","properties":{
		"plan":{"type":"string","description":` +
		`"the plan, in Markdown: what is to be changed, in which files, and how it is checked"}},
		"required":["plan"]}`,
	run: (*Set).exitPlan,
}

func (s *Set) exitPlan(_ context.Context, u *use) (string, error) {
	if _, err := u.in.must("plan"); err != nil {
		return "", err
	}
	return "Plan mode is over. Carry the plan out: the planned files may be changed, and planned commands " +
		"that the person saw whole run once. All else asks as usual.", nil
}
