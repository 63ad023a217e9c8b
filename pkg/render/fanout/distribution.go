package fanout

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// distribution is one ResourceDistribution on its way to copies.
type distribution struct {
	r       *resource.Resource
	targets kruise.ResourceDistributionTargets
	// selector is nil when there is none or an empty one, which selects nothing.
	selector labels.Selector
	// kind and name are those of the copies; body is the copies' tree as the
	// API server would store it, still with the template's metadata.
	kind, name string
	body       *tree.Node
	stringData bool
	// hash is Kruise's hashcode annotation, size the bytes of one copy, about.
	hash string
	size int
	// namespaces get a copy.
	namespaces []string
}

func newDistribution(r *resource.Resource) (*distribution, error) {
	var rd kruise.ResourceDistribution
	if _, err := kruise.Decode(r.Node(), &rd); err != nil {
		return nil, r.Wrap(err, "")
	}
	d := &distribution{r: r, targets: rd.Spec.Targets}
	if s := &d.targets.NamespaceSelector; len(s.MatchLabels)+len(s.MatchExpressions) > 0 {
		selector, err := metav1.LabelSelectorAsSelector(s)
		if err != nil {
			return nil, r.Fault(d.selectorField(), "", "%v", err)
		}
		d.selector = selector
	}
	template := tree.Get(r.Node(), "spec", "resource")
	if !tree.IsMap(template) {
		return nil, r.Fault("spec.resource", "", "there is nothing to distribute")
	}
	d.kind, d.name = tree.StrAt(template, "kind"), tree.StrAt(template, "metadata", "name")
	d.body, d.stringData = stored(template)
	d.hash, d.size = hashcode(template)
	return d, nil
}

// hashcode is the hexadecimal SHA-256 of the template as compact JSON with
// sorted keys and with <, > and & escaped (docs/kruise/distribution.md#observed-on-a-cluster). size
// is the length of that JSON.
func hashcode(template *tree.Node) (hash string, size int) {
	b, err := json.Marshal(tree.Value(template))
	if err != nil { // tree.Value returns nothing that cannot be marshalled
		panic("fanout: " + err.Error())
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), len(b)
}

// copied is the ID of the copies, without a namespace.
func (d *distribution) copied() resource.ID {
	return resource.ID{Kind: d.kind, Name: d.name}
}

// selectorField is the selector's path in the version that the user wrote.
func (d *distribution) selectorField() string {
	if d.r.Version() == "v1alpha1" {
		return "spec.targets.namespaceLabelSelector"
	}
	return "spec.targets.namespaceSelector"
}
