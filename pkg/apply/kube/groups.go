package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/planfile"
)

// Groups are where groups of rollouts are kept: a ConfigMap for each, with the plans of its
// members. How far these have come is in the records of their own rollouts.
type Groups struct {
	shared *Shared
	opt    Options
}

var _ apply.GroupRecords = (*Groups)(nil)

// NewGroups are the groups of the cluster that is shared. Holder and Lease of the options
// count.
func NewGroups(s *Shared, o Options) *Groups { return &Groups{s, o} }

const (
	groupLabel  = "kubectl-kruise.dev/rollout-group"
	groupPrefix = "rollout-group."
	keyGroup    = "group"
	keyPlans    = "plans.json.gz"
)

// Load reads a group; the error wraps plan.ErrNoGroup without one.
func (g *Groups) Load(ctx context.Context, namespace, name string) (plan.Rollout, error) {
	return groups.load(ctx, g.shared.core, namespace, groupPrefix+name, name+" in namespace "+namespace)
}

// List reads the groups of a namespace, or of all for "". Those that cannot be read are returned
// apart, and so are those of a namespace that has more to read than a list may cost.
func (g *Groups) List(ctx context.Context, namespace string) ([]plan.Rollout, []apply.UnreadableRecordError, error) {
	return groups.list(ctx, g.shared.core, namespace)
}

// Begin records a group, in place of one of its name. The caller holds its lease.
func (g *Groups) Begin(ctx context.Context, r plan.Rollout) (plan.Rollout, error) {
	r.Begun = Now(g.shared.core).UTC()
	var out plan.Rollout
	err := retryWrite(ctx, func() error {
		before, err := g.Load(ctx, r.Namespace, r.Name)
		switch {
		case err == nil && before.Begun.Equal(r.Begun):
			out = before // an earlier try took effect
			return nil
		case err == nil:
			r.Version = before.Version
		case errors.Is(err, plan.ErrNoGroup):
			r.Version = ""
		default:
			return err
		}
		cm, err := groupConfigMap(r)
		if err != nil {
			return err
		}
		out, err = groups.put(ctx, g.shared.core, g.opt.Program, cm)
		return err
	})
	return out, err
}

// Change changes what users have decided about a group, as it is recorded now.
func (g *Groups) Change(ctx context.Context, namespace, name string, change func(*plan.Rollout) error) (plan.Rollout, error) {
	var out plan.Rollout
	err := retryWrite(ctx, func() error {
		now, err := g.Load(ctx, namespace, name)
		if err != nil {
			return err
		}
		before, err := groupText(now)
		if err != nil {
			return err
		}
		if err := change(&now); err != nil {
			return err
		}
		text, err := groupText(now)
		if err != nil || text == before {
			out = now
			return err
		}
		out, err = groups.putText(ctx, g.shared.core, g.opt.Program, metav1.ObjectMeta{Namespace: namespace, Name: groupPrefix + name, ResourceVersion: now.Version}, text)
		return err
	})
	return out, err
}

// Hold makes this process the executor of a group, as [Cluster.Hold] does for a rollout.
func (g *Groups) Hold(ctx context.Context, namespace, name string, waiting func(holder string)) (held context.Context, release func(), err error) {
	h := newClaim(g.shared.core, Options{Holder: g.opt.Holder, Lease: g.opt.Lease, AcquireBy: g.opt.AcquireBy}, namespace, groupPrefix+name)
	h.group = g
	return h.acquire(ctx, waiting)
}

// lookAtMembers looks at the leases of the members of a group, if it can be read.
func (g *Groups) lookAtMembers(ctx context.Context, namespace, name string) {
	rec, err := g.Load(ctx, namespace, name)
	if err != nil {
		return
	}
	var refs []cluster.Ref
	for _, m := range rec.Members {
		refs = append(refs, m.Ref)
	}
	g.shared.leases.look(ctx, g.shared.core, g.opt.StateNamespace, refs)
}

// Holder names the executor of a group now; "" for none.
func (g *Groups) Holder(ctx context.Context, namespace, name string) (string, error) {
	return holderNow(ctx, g.shared.core, namespace, groupPrefix+name)
}

