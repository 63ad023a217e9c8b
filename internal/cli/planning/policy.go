package planning

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// policyFlags say how the change is rolled out.
type policyFlags struct {
	steps      string
	pauseAfter string
	pause      time.Duration
	urls       []string
	commands   []string
	strategy   string
	driver     string
	drain      string
	pull       string
	onFailure  string
	timeout    time.Duration
	grace      time.Duration
	hookAnswer string
}

func (p *policyFlags) addFlags(fl *pflag.FlagSet) {
	fl.StringVar(&p.steps, "steps", "", "pods updated after each step, such as 1,10%,50%,100%")
	fl.StringVar(&p.pauseAfter, "pause-after", "", "stops of --steps to pause after, such as 1,10%, or all; 10%=5m continues after 5 minutes")
	fl.DurationVar(&p.pause, "pause", 0, "duration of these pauses; without it they wait for approval")
	fl.StringArrayVar(&p.urls, "verify-url", nil, "URL that must return 2xx after each step")
	fl.StringArrayVar(&p.commands, "verify-command", nil, "command that must succeed after each step")
	fl.StringVar(&p.strategy, "strategy", "", "file with the whole policy; flags override it")
	fl.StringVar(&p.driver, "driver", "", "driver that replaces pods: kruise, native, client or auto")
	fl.StringVar(&p.drain, "drain", "", "with the driver client, how pods are taken out of service: label, gate, none or auto")
	fl.StringVar(&p.pull, "pull-images", "", "pull new images before any pod changes: first, never, or auto")
	fl.StringVar(&p.onFailure, "on-failure", "", "action when a step fails: pause, rollback or abort")
	fl.DurationVar(&p.timeout, "step-timeout", 0, "timeout of each step (default: scales with the number of pods)")
	fl.StringVar(&p.hookAnswer, "hook-answer", "", "assumed time until a lifecycle hook is answered: 5s, or never")
	fl.DurationVar(&p.grace, "grace", 0, "with the driver client, time a pod is out of service before its containers change")
}

// The places that a plan's commands may come from, beside the command line.
const (
	FromStrategy   = "the strategy file"
	fromAnnotation = "the annotation " + kruise.RolloutAnnotation
)

// Untyped returns the commands of a plan that no flag names, and where they come from.
func (o *Maker) Untyped(p *plan.Plan) (from string, commands []string) {
	rest := *p
	rest.Steps = slices.DeleteFunc(slices.Clone(p.Steps), func(s plan.Step) bool {
		return s.Verify != nil && slices.ContainsFunc(o.policy.commands, func(command string) bool { return slices.Equal(s.Verify.Command, shell(command)) })
	})
	if from = fromAnnotation; o.policy.strategy != "" {
		from = FromStrategy
	}
	return from, rest.Commands(0)
}

// shell is how a command of --verify-command is run.
func shell(command string) []string { return []string{"sh", "-c", command} }

// given reports whether any of the flags was.
func (p *policyFlags) given() bool {
	return p.steps+p.pauseAfter+p.strategy+p.driver+p.drain+p.pull+p.onFailure != "" ||
		p.pause+p.timeout+p.grace != 0 || len(p.urls)+len(p.commands) > 0
}

// complete registers what the shell may offer for the values of flags.
func (p *policyFlags) complete(c *cobra.Command) {
	for flag, values := range map[string][]string{
		"driver": {"auto", "kruise", "native", "client"}, "drain": {"auto", "label", "gate", "none"},
		"pull-images": {"auto", "first", "never"}, "on-failure": {"pause", "rollback", "abort"},
		"steps": {"1,100%", "1,10%,50%,100%"}, "pause-after": {"1", "all"},
	} {
		command.Offer(c, flag, values...)
	}
	_ = c.MarkFlagFilename("strategy", "yaml", "yml", "json")
}

// flag marks an error as one of usage, of a flag.
func flag(name string, err error) error {
	if err == nil {
		return nil
	}
	hint := ""
	if place, ok := errors.AsType[*tree.Error](err); ok {
		hint = place.Hint
	}
	return command.Usagef(hint, "--%s: %w", name, err)
}

// read lays the flags over a policy.
func (p *policyFlags) read(into *plan.Policy) error {
	var err error
	if p.steps != "" {
		if into.Steps, err = plan.ParseSteps(p.steps); err != nil {
			return flag("steps", err)
		}
	}
	if err := p.pauses(into); err != nil {
		return err
	}
	for _, url := range p.urls {
		into.Verify = append(into.Verify, plan.Verify{URL: url})
	}
	for _, command := range p.commands {
		into.Verify = append(into.Verify, plan.Verify{Command: shell(command)})
	}
	if p.timeout > 0 {
		into.Timeout = plan.Duration(p.timeout)
	}
	if p.grace > 0 {
		into.Grace = plan.Duration(p.grace)
	}
	return p.words(into)
}

// pauses reads both flags: one says where, the other for how long.
func (p *policyFlags) pauses(into *plan.Policy) error {
	where := p.pauseAfter
	if where == "" && p.pause > 0 {
		where = "all"
	}
	if where == "" {
		return nil
	}
	if len(into.Steps) == 0 {
		return command.Usagef("for instance --steps 1,50%,100% --pause-after 1", "--pause-after needs --steps")
	}
	if p.pause > 0 {
		parts := strings.Split(where, ",")
		for i, part := range parts {
			if !strings.Contains(part, "=") {
				parts[i] = part + "=" + p.pause.String()
			}
		}
		where = strings.Join(parts, ",")
	}
	return flag("pause-after", into.PauseAfter(where))
}

func (p *policyFlags) words(into *plan.Policy) error {
	if err := word("driver", p.driver, &into.Driver, plan.ParseDriver); err != nil {
		return err
	}
	if err := word("drain", p.drain, &into.Drain, plan.ParseDrain); err != nil {
		return err
	}
	if err := word("pull-images", p.pull, &into.Pull, plan.ParsePull); err != nil {
		return err
	}
	if p.hookAnswer != "" {
		d, err := plan.ParseHookAnswer(p.hookAnswer)
		if err != nil {
			return flag("hook-answer", err)
		}
		into.HookAnswer = d
	}
	return word("on-failure", p.onFailure, &into.OnFailure, plan.ParseOnFailure)
}

// word reads a flag that was given into its place in the policy.
func word[T ~string](name, text string, into *T, parse func(string) (T, error)) error {
	if text == "" {
		return nil
	}
	v, err := parse(text)
	if err == nil {
		*into = v
	}
	return flag(name, err)
}
