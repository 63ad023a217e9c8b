package check

import (
	"encoding/json"
	"regexp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

var _ = add("apps.kruise.io/SidecarSet", sidecarSet)

// setCheck holds one SidecarSet to the rules of Kruise's webhook (semantics
// sidecarset 4.3 and 10). Paths are the same in both versions, but for the
// namespaces.
type setCheck struct {
	c    *stage.Context
	r    *resource.Resource
	hub  *tree.Node
	spec *tree.Node
	errs resource.Errors
}

func sidecarSet(c *stage.Context, r *resource.Resource) error {
	var typed kruise.SidecarSet
	unknown, err := kruise.Decode(r.Node(), &typed)
	if err != nil {
		return r.Wrap(err, "")
	}
	hub, _, err := kruise.ToHub(r.Node())
	if err != nil {
		return r.Wrap(err, "")
	}
	k := &setCheck{c: c, r: r, hub: hub, spec: tree.Get(hub, "spec")}
	k.unknown(unknown)
	k.name()
	k.selectors()
	k.containers()
	k.updateStrategy()
	k.revision()
	k.podMetadata()
	k.canary()
	k.conflicts()
	k.change()
	return k.errs.Err()
}

func (k *setCheck) fault(path, hint, format string, args ...any) {
	k.errs.Add(k.r.Fault(path, hint, format, args...))
}

// inPod matches what Kubernetes defines: a field that our version of it lacks
// is no fault.
var inPod = regexp.MustCompile(`^spec\.(containers|initContainers|volumes)\b`)

func (k *setCheck) unknown(fields []string) {
	for _, field := range fields {
		if !inPod.MatchString(field) {
			k.fault(field, spelling(kruise.SidecarSet{}, field), "unknown field")
		}
	}
}

var setName = regexp.MustCompile(`^[a-zA-Z0-9-]+$`)

func (k *setCheck) name() {
	name := k.r.Name()
	switch {
	case name == "":
		k.fault("metadata.name", "", "required")
	case !setName.MatchString(name):
		k.fault("metadata.name", "", "%q: a SidecarSet's name holds letters, digits and '-' only", name)
	case len(name) > 63:
		k.fault("metadata.name", "", "%q is longer than 63 characters", name)
	default:
		for _, msg := range validation.IsDNS1123Subdomain(name) {
			k.fault("metadata.name", "", "%q: %s", name, msg)
		}
	}
}

func (k *setCheck) selectors() {
	if tree.Get(k.spec, "selector") == nil {
		k.fault("spec.selector", "", "required: without it the set matches nothing")
	} else {
		k.selector("spec.selector", tree.Get(k.spec, "selector"))
	}
	if n := tree.Get(k.spec, "namespaceSelector"); n != nil {
		k.selector("spec.namespaceSelector", n)
	}
}

// selector wants a valid label selector that is not empty.
func (k *setCheck) selector(path string, n *tree.Node) {
	s, err := labelSelector(n)
	if err != nil {
		k.errs.Add(k.r.Wrap(err, path))
		return
	}
	if len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		hint := "give matchLabels or matchExpressions"
		if path == "spec.namespaceSelector" {
			hint = "leave it out to mean every namespace"
		}
		k.fault(path, hint, "an empty selector is not valid for a SidecarSet")
		return
	}
	if _, err := metav1.LabelSelectorAsSelector(s); err != nil {
		k.fault(path, "", "%v", err)
	}
}

func labelSelector(n *tree.Node) (*metav1.LabelSelector, error) {
	s := &metav1.LabelSelector{}
	_, err := tree.Decode(n, s)
	return s, err
}

func isJSON(text string) bool { return json.Valid([]byte(text)) }
