package session

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/united"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// parent is the UnitedDeployment above a workload. It constantly writes the
// workload, partition included: a rollout of the workload moves the partition there.
type parent struct {
	client dynamic.Interface
	Object *united.Object
	subset string
}

// parentOf finds the UnitedDeployment that controls a workload; nil for none.
func parentOf(ctx context.Context, c dynamic.Interface, r *resource.Resource) (*parent, error) {
	name := UnitedOf(r)
	if name == "" {
		return nil, nil //nolint:nilnil // that there is none is no error
	}
	o, err := united.Get(ctx, c, r.Namespace(), name)
	if err != nil {
		return nil, err
	}
	return &parent{c, o, r.Labels()[kruise.SubsetNameLabel]}, nil
}

// UnitedOf names the UnitedDeployment that controls a workload; "" for none.
func UnitedOf(r *resource.Resource) string {
	for _, owner := range tree.Items(tree.Get(r.Node(), "metadata", "ownerReferences")) {
		if tree.StrAt(owner, "kind") == kruise.KindUnitedDeployment && resource.GroupOf(tree.StrAt(owner, "apiVersion")) == kruise.Group && tree.Bool(tree.Get(owner, "controller")) {
			return tree.StrAt(owner, "name")
		}
	}
	return ""
}

// Allows refuses a change of the template: it would not last.
func (p *parent) Allows(object, desired *resource.Resource) error {
	if p == nil || tree.Equal(tree.Get(object.Node(), "spec", "template"), tree.Get(desired.Node(), "spec", "template")) {
		return nil
	}
	return &resource.Error{
		Err:  fmt.Errorf("%s %s is a subset of UnitedDeployment %s, which would undo the change", object.Kind(), object.Name(), p.Object.Name),
		Hint: "kubectl kruise rollout run uniteddeployment/" + p.Object.Name,
	}
}

// Do carries out an action; the partition of a subset is moved where it lasts.
func (s *Session) Do(ctx context.Context, ref cluster.Ref, a plan.Action) error {
	if s.Parent == nil || a.Patch == nil {
		return s.Cluster.Do(ctx, ref, a)
	}
	n, err := partitionIn(a.Patch, s.partitionPath())
	if err != nil {
		return fmt.Errorf("%w: UnitedDeployment %s would undo it: %w", plan.ErrRefused, s.Parent.Object.Name, err)
	}
	if err := s.Parent.Object.Partition(ctx, s.Parent.client, s.Parent.subset, n); err != nil {
		return err
	}
	return s.until(ctx, ref, strconv.Itoa(int(n)))
}

func (s *Session) partitionPath() []string {
	return plan.PartitionPath(s.Target.Group, s.Target.Kind, s.Target.Resource.Version)
}

// partitionIn is the partition that a merge patch sets, which sets nothing else.
func partitionIn(p *plan.Patch, path []string) (int32, error) {
	body := p.Body
	for _, key := range path {
		m, ok := body.(map[string]any)
		if !ok || len(m) != 1 {
			return 0, errors.New("a subset has nothing but its partition to change")
		}
		body = m[key]
	}
	switch v := body.(type) {
	case int:
		return int32(v), nil
	case int64:
		return int32(v), nil
	case float64:
		return int32(v), nil
	}
	return 0, fmt.Errorf("a subset's partition is a number of pods, not %v (%s)", body, strings.Join(path, "."))
}

// followsWithin is how long a UnitedDeployment may take to pass a partition on.
const followsWithin = 2 * time.Minute

// until waits until the workload shows the partition.
func (s *Session) until(ctx context.Context, ref cluster.Ref, partition string) error {
	end := s.Now().Add(followsWithin)
	for {
		snapshot, err := s.Observe(ctx, ref)
		switch {
		case err != nil:
			return err
		case plan.PartitionOf(snapshot.Workload) == partition:
			return nil
		case !s.Now().Before(end):
			return fmt.Errorf("%w: UnitedDeployment %s has not passed the partition on", plan.ErrUnavailable, s.Parent.Object.Name)
		}
		if err := s.Await(ctx, ref, snapshot.Version, end); err != nil {
			return err
		}
	}
}
