package convert

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// RaiseOptions choose what the native kinds cannot express. The zero value keeps their behavior.
type RaiseOptions struct {
	// PodUpdatePolicy is ReCreate (the default), InPlaceIfPossible or InPlaceOnly.
	PodUpdatePolicy kruise.PodUpdateStrategyType
	// ProtectOperations are what a PodUnavailableBudget refuses; EVICT when empty.
	ProtectOperations []kruise.PubOperation
}

func (o RaiseOptions) inPlace() bool {
	return o.PodUpdatePolicy != "" && o.PodUpdatePolicy != kruise.RecreatePodUpdateStrategyType
}

// raisings are the kinds that are raised, by apiVersion and kind.
var raisings = map[[2]string]func(object) (*tree.Node, error){
	{"apps/v1", kruise.KindDeployment}:   raiseDeployment,
	{"apps/v1", kruise.KindStatefulSet}:  raiseStatefulSet,
	{"apps/v1", kruise.KindDaemonSet}:    raiseDaemonSet,
	{"batch/v1", "CronJob"}:              raiseCronJob,
	{"policy/v1", "PodDisruptionBudget"}: raiseBudget,
}

// raise is the opposite of lowering: it replaces the native objects that are chosen by those
// of Kruise that do the same, in the newest version of their kinds. It changes the tree that
// the user wrote, so that templates, comments and unknown fields stay; types are for deciding.
// Chosen objects that it does not know, or not in their version, are faults.
func raise(c *stage.Context, in []*resource.Resource, chosen func(*resource.Resource) bool, opt RaiseOptions) ([]*resource.Resource, error) {
	scaled := autoscaled(c, in)
	return c.Replace(in, func(r *resource.Resource) ([]*resource.Resource, error) {
		if !chosen(r) {
			return []*resource.Resource{r}, nil
		}
		convert := raisings[[2]string{r.APIVersion(), r.Kind()}]
		if convert == nil {
			return nil, r.Fault("apiVersion", "write it in the version that Kubernetes serves today", "%s %s cannot be converted to a kind of Kruise", r.APIVersion(), r.Kind())
		}
		n, err := convert(object{c: c, r: r, opt: opt, scaled: scaled[c.Facts.IDOf(r)]})
		if err != nil {
			return nil, err
		}
		out := resource.Derived(n, r)
		c.Lineage.Became(r.ID(), out)
		return []*resource.Resource{out}, nil
	})
}

// autoscaled are the objects whose replicas an autoscaler owns.
func autoscaled(c *stage.Context, in []*resource.Resource) map[resource.ID]bool {
	out := map[resource.ID]bool{}
	scalers := slices.Concat(in, c.Facts.Context("autoscaling", "HorizontalPodAutoscaler"), c.Facts.Context("keda.sh", "ScaledObject"))
	for _, r := range scalers {
		ref := tree.Get(r.Node(), "spec", "scaleTargetRef")
		if ref == nil {
			continue
		}
		id := resource.ID{
			Group: resource.GroupOf(tree.StrAt(ref, "apiVersion")), Kind: tree.StrAt(ref, "kind"),
			Namespace: c.Facts.NamespaceOf(r), Name: tree.StrAt(ref, "name"),
		}
		if id.Kind == "" { // which KEDA takes for a Deployment
			id.Group, id.Kind = "apps", kruise.KindDeployment
		}
		out[id] = true
	}
	return out
}

// object is one native object on its way: what its kinds have in common.
type object struct {
	c   *stage.Context
	r   *resource.Resource
	opt RaiseOptions
	// scaled: an autoscaler owns the replicas.
	scaled bool
}

func (o object) decode(into any) error {
	_, err := tree.Decode(o.r.Node(), into)
	return o.r.Wrap(err, "")
}

// kruiseObject returns the object of Kruise.
func (o object) kruiseObject(group, kind string, spec func(*tree.Node) *tree.Node) *tree.Node {
	return stage.Retype(tree.Root(o.r.Node()), group+"/"+kruise.V1beta1, kind, metadata, spec)
}

// metadata leaves out the marks of a rendered object: they describe it, not
// what it becomes.
func metadata(source *tree.Node) *tree.Node {
	m := stage.Metadata(source)
	for field, key := range map[string]string{"labels": kruise.SourceLabel, "annotations": kruise.StrategyAnnotation} {
		have := tree.Get(m, field)
		if !tree.Has(have, key) {
			continue
		}
		have = tree.Shallow(have)
		tree.Delete(have, key)
		if tree.Set(m, field, have); len(have.Content) == 0 {
			tree.Delete(m, field)
		}
	}
	return m
}

