package lower

import (
	"bytes"
	"encoding/json"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// metadata returns the metadata of the native workload: the source's, with the
// label and the annotation by which it is found again (docs/drivers.md). What
// an earlier stage wrote there stays.
func (o *object) metadata(source *tree.Node) *tree.Node {
	m := stage.Metadata(source)
	o.identify(m)
	return m
}

// identify writes that label into metadata, a copy, and the annotation where a spec is
// read back: not for kinds without a rollout, nor for a part of something else.
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

// source names the object that the user wrote: what an earlier stage says, or
// this one.
func (o *object) source() string {
	if s := tree.StrAt(o.hub, "metadata", "labels", kruise.SourceLabel); s != "" {
		return s
	}
	return kruise.SourceValue(o.r.Kind(), o.r.Name())
}
