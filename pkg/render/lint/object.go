package lint

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/check"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Rules about kinds.
var kindAdvice = []advice{{id: "object/unknown-kind", kinds: []string{anything}, check: unknownKind}}

func unknownKind(s *subject) {
	group, kind := s.r.Group(), s.r.Kind()
	if group != kruise.Group && group != kruise.PolicyGroup {
		return
	}
	if hasDefinition(s, group, kind) {
		return
	}
	var there []string
	hint := ""
	for _, k := range kruise.Kinds() {
		switch {
		case k.Group == group && k.Kind == kind:
			return
		case strings.EqualFold(k.Kind, kind):
			hint = "write " + k.Kind + " of " + k.Group
		case k.Group == group:
			there = append(there, k.Kind)
		}
	}
	if hint == "" {
		hint = "one of: " + strings.Join(there, ", ")
	}
	s.report("kind", hint, "%s has no kind %s", group, kind)
}

// hasDefinition reports whether a CustomResourceDefinition among the objects serves the kind.
func hasDefinition(s *subject, group, kind string) bool {
	return slices.ContainsFunc(s.c.Facts.All("apiextensions.k8s.io", "CustomResourceDefinition"), func(d *resource.Resource) bool {
		spec := tree.Get(d.Node(), "spec")
		return tree.StrAt(spec, "group") == group && tree.StrAt(tree.Get(spec, "names"), "kind") == kind
	})
}

var droppedAdvice = []advice{{id: "object/dropped-field", kinds: []string{anything}, check: droppedFields, always: true}}

func droppedFields(s *subject) {
	dropped := check.Dropped(s.c, s.r)
	for _, path := range slices.Sorted(maps.Keys(dropped)) {
		s.reportAt(path, dropped[path], "unknown field: Kruise accepts it, and it has no effect")
	}
}

// Rules about labels and annotations.
var metadataAdvice = []advice{
	{id: "object/older-spelling", kinds: []string{anything}, check: olderSpelling},
	{id: "object/deprecated-spelling", kinds: []string{anything}, check: deprecatedSpelling},
	{id: "object/protection-without-effect", kinds: []string{anything}, check: protectionWithoutEffect},
}

// older is a label or annotation of v1alpha1 with the field for it in v1beta1.
type older struct{ kind, in, key, field string }

var olderSpellings = []older{
	{cloneSet, "labels", kruise.CloneSetScalingExcludePreparingDeleteLabel, "spec.scaleStrategy.excludePreparingDelete"},
	{cloneSet, "annotations", kruise.ImagePreDownloadParallelismAnnotation, rolling + "inPlaceUpdateStrategy.imagePreDownloadParallelism"},
	{cloneSet, "annotations", kruise.ImagePreDownloadTimeoutSecondsAnnotation, rolling + "inPlaceUpdateStrategy.imagePreDownloadTimeoutSeconds"},
	{cloneSet, "annotations", kruise.ImagePreDownloadMinUpdatedReadyPodsAnnotation, rolling + "inPlaceUpdateStrategy.imagePreDownloadMinUpdatedReadyPods"},
	{daemonSet, "annotations", kruise.ProgressiveCreatePodAnnotation, "spec.scaleStrategy.partitionedScaling"},
	{sidecarSet, "labels", kruise.SidecarSetCustomVersionLabel, "spec.customVersion"},
	{budget, "annotations", kruise.ProtectOperationsAnnotation, "spec.protectOperations"},
	{budget, "annotations", kruise.ProtectTotalReplicasAnnotation, "spec.protectTotalReplicas"},
}

// eachOlderSpelling calls f for each older label or annotation of the object.
func eachOlderSpelling(r *resource.Resource, f func(o older)) {
	for _, o := range olderSpellings {
		if o.kind == r.Group()+"/"+r.Kind() && tree.Get(r.Node(), "metadata", o.in, o.key) != nil {
			f(o)
		}
	}
}

func olderSpelling(s *subject) {
	if s.r.Version() != kruise.V1beta1 {
		return
	}
	eachOlderSpelling(s.r, func(o older) {
		if _, whole := tree.At(s.r.Node(), o.field); !whole {
			s.report("metadata."+o.in+"["+o.key+"]", "set "+o.field, "is the form of v1alpha1; %s uses %s", kruise.V1beta1, o.field)
		}
	})
}

func deprecatedSpelling(s *subject) {
	if s.r.Version() != kruise.V1alpha1 || !s.c.Kruise.OrNewest().Serves(s.r.Group(), s.r.Kind(), kruise.V1beta1) {
		return
	}
	eachOlderSpelling(s.r, func(o older) {
		s.report("metadata."+o.in+"["+o.key+"]", "write it as "+kruise.V1beta1+" with "+o.field, "is a field in %s", kruise.V1beta1)
	})
	const kind = rolling + "rollingUpdateType"
	if n, whole := tree.At(s.r.Node(), kind); whole && s.r.Is(kruise.Group, kruise.KindDaemonSet) && tree.Str(n) == "Surging" {
		s.report(kind, "use Standard with maxSurge", "Surging is deprecated, and becomes Standard in %s", kruise.V1beta1)
	}
}

// unscaled are the kinds for which Cascading has no effect.
var unscaled = map[string]bool{"/Service": true, "networking.k8s.io/Ingress": true}

func protectionWithoutEffect(s *subject) {
	value, given := s.r.Labels()[kruise.DeleteProtectionLabel]
	field := "metadata.labels[" + kruise.DeleteProtectionLabel + "]"
	switch {
	case !given || value == kruise.DeleteProtectionAlways:
	case value != kruise.DeleteProtectionCascading:
		s.report(field, "Always or Cascading", "%q has no effect", value)
	case unscaled[s.r.Group()+"/"+s.r.Kind()]:
		s.report(field, "use Always", "Cascading has no effect for a %s", s.r.Kind())
	}
}

// Rules about words that YAML readers interpret differently.
var yamlAdvice = []advice{{id: "object/ambiguous-yaml", kinds: []string{anything}, check: ambiguous}}

func ambiguous(s *subject) {
	for _, w := range s.r.Rereads() {
		if w.Key {
			s.reportAt(w.Path, "put the key in quotes", "kubectl reads the key %s as %q", w.Was, w.Is)
			continue
		}
		s.reportAt(w.Path, "put it in quotes, or write "+w.Is, "%s without quotes is %s for kubectl, and text for kustomize", w.Was, w.Is)
	}
}
