package policy

// An OrderRow is one row of the order of decision, in words.
type OrderRow struct {
	Row  int // its number, which reasons carry
	Name string
	When string // the accesses it applies to
	Does string // its verdict, and how to lift it
}

// Order is the order of decision: the first row that applies to an access settles it. Row
// numbers never change, so a later addition is placed by its rank, not its number.
var Order = [...]OrderRow{
	{rowInvalid, "input", "malformed input, or a tool the profile does not list", "deny"},
	{rowSuffix, "suffix limit", "suffix limit of the profile", "deny"},
	{rowHardStop, "hard stop", "critical risk, forbidden path", "deny; nothing overrides it"},
	{rowDenyRule, "deny rule", "deny rule", "deny"},
	{rowPlan, "plan mode", "plan mode, and not a read", "deny"},
	{rowControl, "control file", "control file", "ask; each approval is for once"},
	{rowAskRule, "ask rule", "ask rule, of people or about secrets", "ask"},
	{rowSandbox, "sandbox", "a command that would run without a sandbox", "ask; no rule or mode overrides it"},
	{rowDegraded, "degraded", "a rule file that may deny or ask cannot be read", "ask; no rule or mode overrides it"},
	{rowBypass, "bypass mode", "bypass mode", "allow"},
	{rowAutonomy, "autonomy", "your autonomy level lets it run", "allow"},
	{rowExternal, "outside project", "outside the project, no path rule or grant", "ask, or deny if so configured"},
	{rowSafe, "safe", "safe or low risk, mode not ask", "allow"},
	{rowAllowRule, "allow rule", "allow rule", "allow"},
	{rowGrant, "grant", "grant", "allow"},
	{rowAllowAll, "allow all", "allowAll", "allow"},
	{rowCode, "project code", "code of the project, without a sandbox", "ask, unless the clone's code is trusted"},
	{rowMode, "mode", "the mode", "ask or deny"},
}

// RowName returns the name of a row of the order of decision, or "" for an unknown row.
func RowName(row int) string {
	for i := range Order {
		if Order[i].Row == row {
			return Order[i].Name
		}
	}
	return ""
}
