package check_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/check"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// verdict is what the real cluster answered.
type verdict struct {
	Operation check.Operation `yaml:"operation"`
	Allowed   bool            `yaml:"allowed"`
	By        string          `yaml:"by"`
	Message   string          `yaml:"message"`
	Fields    []string        `yaml:"fields"`
}

// TestConformanceLint asks the check what the real webhooks and schemas were
// asked: what they took must pass and be stored alike, what they refused must
// not, and where both sides name fields they must name a common one.
func TestConformanceLint(t *testing.T) {
	conformance.Area(t, "lint", func(t *testing.T, c conformance.Case) error {
		t.Helper()
		var want verdict
		if err := yaml.Unmarshal([]byte(text(t, c, "verdict.yaml")), &want); err != nil {
			return err
		}
		faults := judged(t, c, want.Operation)
		switch {
		case want.Allowed && len(faults) > 0:
			return fmt.Errorf("refused: %w", all(faults))
		case !want.Allowed && len(faults) == 0:
			return fmt.Errorf("accepted, but Kruise says: %s", want.Message)
		case !want.Allowed && !namesOne(faults, want):
			return fmt.Errorf("none of the fields %q is named: %w", want.Fields, all(faults))
		case c.Has("stored.yaml"):
			return stored(t, c)
		}
		return nil
	})
}

// judged asks for the case's operation. What cannot even be read is refused as
// what cannot be decoded.
func judged(t *testing.T, c conformance.Case, operation check.Operation) []check.Fault {
	t.Helper()
	in, err := load.Parse("object.yaml", []byte(text(t, c, "object.yaml")))
	if err != nil {
		return []check.Fault{{Rule: check.UnknownField, Error: &resource.Error{File: "object.yaml", Err: err}}}
	}
	around := []*resource.Resource{configuration()}
	q := check.Request{Operation: operation, Object: in[0], Known: true}
	if c.Has("before.yaml") {
		q.Old = golden.Parse(t, text(t, c, "before.yaml"))[0]
		around = append(around, q.Old)
	}
	if c.Has("setup.yaml") {
		around = append(around, golden.Parse(t, text(t, c, "setup.yaml"))...)
	}
	waited := readWaited(t, c)
	for _, r := range around {
		waited.settle(r)
	}
	if operation == check.Delete {
		waited.settle(q.Object)
	}
	faults := check.Object(newContext(in, around), q)
	return slices.DeleteFunc(faults, func(f check.Fault) bool { return f.Accepted })
}

// configuration is the ConfigMap that was there when the verdicts were recorded.
func configuration() *resource.Resource {
	return resource.Parsed(tree.FromValue(conformance.Configuration()), nil, resource.Origin{})
}

// waited is what a case says was waited for before asking.
type waited struct {
	Pods    int  `yaml:"waitPods"`
	Claim   bool `yaml:"waitPVC"`
	Seconds int  `yaml:"wait"`
}

func readWaited(t *testing.T, c conformance.Case) (w waited) {
	t.Helper()
	if !c.Has("case.yaml") {
		return w
	}
	if err := yaml.Unmarshal([]byte(text(t, c, "case.yaml")), &w); err != nil {
		t.Fatal(err)
	}
	return w
}

// settle gives an object of the cluster the phase that it had by then. Pods that
// nobody waited for have not started yet.
func (w waited) settle(r *resource.Resource) {
	phase := func(name string) { tree.SetAt(r.Edit(), tree.String(name), "status", "phase") }
	switch {
	case r.Kind() == "Pod" && w.Pods == 0 && w.Seconds == 0:
		phase("Pending")
	case r.Kind() == "PersistentVolumeClaim" && !w.Claim:
		phase("Pending")
	case r.Kind() == "PersistentVolumeClaim":
		phase("Bound")
	}
}

func text(t *testing.T, c conformance.Case, file string) string {
	t.Helper()
	data, err := c.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// vague are webhooks whose messages name fields imprecisely
// (docs/kruise/sidecarset.md#observed-on-a-cluster).
var vague = []string{"vsidecarset", "vpodprobemarker", "vpodunavailablebudget", "vephemeraljobs", "vadvancedcronjob"}

// namesOne reports whether a fault names one of the recorded fields, something
// above or below it, or at least another field of the same part of the spec: the
// server's paths are often imprecise, and ours may be better.
func namesOne(faults []check.Fault, want verdict) bool {
	for _, webhook := range vague {
		if strings.Contains(want.By, webhook) {
			return true
		}
	}
	for _, field := range want.Fields {
		for _, f := range faults {
			if f.Field != "" && (strings.HasPrefix(f.Field, field) || strings.HasPrefix(field, f.Field) || part(f.Field) == part(field)) {
				return true
			}
		}
	}
	return len(want.Fields) == 0
}

// part is a path's first two fields, such as spec.template.
func part(path string) string {
	steps := strings.SplitN(path, ".", 3)
	if len(steps) < 2 {
		return path
	}
	field, _, _ := strings.Cut(steps[1], "[")
	return steps[0] + "." + field
}

func all(faults []check.Fault) error {
	errs := make([]error, len(faults))
	for i, f := range faults {
		errs[i] = fmt.Errorf("%w [%s]", f.Error, f.Rule)
	}
	return errors.Join(errs...)
}

// checked checks a stream beside what is in the cluster.
func checked(t *testing.T, stream, context string) error {
	t.Helper()
	return checkedList(golden.Parse(t, stream), golden.Parse(t, context))
}

func checkedList(in, context []*resource.Resource) error {
	return check.Run(newContext(in, context), in)
}

func newContext(in, around []*resource.Resource) *stage.Context {
	return &stage.Context{
		Facts:    resource.NewFacts(in, around, ""),
		Findings: &finding.Reporter{},
		Expand:   func(string) bool { return true },
		Kruise:   kruise.Next,
	}
}
