package run

import (
	"cmp"
	"errors"
	"os"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/llm"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/config"
)

// providers maps a provider's name to a function that opens a model by the name after the colon.
var providers = map[string]func(s *agentRun, name string, o llm.Options) (llm.Model, error){
	"script":           (*agentRun).script,
	"anthropic":        fromAnthropic,
	"openai":           fromOpenAI(llm.WireAuto),
	"openai-responses": fromOpenAI(llm.WireResponses),
	"openai-chat":      fromOpenAI(llm.WireChat),
}

// model opens the model of the flags or the profile, and the log of its requests. The
// function that it returns closes the log.
func (s *agentRun) model() (llm.Model, func(), error) {
	return s.openModel(cmp.Or(s.flags.model, s.conf.Agents[cmp.Or(s.flags.profile, config.MainAgent)].Model))
}

// openModel opens a model by its full name.
func (s *agentRun) openModel(full string) (llm.Model, func(), error) {
	const help = "umpire run --help"
	provider, name, _ := strings.Cut(full, ":")
	open := providers[provider]
	switch {
	case full == "":
		return nil, nil, app.Usage("umpire run --model anthropic:NAME TASK",
			"no model: pass --model, or set model in the agent's profile")
	case open == nil || name == "":
		return nil, nil, app.Usage(help, "model %q: want anthropic:NAME, openai:NAME or script:FILE", full)
	}
	model, err := open(s, name, llm.Options{Effort: s.flags.effort})
	if noKey, ok := errors.AsType[*llm.NoKeyError](err); ok {
		return nil, nil, app.Usage("export "+noKey.Variable+"=KEY", "%w", err)
	}
	if err != nil {
		return nil, nil, app.Usage(help, "%w", err)
	}
	return s.withLog(model)
}

func (s *agentRun) script(file string, o llm.Options) (llm.Model, error) {
	if o.Effort != "" {
		return nil, errors.New("--effort cannot be used with a script")
	}
	return llm.ReadScript(s.Absolute(file))
}

func fromAnthropic(_ *agentRun, name string, o llm.Options) (llm.Model, error) {
	model, err := llm.NewAnthropic(name, o)
	return llm.NewSteady(model), err
}

func fromOpenAI(w llm.Wire) func(*agentRun, string, llm.Options) (llm.Model, error) {
	return func(_ *agentRun, name string, o llm.Options) (llm.Model, error) {
		model, err := llm.NewOpenAI(name, w, o)
		return llm.NewSteady(model), err
	}
}

// withLog writes a model's requests to the log, if there is one.
func (s *agentRun) withLog(model llm.Model) (llm.Model, func(), error) {
	if s.flags.modelLog == "" {
		return model, func() {}, nil
	}
	file, err := os.OpenFile(s.Absolute(s.flags.modelLog), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, app.Failed(umpire.Errorf("--model-log: %w", err))
	}
	return llm.NewLog(model, file), func() {
		if err := file.Close(); err != nil {
			s.RemarkError(err)
		}
	}, nil
}
