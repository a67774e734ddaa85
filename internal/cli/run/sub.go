package run

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent"
	"github.com/umpirehq/umpire/internal/agent/llm"
	"github.com/umpirehq/umpire/internal/config"
)

// subAgents returns the sub-agents that an agent's profile allows: each with the tools of its profile, and
// with the model of the profile, or else with its parent's.
func (s *agentRun) subAgents(model llm.Model, session *umpire.Session) *agent.SubAgents {
	if !s.listedIn(session)("Task") {
		return nil
	}
	profile := session.Profile
	return &agent.SubAgents{
		Profiles: slices.Sorted(maps.Keys(s.conf.Agents)),
		Equip: func(ctx context.Context, session *umpire.Session,
			onOutput func(umpire.CallID, string)) (agent.Equipment, error) {
			own, closeLog := model, func() {}
			if name := s.profileOf(session).Model; name != "" &&
				cmp.Or(session.Profile, config.MainAgent) != cmp.Or(profile, config.MainAgent) {
				var err error
				if own, closeLog, err = s.openModel(name); err != nil {
					return agent.Equipment{}, err
				}
			}
			box, set, cleanUp, err := s.toolbox(ctx, session, onOutput)
			if err != nil {
				closeLog()
				return agent.Equipment{}, err
			}
			return agent.Equipment{Model: own, Tools: box, Close: func() {
				s.leaveBackground(ctx, set, true)
				cleanUp()
				closeLog()
			}}, nil
		},
	}
}
