package references

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// reference is a field that names another object by apiVersion, kind and name.
type reference struct {
	// path leads to the mapping; a step that ends in [] goes into a list.
	path []string
	// defaultGroup and defaultKind are what a missing apiVersion or kind means.
	defaultGroup, defaultKind string
	// kinds are what the field may name; empty is anything but notKinds.
	kinds, notKinds []string
	// immutable: the API server (or a webhook) refuses to change the field.
	immutable bool
	// split is what to do when the target became several objects; nil drops
	// the referrer.
	split interface {
		split(f *follower, l link) (pieces, bool)
	}
}

func (r reference) accepts(kind string) bool {
	if len(r.kinds) > 0 {
		return slices.Contains(r.kinds, kind)
	}
	return !slices.Contains(r.notKinds, kind)
}

// unscalable are kinds of lowered workloads without a scale subresource.
var unscalable = []string{kruise.KindDaemonSet, "Job", "CronJob", "Pod", "ConfigMap"}

func scales(path ...string) reference {
	return reference{path: path, defaultGroup: kruise.Group, notKinds: unscalable}
}

func names(kinds []string, path ...string) reference {
	return reference{path: path, defaultGroup: kruise.Group, kinds: kinds}
}

// referrers maps GROUP/KIND to the fields that name a workload: the kinds of
// issue 2 section 3, and others whose references would otherwise dangle.
var referrers = map[string][]reference{
	"autoscaling/HorizontalPodAutoscaler": {
		split(hpaLimits, scales("spec", "scaleTargetRef")),
		{path: []string{"spec", "metrics[]", "object", "describedObject"}, defaultGroup: kruise.Group},
		{path: []string{"spec", "metrics[]", "object", "target"}, defaultGroup: kruise.Group}, // v2beta1
	},
	"autoscaling.k8s.io/VerticalPodAutoscaler": {
		{path: []string{"spec", "targetRef"}, defaultGroup: kruise.Group, split: onePerPiece{}},
	},
	"keda.sh/ScaledObject": {
		{path: []string{"spec", "scaleTargetRef"}, defaultGroup: "apps", defaultKind: kruise.KindDeployment, notKinds: unscalable, split: kedaLimits},
	},
	"http.keda.sh/HTTPScaledObject": {
		{path: []string{"spec", "scaleTargetRef"}, defaultGroup: "apps", defaultKind: kruise.KindDeployment, notKinds: unscalable},
	},
	"apps.kruise.io/WorkloadSpread": {
		{path: []string{"spec", "targetRef"}, defaultGroup: kruise.Group, kinds: []string{kruise.KindCloneSet, kruise.KindDeployment, kruise.KindReplicaSet, kruise.KindStatefulSet, "Job"}, immutable: true},
	},
	"apps.kruise.io/PersistentPodState": {names([]string{kruise.KindStatefulSet}, "spec", "targetRef")},
	"policy.kruise.io/PodUnavailableBudget": {
		{path: []string{"spec", "targetRef"}, defaultGroup: kruise.Group, notKinds: unscalable, immutable: true, split: sharedBudget{}},
	},
	"rollouts.kruise.io/Rollout": {
		names(rolloutKinds, "spec", "workloadRef"),
		names(rolloutKinds, "spec", "objectRef", "workloadRef"), // v1alpha1
	},
	"argoproj.io/Rollout": {scales("spec", "workloadRef")},
	"flagger.app/Canary":  {scales("spec", "targetRef")},
	"autoscaling.alibabacloud.com/CronHorizontalPodAutoscaler": {scales("spec", "scaleTargetRef")},
	"autoscaling.crane.io/EffectiveHorizontalPodAutoscaler":    {split(hpaLimits, scales("spec", "scaleTargetRef"))},
	"autoscaling.karmada.io/FederatedHPA":                      {split(hpaLimits, scales("spec", "scaleTargetRef"))},
	"datadoghq.com/DatadogPodAutoscaler":                       {split(datadogLimits, scales("spec", "targetRef"))},
}

// rolloutKinds are what a Kruise Rollout can roll (docs/facts/older-plugin.md#spec).
var rolloutKinds = []string{kruise.KindDeployment, kruise.KindStatefulSet, kruise.KindDaemonSet, kruise.KindCloneSet}

func split(by limits, r reference) reference {
	r.split = by
	return r
}

// Place is a field in which objects of one kind name objects of others.
type Place struct {
	// Group and Kind are of the object that holds the field.
	Group, Kind string
	// Path leads to the mapping with apiVersion, kind and name; steps into lists
	// are not marked.
	Path []string
	ref  reference
}

// Accepts reports whether the field may name an object of this kind.
func (p Place) Accepts(kind string) bool { return p.ref.accepts(kind) }

// Places are all fields that this package knows, in a fixed order.
func Places() []Place {
	var out []Place
	for _, key := range slices.Sorted(maps.Keys(referrers)) {
		group, kind, _ := strings.Cut(key, "/")
		for _, ref := range referrers[key] {
			path := slices.Clone(ref.path)
			for i := range path {
				path[i] = strings.TrimSuffix(path[i], "[]")
			}
			out = append(out, Place{group, kind, path, ref})
		}
	}
	return out
}
