package planfile

import (
	"errors"
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// policyKind is the kind of a strategy file.
const policyKind = "RolloutStrategy"

// strategyFile is a policy as it is written; an annotation holds the spec alone.
type strategyFile struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   metadata `json:"metadata,omitzero"`
	Spec       strategy `json:"spec"`
}

type strategy struct {
	Steps      []strategyStep `json:"steps,omitempty"`
	Verify     []verify       `json:"verify,omitempty"`
	Pull       string         `json:"pull,omitempty"`
	Parallel   int            `json:"parallel,omitempty"`
	Timeout    duration       `json:"timeout,omitzero"`
	OnFailure  string         `json:"onFailure,omitempty"`
	Driver     string         `json:"driver,omitempty"`
	Drain      string         `json:"drain,omitempty"`
	Grace      duration       `json:"grace,omitzero"`
	HookAnswer hookAnswer     `json:"hookAnswer,omitzero"`
}

type strategyStep struct {
	To     amount   `json:"to"`
	Pause  *pause   `json:"pause,omitempty"`
	Verify []verify `json:"verify,omitempty"`
}

// ReadPolicy reads a strategy file.
func ReadPolicy(data []byte) (plan.Policy, error) {
	n, err := parse(data)
	if err != nil {
		return plan.Policy{}, err
	}
	if err := typed(n, plan.APIVersion, policyKind); err != nil {
		return plan.Policy{}, err
	}
	var f strategyFile
	if err := strict(n, &f); err != nil {
		return plan.Policy{}, err
	}
	return f.Spec.read(n, "spec.")
}

// PolicyOf reads the annotation kubectl-kruise.dev/rollout of a workload: what a
// strategy file has under spec, as YAML or JSON. ok is false without one.
func PolicyOf(w *cluster.Workload) (p plan.Policy, ok bool, err error) {
	text, ok := w.Annotations[kruise.RolloutAnnotation]
	if !ok {
		return plan.Policy{}, false, nil
	}
	n, err := parse([]byte(text))
	if err != nil {
		return plan.Policy{}, true, inAnnotation(err)
	}
	var s strategy
	if err := strict(n, &s); err != nil {
		return plan.Policy{}, true, inAnnotation(err)
	}
	p, err = s.read(n, "")
	return p, true, inAnnotation(err)
}

func inAnnotation(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("metadata.annotations[%s]: %w", kruise.RolloutAnnotation, err)
}

func (s *strategy) read(n *tree.Node, at string) (plan.Policy, error) {
	c := &checker{root: n}
	p := plan.Policy{Parallel: s.Parallel, Timeout: timeOf(s.Timeout), Grace: timeOf(s.Grace), HookAnswer: timeOf(duration(s.HookAnswer))}
	p.Pull = chosen(c, at+"pull", s.Pull, plan.ParsePull)
	p.OnFailure = chosen(c, at+"onFailure", s.OnFailure, plan.ParseOnFailure)
	p.Driver = chosen(c, at+"driver", s.Driver, plan.ParseDriver)
	p.Drain = chosen(c, at+"drain", s.Drain, plan.ParseDrain)
	c.count(at+"parallel", s.Parallel)
	p.Verify = questions(c, at+"verify", s.Verify)
	for i := range s.Steps {
		path := fmt.Sprintf("%ssteps[%d]", at, i)
		step := plan.PolicyStep{To: plan.Amount(s.Steps[i].To), Verify: questions(c, path+".verify", s.Steps[i].Verify)}
		if step.To.Value == 0 {
			c.fault(path+".to", "write a number of pods, such as 3, or a percentage, such as 10%", "a value is wanted")
		}
		if s.Steps[i].Pause != nil {
			step.Pause = &plan.Pause{For: timeOf(s.Steps[i].Pause.For)}
		}
		p.Steps = append(p.Steps, step)
	}
	if err := plan.CheckSteps(p.Steps); err != nil && len(c.faults) == 0 {
		c.place(at+"steps", err)
	}
	return p, errors.Join(c.faults...)
}

// chosen reads one word.
func chosen[T any](c *checker, path, text string, parse func(string) (T, error)) T {
	v, err := parse(text)
	if err != nil {
		c.place(path, err)
	}
	return v
}

// place gives a fault its field and line.
func (c *checker) place(path string, err error) {
	var e *tree.Error
	if !errors.As(err, &e) {
		e = &tree.Error{Msg: err.Error()}
	}
	c.fault(path, e.Hint, "%s", e.Msg)
}

func questions(c *checker, path string, list []verify) []plan.Verify {
	var out []plan.Verify
	for i := range list {
		c.verify(fmt.Sprintf("%s[%d]", path, i), &list[i])
		out = append(out, *list[i].read())
	}
	return out
}
