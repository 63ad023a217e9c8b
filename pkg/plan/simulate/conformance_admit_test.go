package simulate

import (
	"errors"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/check"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// admits asks the checks that stand for Kruise's webhooks.
func (b *bed) admits(before, after *tree.Node) error {
	var around []*resource.Resource
	for _, p := range b.all.now {
		if !p.Deleting {
			around = append(around, podResource(p))
		}
	}
	q := check.Request{Object: resource.Parsed(after, nil, resource.Origin{}), Known: true}
	if before != nil {
		q.Old = resource.Parsed(before, nil, resource.Origin{})
	}
	c := &stage.Context{Kruise: kruise.Next, Facts: resource.NewFacts([]*resource.Resource{q.Object}, around, b.namespace)}
	var errs []error
	for _, fault := range check.Object(c, q) {
		errs = append(errs, fault.Error)
	}
	return errors.Join(errs...)
}

// podResource is as much of a pod as admission looks at.
func podResource(p *cluster.Pod) *resource.Resource {
	owner := tree.Map("apiVersion", kruise.Group+"/v1beta1", "kind", p.Owner.Kind, "name", p.Owner.Name, "uid", p.Owner.UID, "controller", true)
	n := tree.Map("apiVersion", "v1", "kind", "Pod", "metadata", tree.Map("name", p.Name, "namespace", p.Namespace, "ownerReferences", tree.Seq(owner)))
	return resource.Parsed(n, nil, resource.Origin{})
}

// lifecycleAge is for how long a pod has been in its lifecycle state.
func lifecycleAge(b *bed, p *cluster.Pod) (time.Duration, bool) {
	at, err := time.Parse(time.RFC3339, p.Annotations[kruise.LifecycleTimestampAnnotation])
	return b.Now().Sub(at), err == nil
}