func (o object) report(id, field, detail string) { o.c.Findings.Add(id, o.r, field, detail) }

// reportSame reports those of the fields that are written.
func (o object) reportSame(id string, fields ...string) {
	for _, f := range fields {
		if o.written(f) {
			o.report(id, "spec."+f, "")
		}
	}
}

// written reports whether a field of spec has an effect.
func (o object) written(field string) bool {
	return tree.Get(o.r.Node(), append([]string{"spec"}, strings.Split(field, ".")...)...) != nil
}

// copied returns a copy of one level of a mapping, an empty one for nothing.
func copied(n *tree.Node) *tree.Node {
	if !tree.IsMap(n) {
		return tree.Map()
	}
	return tree.Shallow(n)
}

// setUnlessEqual sets a key, unless it means v already.
func setUnlessEqual(n *tree.Node, key string, v *tree.Node) {
	if !tree.Equal(tree.Get(n, key), v) {
		tree.Set(n, key, v)
	}
}

// withKey returns a copy of a mapping in which one key has another value.
func withKey(n *tree.Node, key string, v *tree.Node) *tree.Node {
	n = copied(n)
	tree.Set(n, key, v)
	return n
}

// template returns the pod template for a kind whose webhook writes pull
// policies. rules is what the IDs of the kind's findings begin with.
func (o object) template(rules, at string, source *tree.Node) *tree.Node {
	o.report(rules+"/template", at, "")
	spec := tree.Get(source, "spec")
	containers := tree.Get(spec, "containers")
	if !tree.IsSeq(containers) {
		return source
	}
	list, changed := tree.Shallow(containers), false
	for i, c := range containers.Content {
		if !tree.IsMap(c) || tree.StrAt(c, "imagePullPolicy") != "" || kruise.PullPolicyOf(tree.StrAt(c, "image")) == kruise.WebhookPullPolicy {
			continue
		}
		c, changed = tree.Shallow(c), true
		tree.InsertAfter(c, "image", "imagePullPolicy", tree.String(string(kruise.PullPolicyOf(tree.StrAt(c, "image")))))
		list.Content[i] = c
		o.report(rules+"/image-pull-policy", fmt.Sprintf("%s.spec.containers[%d].imagePullPolicy", at, i), "")
	}
	if !changed {
		return source
	}
	return withKey(source, "spec", withKey(spec, "containers", list))
}

// withReadinessGate returns the template with the readiness gate that updates in place need
// where the webhook asks for it (docs/kruise/workloads.md#advanced-statefulset).
func (o object) withReadinessGate(rules string, template *tree.Node) *tree.Node {
	spec := tree.Get(template, "spec")
	gates := tree.Get(spec, "readinessGates")
	if gate, _ := tree.Find(gates, "conditionType", kruise.InPlaceUpdateReady); gate != nil || !tree.IsMap(spec) {
		return template
	}
	o.report(rules+"/in-place-gate", "spec.template", "")
	list := tree.Seq(append(slices.Clip(tree.Items(gates)), tree.Map("conditionType", kruise.InPlaceUpdateReady))...)
	return withKey(template, "spec", withKey(spec, "readinessGates", list))
}

// raiseDaemonSet returns the Advanced DaemonSet: its fields have the same names
// and meaning, but for updates in place (docs/kruise/workloads.md#advanced-daemonset).
func raiseDaemonSet(o object) (*tree.Node, error) {
	var source appsv1.DaemonSet
	if err := o.decode(&source); err != nil {
		return nil, err
	}
	strategy := source.Spec.UpdateStrategy
	inPlace := o.opt.inPlace() && strategy.Type != appsv1.OnDeleteDaemonSetStrategyType
	if r := strategy.RollingUpdate; inPlace && r != nil && r.MaxSurge != nil && !none(*r.MaxSurge) {
		return nil, o.r.Fault("spec.updateStrategy.rollingUpdate.maxSurge", "set maxSurge to 0, or keep ReCreate", "pods that are updated in place cannot surge")
	}
	if inPlace && o.opt.PodUpdatePolicy == kruise.InPlaceOnlyPodUpdateStrategyType {
		return nil, o.r.Fault("spec.updateStrategy", "use InPlaceIfPossible", "an Advanced DaemonSet has no InPlaceOnly")
	}
	o.reportSame("nativedaemonset/same", "selector", "template", "minReadySeconds", "revisionHistoryLimit")
	o.reportSame("nativedaemonset/strategy", "updateStrategy")
	if o.opt.inPlace() && !inPlace {
		o.report("nativedaemonset/in-place-on-delete", "spec.updateStrategy.type", "")
	}
	return o.kruiseObject(kruise.Group, kruise.KindDaemonSet, func(spec *tree.Node) *tree.Node {
		if !inPlace {
			return spec
		}
		o.report("nativedaemonset/in-place", "spec.template", "")
		return inPlaceDaemonSet(spec)
	}), nil
}

