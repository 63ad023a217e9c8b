package lint

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Rules about labels and annotations.
var _ = advise(
	advice{
		Rule:  Rule{ID: "object/older-spelling", Severity: Warning, Doc: "A label or annotation of v1alpha1 on an object of v1beta1, which has a field for it: alone it has no effect there, or it is taken for the field only by older versions."},
		kinds: []string{anything}, look: olderSpelling,
	},
	advice{
		Rule:  Rule{ID: "object/deprecated-spelling", Severity: Info, Doc: "A label, annotation or value of v1alpha1 for which v1beta1 has a field, or nothing."},
		kinds: []string{anything}, look: deprecatedSpelling,
	},
	advice{
		Rule:  Rule{ID: "object/protection-without-effect", Severity: Warning, Doc: "The label policy.kruise.io/delete-protection does nothing with this value, or on this kind."},
		kinds: []string{anything}, look: protectionWithoutEffect,
	},
)

// older is a label or annotation of v1alpha1 with its field in v1beta1.
type older struct{ kind, in, key, field string }

var olders = []older{
	{cloneSet, "labels", kruise.CloneSetScalingExcludePreparingDeleteLabel, "spec.scaleStrategy.excludePreparingDelete"},
	{cloneSet, "annotations", kruise.ImagePreDownloadParallelismAnnotation, rolling + "inPlaceUpdateStrategy.imagePreDownloadParallelism"},
	{cloneSet, "annotations", kruise.ImagePreDownloadTimeoutSecondsAnnotation, rolling + "inPlaceUpdateStrategy.imagePreDownloadTimeoutSeconds"},
	{cloneSet, "annotations", kruise.ImagePreDownloadMinUpdatedReadyPodsAnnotation, rolling + "inPlaceUpdateStrategy.imagePreDownloadMinUpdatedReadyPods"},
	{daemonSet, "annotations", kruise.ProgressiveCreatePodAnnotation, "spec.scaleStrategy.partitionedScaling"},
	{sidecarSet, "labels", kruise.SidecarSetCustomVersionLabel, "spec.customVersion"},
	{budget, "annotations", kruise.ProtectOperationsAnnotation, "spec.protectOperations"},
	{budget, "annotations", kruise.ProtectTotalReplicasAnnotation, "spec.protectTotalReplicas"},
}

// spelt calls f for what the object spells in an older way.
func spelt(r *resource.Resource, f func(o older)) {
	for _, o := range olders {
		if o.kind == r.Group()+"/"+r.Kind() && tree.Get(r.Node(), "metadata", o.in, o.key) != nil {
			f(o)
		}
	}
}

func olderSpelling(s *subject) {
	if s.r.Version() != kruise.V1beta1 {
		return
	}
	spelt(s.r, func(o older) {
		if _, whole := tree.At(s.r.Node(), o.field); !whole {
			s.say("metadata."+o.in+"["+o.key+"]", "set "+o.field, "is how v1alpha1 says it; %s reads %s", kruise.V1beta1, o.field)
		}
	})
}

func deprecatedSpelling(s *subject) {
	if s.r.Version() != kruise.V1alpha1 || !s.c.Kruise.OrNewest().Serves(s.r.Group(), s.r.Kind(), kruise.V1beta1) {
		return
	}
	spelt(s.r, func(o older) {
		s.say("metadata."+o.in+"["+o.key+"]", "write it as "+kruise.V1beta1+" with "+o.field, "is a field in %s", kruise.V1beta1)
	})
	const kind = rolling + "rollingUpdateType"
	if n, whole := tree.At(s.r.Node(), kind); whole && s.r.Is(kruise.Group, kruise.KindDaemonSet) && tree.Str(n) == "Surging" {
		s.say(kind, "use Standard with maxSurge", "Surging is deprecated, and becomes Standard in %s", kruise.V1beta1)
	}
}

// unscaled are the kinds that Cascading does nothing for.
var unscaled = map[string]bool{"/Service": true, "networking.k8s.io/Ingress": true}

func protectionWithoutEffect(s *subject) {
	value, given := s.r.Labels()[kruise.DeleteProtectionLabel]
	field := "metadata.labels[" + kruise.DeleteProtectionLabel + "]"
	switch {
	case !given || value == kruise.DeleteProtectionAlways:
	case value != kruise.DeleteProtectionCascading:
		s.say(field, "Always or Cascading", "%q protects from nothing", value)
	case unscaled[s.r.Group()+"/"+s.r.Kind()]:
		s.say(field, "use Always", "Cascading protects no %s", s.r.Kind())
	}
}
