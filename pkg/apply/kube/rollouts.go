package kube

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

var (
	_ apply.Records  = Records{}
	_ apply.Workload = (*Cluster)(nil)
)

// Rollouts returns the rollouts of a cluster. The options hold for every workload that is
// opened; Target and Carrier are set for each. Holder is needed, since it names the
// program to others, and so is StateNamespace for kinds without a namespace.
//
// A workload is opened by the name of what is in the cluster. One of Kruise that was
// rendered into a native one is opened with [Open], which takes that as Options.Carrier.
func Rollouts(cfg *rest.Config, o Options) (apply.Rollouts, error) {
	client, err := kubernetes.NewForConfig(rest.CopyConfig(cfg))
	if err != nil {
		return apply.Rollouts{}, err
	}
	served, err := discovery.NewDiscoveryClientForConfig(rest.CopyConfig(cfg))
	if err != nil {
		return apply.Rollouts{}, err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(served))
	return apply.Rollouts{
		Records: Records{Client: client, StateNamespace: o.StateNamespace, Program: o.Program}, By: o.Holder,
		Open: func(ctx context.Context, ref cluster.Ref) (apply.Workload, error) {
			target, err := servedAs(mapper, ref)
			if err != nil {
				return nil, err
			}
			one := o
			one.Target, one.Carrier = target, nil
			c, err := Open(ctx, cfg, one)
			if err != nil {
				return nil, err // and no *Cluster that is nil
			}
			return c, nil
		},
	}, nil
}

// servedAs is how a cluster serves an object; the error wraps plan.ErrNotFound where it
// does not know the kind. Kruise's kinds are written in the newest version that is
// served: the older one has fewer fields.
func servedAs(mapper meta.RESTMapper, ref cluster.Ref) (Object, error) {
	versions := []string{"v1"}
	if ref.Group == kruise.Group {
		versions = []string{kruise.V1beta1, kruise.V1alpha1}
	}
	m, err := mapper.RESTMapping(schema.GroupKind{Group: ref.Group, Kind: ref.Kind}, versions...)
	switch {
	case meta.IsNoMatchError(err):
		return Object{}, fmt.Errorf("%s: the cluster serves no %s of %q: %w", ref, ref.Kind, ref.Group, plan.ErrNotFound)
	case err != nil:
		return Object{}, err
	}
	return Object{Ref: ref, Resource: m.Resource}, nil
}