func inPlaceDaemonSet(spec *tree.Node) *tree.Node {
	strategy := tree.Get(spec, "updateStrategy")
	rolling := withKey(tree.Get(strategy, "rollingUpdate"), "rollingUpdateType", tree.String(string(kruise.InPlaceIfPossibleRollingUpdateType)))
	strategy = withKey(strategy, "rollingUpdate", rolling)
	if tree.Has(spec, "updateStrategy") {
		return withKey(spec, "updateStrategy", strategy)
	}
	out := tree.Shallow(spec)
	tree.InsertAfter(out, "selector", "updateStrategy", strategy)
	return out
}

// raiseCronJob returns the AdvancedCronJob that makes the same Jobs
// (docs/kruise/jobs.md#advancedcronjob).
func raiseCronJob(o object) (*tree.Node, error) {
	var source batchv1.CronJob
	if err := o.decode(&source); err != nil {
		return nil, err
	}
	o.reportSame("cronjob/same", "timeZone", "startingDeadlineSeconds", "concurrencyPolicy", "successfulJobsHistoryLimit", "failedJobsHistoryLimit")
	o.reportSame("cronjob/suspend", "suspend")
	o.reportSame("cronjob/job", "jobTemplate")
	o.reportSame("cronjob/job-immutable", "jobTemplate")
	if source.Spec.TimeZone == nil {
		o.report("cronjob/zone-none", "spec.schedule", "")
	}
	return o.kruiseObject(kruise.Group, kruise.KindAdvancedCronJob, func(spec *tree.Node) *tree.Node {
		return stage.Fields(spec, func(name string, v *tree.Node) (string, *tree.Node) {
			switch name {
			case "suspend":
				return "paused", v
			case "jobTemplate":
				return "template", tree.Map("jobTemplate", o.job(v))
			}
			return name, v
		})
	}), nil
}

// job returns the Job template with the pull policies that its pods have.
func (o object) job(source *tree.Node) *tree.Node {
	spec := tree.Get(source, "spec")
	pod := tree.Get(spec, "template")
	if !tree.IsMap(pod) {
		return source
	}
	made := o.template("cronjob", "spec.jobTemplate.spec.template", pod)
	if made == pod {
		return source
	}
	return withKey(source, "spec", withKey(spec, "template", made))
}

// raiseBudget returns the PodUnavailableBudget that refuses the same evictions,
// and more where that is asked for (docs/kruise/protection.md#podunavailablebudget).
func raiseBudget(o object) (*tree.Node, error) {
	var source policyv1.PodDisruptionBudget
	if err := o.decode(&source); err != nil {
		return nil, err
	}
	o.reportSame("poddisruptionbudget/same", "selector", "minAvailable", "maxUnavailable")
	o.report("poddisruptionbudget/forbidden", "spec", "")
	if p := source.Spec.UnhealthyPodEvictionPolicy; p != nil && *p == policyv1.AlwaysAllow {
		o.report("poddisruptionbudget/unhealthy-always", "spec.unhealthyPodEvictionPolicy", "")
	} else {
		o.report("poddisruptionbudget/unhealthy", "spec.unhealthyPodEvictionPolicy", "")
	}
	operations := o.operations()
	return o.kruiseObject(kruise.PolicyGroup, kruise.KindPodUnavailableBudget, func(spec *tree.Node) *tree.Node {
		out := stage.Fields(spec, func(name string, v *tree.Node) (string, *tree.Node) {
			if name == "unhealthyPodEvictionPolicy" {
				return name, nil
			}
			return name, v
		})
		tree.Set(out, "protectOperations", operations)
		return out
	}), nil
}

// operations are what the budget refuses, written out: the default is more than
// a PodDisruptionBudget does.
func (o object) operations() *tree.Node {
	list := o.opt.ProtectOperations
	if len(list) == 0 {
		list = []kruise.PubOperation{kruise.PubEvictOperation}
		o.report("poddisruptionbudget/operations", "spec", "")
	} else {
		text := make([]string, len(list))
		for i, op := range list {
			text[i] = string(op)
		}
		o.report("poddisruptionbudget/operations-more", "spec", fmt.Sprintf("the budget refuses %s, where a PodDisruptionBudget refuses only evictions", strings.Join(text, ", ")))
	}
	items := make([]*tree.Node, len(list))
	for i, op := range list {
		items[i] = tree.String(string(op))
	}
	return tree.Seq(items...)
}
