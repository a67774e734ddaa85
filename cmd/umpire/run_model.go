package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/umpirehq/umpire/internal/llm"
)

// scriptPrefix begins the name of a model that plays a script.
const scriptPrefix = "script:"

// model opens the model that the flags or the profile name, and the log of what it is
// asked. The function that it returns closes the log.
func (s *stay) model() (llm.Model, func(), error) {
	name := orText(s.flags.model, s.conf.agents[orText(s.flags.profile, mainAgent)].Model)
	file, isScript := strings.CutPrefix(name, scriptPrefix)
	switch {
	case name == "":
		return nil, nil, usage("umpire run --model script:FILE TASK", "no model is named: --model, or model of the agent's profile")
	case !isScript || file == "":
		return nil, nil, usage("umpire run --help", "model %q: want script:FILE", name)
	}
	script, err := llm.ReadScript(s.absolute(file))
	if err != nil {
		return nil, nil, usage("umpire run --help", "%w", err)
	}
	return s.logged(script)
}

// logged has a model's requests written to the log, if there is one.
func (s *stay) logged(model llm.Model) (llm.Model, func(), error) {
	if s.flags.modelLog == "" {
		return model, func() {}, nil
	}
	file, err := os.OpenFile(s.absolute(s.flags.modelLog), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, failed(fmt.Errorf("--model-log: %w", err))
	}
	return llm.NewLog(model, file), func() {
		if err := file.Close(); err != nil {
			s.remark(err.Error())
		}
	}, nil
}
