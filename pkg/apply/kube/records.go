package kube

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// Records are where rollouts are kept: a ConfigMap for each, owned by its workload,
// in the workload's namespace. Any machine can continue from there.
type Records struct {
	Client kubernetes.Interface
	// StateNamespace is where those of kinds without a namespace are.
	StateNamespace string
	// Program is what writes, with its version, for the history of a record; it may be
	// empty.
	Program string
}

// Keys and labels of the ConfigMap.
const (
	recordLabel = "kubectl-kruise.dev/rollout-of"
	keyRecord   = "record"
	keyPlan     = "plan.yaml.gz"
	keyBase     = "base.json.gz"
	keyPast     = "past.json.gz"
	// maxRecordBytes is what a record may hold: an API server takes a megabyte.
	maxRecordBytes = 900 << 10
)

// location is namespace and name of a workload's record, and of its lease.
func (r Records) location(ref cluster.Ref) (namespace, name string) {
	return recordLocation(ref, r.StateNamespace)
}

func recordLocation(ref cluster.Ref, stateNamespace string) (namespace, name string) {
	return cmp.Or(ref.Namespace, stateNamespace), "rollout." + kruise.SourceValue(ref.Kind+groupSuffix(ref.Group), ref.Name)
}

// groupSuffix differs for kinds of the same name.
func groupSuffix(group string) string {
	if group == kruise.Group {
		return ""
	}
	return "-native"
}

// Load reads the record of a workload. The error wraps plan.ErrNoRollout without one.
func (r Records) Load(ctx context.Context, ref cluster.Ref) (plan.Record, error) {
	namespace, name := r.location(ref)
	return rollouts.load(ctx, r.Client, namespace, name, ref.String())
}

// List reads all records of a namespace, or of all for "". Those that cannot be read are
// returned apart, and so are those of a namespace that has more to read than a list may cost. Those of kinds without a
// namespace are left out where no other verb reads them.
func (r Records) List(ctx context.Context, namespace string) ([]plan.Record, []apply.UnreadableRecordError, error) {
	list, unreadable, err := rollouts.list(ctx, r.Client, namespace)
	ofCluster := func(rec plan.Record) bool { return rec.Ref.Namespace == "" }
	if err != nil || namespace == r.StateNamespace || !slices.ContainsFunc(list, ofCluster) {
		return list, unreadable, err
	}
	list = slices.DeleteFunc(list, ofCluster)
	if namespace != "" {
		return list, unreadable, nil
	}
	state, _, err := rollouts.list(ctx, r.Client, r.StateNamespace)
	return append(list, slices.DeleteFunc(state, func(rec plan.Record) bool { return !ofCluster(rec) })...), unreadable, err
}

// Begin records a plan, in the place of any before. owner is the object in the cluster
// with which the record is deleted. base is kept unless it is nil: then the recorded one
// stays.
func (r Records) Begin(ctx context.Context, ref cluster.Ref, owner metav1.OwnerReference, p plan.Plan, base map[string]any, by string) (plan.Record, error) {
	now := Now(r.Client).UTC()
	next := plan.Record{Ref: ref, Plan: withoutPods(p), Base: base, Begun: now, By: by, Progress: plan.Progress{Started: now}}
	next.Times = withStepTime(next, next.Progress, now)
	what, detail := plan.BeginEntry(p)
	var out plan.Record
	err := retryWrite(ctx, func() error {
		before, err := r.Load(ctx, ref)
		switch {
		case err != nil && !errors.Is(err, plan.ErrNoRollout):
			return err
		case err == nil && before.Begun.Equal(next.Begun):
			out = before // an earlier try took effect
			return nil
		}
		if next.Version = before.Version; next.Base == nil {
			next.Base = before.Base
		}
		next.Past = nil
		if before.Version != "" {
			next.Past = before.Remember(now)
		}
		next.Audit = before.With(plan.AuditEntry{At: now, By: by, Program: r.Program, What: what, Detail: detail})
		out, err = r.write(ctx, next, owner)
		return err
	})
	if err != nil {
		return plan.Record{}, planError("the record of "+ref.String(), err)
	}
	return out, nil
}

// write puts a whole record in the place of the one of its version, or of none.
func (r Records) write(ctx context.Context, rec plan.Record, owner metav1.OwnerReference) (plan.Record, error) {
	cm, err := r.configMap(rec, owner)
	if err != nil {
		return plan.Record{}, err
	}
	return rollouts.put(ctx, r.Client, r.Program, cm)
}