// Watch watches a group until the context ends.
func (g *Groups) Watch(ctx context.Context, namespace, name string) (apply.GroupWatch, error) {
	s := typedSource("the record of the group", &corev1.ConfigMap{}, g.shared.core.CoreV1().ConfigMaps(namespace), "")
	s.fields = fields.OneTermEqualSelector("metadata.name", groupPrefix+name).String()
	w := &groupWatch{namespace, name, newMirror(newChangeSignal(), readAs(groups.read))}
	return w, follow(ctx, s, w.mirror)
}

// groupWatch is the record of a group, as it changes.
type groupWatch struct {
	namespace, name string
	mirror          *mirror[plan.Rollout]
}

// Current is the record as it is now, with what is closed when it changes.
func (w *groupWatch) Current() (rec plan.Rollout, changed <-chan struct{}, err error) {
	_, changed = w.mirror.changes.current()
	if _, err := w.mirror.list(); err != nil {
		return rec, changed, err
	}
	rec, ok := w.mirror.get(w.namespace, groupPrefix+w.name)
	if !ok {
		return rec, changed, fmt.Errorf("%s in namespace %s: %w", w.name, w.namespace, plan.ErrNoGroup)
	}
	return rec, changed, nil
}

// groupText is what a ConfigMap holds of a group besides the plans.
func groupText(r plan.Rollout) (string, error) {
	text, err := json.Marshal(r)
	return string(text), err
}

func groupConfigMap(r plan.Rollout) (*corev1.ConfigMap, error) {
	text, err := groupText(r)
	if err != nil {
		return nil, err
	}
	plans := make([]string, len(r.Members))
	for i := range r.Members {
		text, err := planfile.Write(withoutPods(r.Members[i].Plan))
		if err != nil {
			return nil, err
		}
		plans[i] = string(text)
	}
	all, err := json.Marshal(plans)
	if err != nil {
		return nil, err
	}
	cm := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: r.Namespace, Name: groupPrefix + r.Name, ResourceVersion: r.Version,
			Labels: map[string]string{groupLabel: r.Name, "app.kubernetes.io/managed-by": FieldManager},
		},
		Data:       map[string]string{keyGroup: text},
		BinaryData: map[string][]byte{keyPlans: compress(all)},
	}
	if size := len(text) + len(cm.BinaryData[keyPlans]); size > maxRecordBytes {
		return nil, fmt.Errorf("the plans of %s take %d KiB of the %d that a record may hold: make several groups", counted.Of(len(plans), "rollout"), size>>10, maxRecordBytes>>10)
	}
	read, err := groups.read(cm)
	if err == nil {
		var again string
		if again, err = groupText(read); err == nil && again != text {
			err = fmt.Errorf("%s becomes %s", text, again)
		}
	}
	return cm, notReadBack("the group "+cm.Name, err)
}

// groups is how a group of rollouts is kept.
var groups = stored[plan.Rollout]{label: groupLabel, text: keyGroup, packed: []string{keyPlans}, none: plan.ErrNoGroup, decode: decodeGroup}

// decodeGroup reads what groupConfigMap writes.
func decodeGroup(cm *corev1.ConfigMap, most int64) (out plan.Rollout, err error) {
	if err := json.Unmarshal([]byte(cm.Data[keyGroup]), &out); err != nil {
		return out, err
	}
	text, err := decompressTo(cm.BinaryData[keyPlans], most)
	if err != nil {
		return out, err
	}
	var plans []string
	if err := json.Unmarshal(text, &plans); err != nil {
		return out, err
	}
	out.Version = cm.ResourceVersion
	if groupPrefix+out.Name != cm.Name || out.Namespace != cm.Namespace {
		return out, fmt.Errorf("it says that it is %q in namespace %q", out.Name, out.Namespace)
	}
	for _, m := range out.Members {
		if err := checkRef(m.Ref); err != nil {
			return out, err
		}
	}
	if len(plans) != len(out.Members) {
		return out, fmt.Errorf("the record is inconsistent: members: %d, plans: %d", len(out.Members), len(plans))
	}
	for i, one := range plans {
		if out.Members[i].Plan, err = planfile.Read([]byte(one)); err != nil {
			return out, err
		}
	}
	if err := out.Check(); err != nil {
		return out, err
	}
	return out, nil
}
