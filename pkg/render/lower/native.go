package lower

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// form is what a CloneSet becomes (docs/fidelity.md).
type form struct {
	kind string
	// client: this tool replaces the pods, the native parent must not.
	client bool
}

// formOf chooses: claims need a StatefulSet, and a Deployment cannot leave its
// pods alone.
func formOf(driver stage.Driver, claims bool) form {
	client := driver == stage.Client
	switch {
	case claims:
		return form{kind: kruise.KindStatefulSet, client: client}
	case client:
		return form{kind: kruise.KindReplicaSet, client: true}
	default:
		return form{kind: kruise.KindDeployment}
	}
}

func (f form) deployment() bool  { return f.kind == kruise.KindDeployment }
func (f form) statefulSet() bool { return f.kind == kruise.KindStatefulSet }
func (f form) replicaSet() bool  { return f.kind == kruise.KindReplicaSet }

// rule returns the catalogue entry of a field for this form: the plain one for
// the native forms, the one ending in -client for the client driver.
func (f form) rule(id string) string {
	if f.client {
		return id + "-client"
	}
	return id
}

// ruleByKind is rule for fields on which the two native forms differ.
func (f form) ruleByKind(id string) string {
	if f.statefulSet() && !f.client {
		return id + "-statefulset"
	}
	return f.rule(id)
}

// metadata returns the metadata of the native workload: the source's, with the
// label and the annotation by which it is found again (docs/drivers.md). What
// an earlier stage wrote there stays.
func (o *object) metadata(source *tree.Node) *tree.Node {
	m := stage.Metadata(source)
	o.identify(m)
	return m
}

// identify writes that label into metadata, a copy, and the annotation when the spec is
// read again later: not for kinds without a rollout, nor for a part of another object.
func (o *object) identify(m *tree.Node) {
	if tree.Has(tree.Get(m, "annotations"), kruise.ProtectOperationsAnnotation) {
		// A field of the newest version: no native object has it.
		annotations := stage.Block(tree.Get(m, "annotations"))
		tree.Delete(annotations, kruise.ProtectOperationsAnnotation)
		if tree.Set(m, "annotations", annotations); len(annotations.Content) == 0 {
			tree.Delete(m, "annotations")
		}
	}
	setOnce(m, "labels", kruise.SourceLabel, tree.String(o.source()))
	if own, _, _ := strings.Cut(o.source(), "."); o.c.OmitStrategy || !kruise.KeepsStrategy(o.r.Kind()) || own != strings.ToLower(o.r.Kind()) {
		return
	}
	strategy := tree.String(o.strategyText())
	strategy.Style = yaml.SingleQuotedStyle
	setOnce(m, "annotations", kruise.StrategyAnnotation, strategy)
}

// setOnce sets metadata.FIELD[key] on a copy of that mapping, unless it is set.
func setOnce(m *tree.Node, field, key string, value *tree.Node) {
	have := tree.Get(m, field)
	if !tree.IsMap(have) {
		have = tree.Map()
	}
	have = stage.Block(have)
	if !tree.Has(have, key) {
		tree.Set(have, key, value)
	}
	tree.Set(m, field, have)
}

// strategyText is the source's spec in its newest version as compact JSON,
// without the parts that the native object holds as they are and that are
// large: the pod template and the volume claim templates.
func (o *object) strategyText() string {
	spec := tree.Shallow(tree.Get(o.hub, "spec"))
	tree.Delete(spec, "template")
	tree.Delete(spec, "volumeClaimTemplates")
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(tree.Value(spec)); err != nil {
		return "{}"
	}
	return string(bytes.TrimSpace(b.Bytes()))
}

// source names the object that the user wrote: the one that an earlier stage recorded, or this
// one.
func (o *object) source() string {
	if s := tree.StrAt(o.hub, "metadata", "labels", kruise.SourceLabel); s != "" {
		return s
	}
	return kruise.SourceValue(o.r.Kind(), o.r.Name())
}

// template returns the pod template for a cluster without Kruise. Everything
// that needs no change is the same node as in the source.
func (o *object) template(source *tree.Node) *tree.Node {
	return o.templateAt("spec.template", source)
}

// templateAt is template for a pod template at another path.
func (o *object) templateAt(at string, source *tree.Node) *tree.Node {
	if key := kruise.UsingEnhancedLivenessAnnotation; tree.Has(tree.Get(source, "metadata", "annotations"), key) {
		o.report(o.id("enhanced-liveness"), at+".metadata.annotations["+key+"]", "")
	}
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
