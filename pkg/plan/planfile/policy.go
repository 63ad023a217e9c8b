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
	APIVersion string      `json:"apiVersion"`
	Kind       string      `json:"kind"`
	Metadata   metadata    `json:"metadata,omitzero"`
	Spec       plan.Policy `json:"spec"`
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
	return f.Spec, checkPolicy(&f.Spec, n, "spec.")
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
	if err := strict(n, &p); err != nil {
		return plan.Policy{}, true, inAnnotation(err)
	}
	return p, true, inAnnotation(checkPolicy(&p, n, ""))
}

func inAnnotation(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("metadata.annotations[%s]: %w", kruise.RolloutAnnotation, err)
}

// checkPolicy looks for what the types let through, and reads the words: what a file calls auto is
// empty in a policy.
func checkPolicy(p *plan.Policy, n *tree.Node, at string) error {
	c := &checker{root: n}
	p.Pull = chosen(c, at+"pull", p.Pull, plan.ParsePull)
	p.OnFailure = chosen(c, at+"onFailure", p.OnFailure, plan.ParseOnFailure)
	p.Driver = chosen(c, at+"driver", p.Driver, plan.ParseDriver)
	p.Drain = chosen(c, at+"drain", p.Drain, plan.ParseDrain)
	c.count(at+"parallel", p.Parallel)
	c.questions(at+"verify", p.Verify)
	for i := range p.Steps {
		path := fmt.Sprintf("%ssteps[%d]", at, i)
		c.questions(path+".verify", p.Steps[i].Verify)
		if p.Steps[i].To.Value == 0 {
			c.fault(path+".to", "write a number of pods, such as 3, or a percentage, such as 10%", "a value is wanted")
		}
	}
	if err := plan.CheckSteps(p.Steps); err != nil && len(c.faults) == 0 {
		c.place(at+"steps", err)
	}
	return errors.Join(c.faults...)
}

// chosen reads one word.
func chosen[T ~string](c *checker, path string, text T, parse func(string) (T, error)) T {
	v, err := parse(string(text))
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

func (c *checker) questions(path string, list []plan.Verify) {
	for i := range list {
		c.verify(fmt.Sprintf("%s[%d]", path, i), &list[i])
	}
}
