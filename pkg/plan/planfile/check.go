package planfile

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// checker gathers the faults of a document.
type checker struct {
	root   *tree.Node
	faults []error
}

func (c *checker) fault(path, hint, format string, args ...any) {
	c.faults = append(c.faults, tree.Errorf(c.root, path, hint, format, args...))
}

// word wants one of some words.
func word[T ~string](c *checker, path string, value T, words []T) {
	if slices.Contains(words, value) {
		return
	}
	var known []string
	for _, w := range words {
		if w != "" {
			known = append(known, string(w))
		}
	}
	c.fault(path, "write one of: "+strings.Join(known, ", "), "%q is not known here", value)
}

// set wants a value that is not empty.
func (c *checker) set(path, value string) {
	if value == "" {
		c.fault(path, "fill it in", "a value is wanted")
	}
}

// same wants what is read first to name the target, where it names anything.
func (c *checker) same(path, value, target string) {
	if value != "" && value != target {
		c.fault(path, "see spec.target", "the plan is for %q, not %q", target, value)
	}
}

// count wants a number of something.
func (c *checker) count(path string, value int) {
	if value < 0 {
		c.fault(path, "write a number from 0 on", "%d is too small", value)
	}
}

var stepName = regexp.MustCompile(`^[A-Za-z0-9.%-]{1,63}$`)

// check looks for what the types let through.
func (d *document) check(n *tree.Node) error {
	c := &checker{root: n}
	s := &d.Spec
	c.target("spec.target", &s.Target)
	if s.Target.Carrier != nil {
		c.target("spec.target.carrier", s.Target.Carrier)
	}
	c.same("metadata.name", d.Metadata.Name, s.Target.Name)
	c.same("metadata.namespace", d.Metadata.Namespace, s.Target.Namespace)
	word(c, "spec.driver", s.Driver, drivers)
	word(c, "spec.drain", s.Drain, drains)
	word(c, "spec.change.mode", s.Change.Mode, modes)
	c.set("spec.change.toHash", s.Change.ToHash)
	c.count("spec.limits.replicas", s.Limits.Replicas)
	c.count("spec.limits.maxUnavailable", s.Limits.MaxUnavailable)
	c.count("spec.limits.maxSurge", s.Limits.MaxSurge)
	if !tree.Has(tree.Get(n, "spec"), "steps") {
		c.fault("spec.steps", "a plan that does nothing has an empty list", "steps are wanted")
	}
	names := map[string]bool{}
	for i := range s.Steps {
		c.step(fmt.Sprintf("spec.steps[%d]", i), &s.Steps[i], names)
	}
	return errors.Join(c.faults...)
}

func (c *checker) target(path string, t *plan.Target) {
	c.set(path+".apiVersion", t.APIVersion)
	c.set(path+".kind", t.Kind)
	c.set(path+".name", t.Name)
	if t.APIVersion == "" || t.Kind == "" || t.Name == "" {
		return
	}
	if err := t.Ref().Check(); err != nil {
		c.fault(path, "copy it from the manifest", "%v", err)
	}
}

func (c *checker) step(path string, s *plan.Step, names map[string]bool) {
	switch {
	case !stepName.MatchString(s.Name):
		c.fault(path+".name", "letters, digits, - . and %, at most 63", "%q is not a name of a step", s.Name)
	case names[s.Name]:
		c.fault(path+".name", "progress is kept by name: give each step its own", "%q is there twice", s.Name)
	}
	names[s.Name] = true
	if s.Kind == "scale" {
		c.fault(path+".kind", "make the plan again: its first write has the number of pods, too", "no step of a plan is of the kind scale any more")
	} else {
		word(c, path+".kind", s.Kind, stepKinds)
	}
	word(c, path+".onFailure", s.OnFailure, failures)
	c.count(path+".updated", s.Updated)
	c.count(path+".kept", s.Kept)
	for i, p := range s.Patches {
		c.patch(fmt.Sprintf("%s.patches[%d]", path, i), &p)
	}
	for i, p := range s.Pods {
		c.set(fmt.Sprintf("%s.pods[%d].name", path, i), p.Name)
		word(c, fmt.Sprintf("%s.pods[%d].mode", path, i), p.Mode, modes)
	}
	c.conditions(path+".before", s.Before)
	c.conditions(path+".after", s.After)
	c.part(path+".pause", s, plan.StepPause, s.Pause != nil)
	c.part(path+".verify", s, plan.StepVerify, s.Verify != nil)
	c.part(path+".pull", s, plan.StepPullImages, s.Pull != nil)
	c.part(path+".containers", s, plan.StepRecreateContainers, s.Containers != nil)
	if s.Verify != nil {
		c.verify(path+".verify", s.Verify)
	}
	if s.Containers != nil {
		word(c, path+".containers.method", s.Containers.Method, methods)
	}
}

// part wants what belongs to a kind of step there, and nowhere else.
func (c *checker) part(path string, s *plan.Step, kind plan.StepKind, there bool) {
	switch {
	case s.Kind == kind && !there:
		c.fault(path, "", "a step of kind %s needs it", kind)
	case s.Kind != kind && there:
		c.fault(path, "remove it, or change the kind", "it belongs to steps of kind %s", kind)
	}
}

func (c *checker) patch(path string, p *plan.Patch) {
	word(c, path+".type", p.Type, patchTypes)
	word(c, path+".subresource", p.Subresource, subparts)
	c.count(path+".reached", p.Reached)
	if p.Target != nil {
		c.target(path+".target", p.Target)
	}
	_, list := p.Body.([]any)
	_, mapping := p.Body.(map[string]any)
	if p.Type == plan.PatchJSON && !list || p.Type != plan.PatchJSON && !mapping {
		c.fault(path+".patch", "a JSON patch is a list of operations, other patches are mappings", "this is no %s patch", p.Type)
	}
}

func (c *checker) conditions(path string, list []plan.Condition) {
	for i, have := range list {
		word(c, fmt.Sprintf("%s[%d].type", path, i), have.Type, conditions)
	}
}

// verify wants exactly one question.
func (c *checker) verify(path string, v *plan.Verify) {
	n := 0
	for _, there := range []bool{len(v.Command) > 0, v.URL != "", v.Prometheus != "", v.Job != nil} {
		if there {
			n++
		}
	}
	if n != 1 {
		c.fault(path, "set one of: command, url, prometheus, job", "%d questions, want one", n)
	}
	if v.Prometheus != "" {
		c.set(path+".query", v.Query)
		c.set(path+".threshold", v.Threshold)
	}
	if v.JSONPath != "" && v.URL == "" {
		c.fault(path+".jsonPath", "it reads the answer of url", "it needs a url")
	}
	c.count(path+".attempts", v.Attempts)
}
