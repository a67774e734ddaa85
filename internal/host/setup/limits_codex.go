package setup

// codexLimits returns the rules of Codex. The record of its session tells whether this turn runs
// commands without a sandbox: flags, profiles, its config and its own menu may all have set this.
func codexLimits(s *Start) (l Limits, err error) {
	switch {
	case s.Turn.Sandbox != "danger-full-access":
		return Limits{}, errSandboxed
	case s.Turn.Approval != "never" && s.Turn.Approval != "on-request":
		return Limits{}, errAsksFirst
	}
	home := s.folder("CODEX_HOME", ".codex")
	managed := []string{"/etc/codex/requirements.toml", "/etc/codex/managed_config.toml"}
	if err := readEach(managed, func([]byte) error { return errConditions }); err != nil {
		return Limits{}, err
	}
	folders := append(s.upward(".codex"), home, "/etc/codex")
	err = readEach(filesIn(folders, "rules/*.rules"), func(text []byte) error {
		list, err := readCodexRules(text)
		if err != nil {
			return err
		}
		return l.add(list)
	})
	return l, err
}
