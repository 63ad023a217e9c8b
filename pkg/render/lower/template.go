package lower

import (
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// template returns the pod template for a cluster without Kruise. Everything
// that needs no change is the very node that came in.
func (o *object) template(source *tree.Node) *tree.Node {
	return o.templateAt("spec.template", source)
}

// templateAt is template for one that stands elsewhere.
func (o *object) templateAt(at string, source *tree.Node) *tree.Node {
	o.reportTemplate(at, source)
	t := tree.Shallow(source)
	if spec := tree.Get(source, "spec"); tree.IsMap(spec) {
		spec = tree.Shallow(spec)
		if o.alwaysPull {
			o.pullPolicies(at, spec)
		}
		o.gates(at, spec)
		tree.Set(t, "spec", spec)
	}
	return t
}

// pullPolicies writes Always into containers without a policy, as Kruise's
// webhook does whatever the tag; init containers follow their tag on both
// sides (docs/kruise/sidecarset.md#observed-on-a-cluster).
func (o *object) pullPolicies(at string, spec *tree.Node) {
	field := at + ".spec.containers"
	containers := tree.Get(spec, "containers")
	if !tree.IsSeq(containers) {
		return
	}
	containers = tree.Shallow(containers)
	for i, c := range containers.Content {
		if !tree.IsMap(c) || tree.StrAt(c, "imagePullPolicy") != "" {
			continue
		}
		c = tree.Shallow(c)
		tree.InsertAfter(c, "image", "imagePullPolicy", tree.String("Always"))
		containers.Content[i] = c
		o.report(o.id("image-pull-policy"), fmt.Sprintf("%s[%d].imagePullPolicy", field, i), "")
	}
	tree.Set(spec, "containers", containers)
}

// gates removes the readiness gates whose condition only Kruise sets (docs/drivers.md). A template
// without other gates loses the field.
func (o *object) gates(at string, spec *tree.Node) {
	gates := tree.Get(spec, "readinessGates")
	if !tree.IsSeq(gates) {
		return
	}
	left := tree.Shallow(gates)
	left.Content = nil
	for i, g := range gates.Content {
		switch t := tree.StrAt(g, "conditionType"); t {
		case kruise.InPlaceUpdateReady, kruise.KruisePodReady:
			o.report(o.id("readiness-gates"), fmt.Sprintf("%s.spec.readinessGates[%d]", at, i),
				"the gate "+t+" is removed: only Kruise sets it, and without it the pods would never become ready")
		default:
			left.Content = append(left.Content, g)
		}
	}
	switch len(left.Content) {
	case len(gates.Content):
	case 0:
		tree.Delete(spec, "readinessGates")
	default:
		tree.Set(spec, "readinessGates", left)
	}
}

// reportTemplate reports what only Kruise reads in a template.
func (o *object) reportTemplate(at string, template *tree.Node) {
	if key := kruise.UsingEnhancedLivenessAnnotation; tree.Has(tree.Get(template, "metadata", "annotations"), key) {
		o.report(o.id("enhanced-liveness"), at+".metadata.annotations["+key+"]", "")
	}
}