// Change changes the progress of a rollout as it is recorded now; it is tried again after
// a change by another process in between.
func (r Records) Change(ctx context.Context, ref cluster.Ref, by string, change func(*plan.Record) error) (plan.Record, error) {
	var out plan.Record
	var tried []byte
	err := retryWrite(ctx, func() error {
		now, err := r.Load(ctx, ref)
		if err != nil {
			return err
		}
		if text, err := recordText(now); tried != nil && err == nil && bytes.Equal(tried, text) {
			out = now // an earlier try took effect
			return nil
		}
		before := now.Progress
		if err := change(&now); err != nil {
			return err
		}
		after := now.Progress
		now.Progress = before
		now = now.Decide(after, by, r.Program, false, Now(r.Client))
		if tried, err = recordText(now); err != nil {
			return err
		}
		out, err = r.store(ctx, now)
		return err
	})
	return out, err
}

// store writes the part that changes; it fails with a conflict if another process has
// written since the record was read.
func (r Records) store(ctx context.Context, now plan.Record) (plan.Record, error) {
	text, err := recordText(now)
	if err != nil {
		return plan.Record{}, err
	}
	namespace, name := r.location(now.Ref)
	return rollouts.putText(ctx, r.Client, r.Program, metav1.ObjectMeta{Namespace: namespace, Name: name, ResourceVersion: now.Version}, string(text))
}

// Discard deletes the record of a workload that cannot be read, its plan and its history, while
// this process holds its lease; one that can be read stays. The error wraps plan.ErrOtherExecutor
// where another process drives the rollout. waiting is as in [apply.Workload].
func (r Records) Discard(ctx context.Context, ref cluster.Ref, by string, waiting func(holder string)) error {
	namespace, name := r.location(ref)
	h := newClaim(r.Client, Options{Holder: by}, namespace, name)
	held, release, err := h.acquire(ctx, waiting)
	if err != nil {
		return err
	}
	defer release()
	lease := h.lease
	lease.claim.Store(h)
	client := r.Client.CoreV1().ConfigMaps(namespace)
	cm, err := client.Get(held, name, metav1.GetOptions{})
	if err != nil {
		return planError("the record of "+ref.String(), err)
	}
	if _, err := rollouts.read(cm); err == nil {
		return nil // another process has written it since
	}
	if err := lease.check(); err != nil {
		return err
	}
	return lease.send(held, func(ctx context.Context) error {
		as := &metav1.Preconditions{UID: &cm.UID, ResourceVersion: &cm.ResourceVersion}
		if err := client.Delete(ctx, name, metav1.DeleteOptions{Preconditions: as}); err != nil {
			return planError("the record of "+ref.String(), err)
		}
		return nil
	})
}

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
		Workloads: &workloads{client: client, config: cfg, options: o, served: mapper},
	}, nil
}

// workloads are those of a cluster, by the name of what is in it.
type workloads struct {
	client  kubernetes.Interface
	config  *rest.Config
	options Options
	served  meta.RESTMapper
}

// Open is [Open], for what the cluster serves.
func (w *workloads) Open(ctx context.Context, ref cluster.Ref) (apply.Workload, error) {
	target, err := servedAs(w.served, ref)
	if err != nil {
		return nil, err
	}
	one := w.options
	one.Target, one.Carrier = target, nil
	c, err := Open(ctx, w.config, one)
	if err != nil {
		return nil, err // and no *Cluster that is nil
	}
	return c, nil
}

// Now is the time in the cluster, see [Now].
func (w *workloads) Now() time.Time { return Now(w.client) }

// Waiting tells no one.
func (w *workloads) Waiting(string) {}

var (
	_ apply.Records  = Records{}
	_ apply.Workload = (*Cluster)(nil)
)

// servedAs is how a cluster serves an object; the error wraps plan.ErrNotFound where it
// does not know the kind. Kruise's kinds are written in the newest version that is
// served: the older one has fewer fields.
func servedAs(mapper meta.RESTMapper, ref cluster.Ref) (Object, error) {
	m, err := mapper.RESTMapping(schema.GroupKind{Group: ref.Group, Kind: ref.Kind}, versionsOf(ref.Group)...)
	switch {
	case meta.IsNoMatchError(err):
		return Object{}, fmt.Errorf("%s: the cluster serves no %s of %q: %w", ref, ref.Kind, ref.Group, plan.ErrNotFound)
	case err != nil:
		return Object{}, err
	}
	return Object{Ref: ref, Resource: m.Resource}, nil
}
