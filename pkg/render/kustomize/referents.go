package kustomize

import (
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/references"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// inContainers are what containers of all sorts refer to; inPods are other
// fields of a pod. They are those that kustomize knows of a Deployment.
var (
	inContainers = map[string][]string{
		"ConfigMap": {"env/valueFrom/configMapKeyRef/name", "envFrom/configMapRef/name"},
		"Secret":    {"env/valueFrom/secretKeyRef/name", "envFrom/secretRef/name"},
	}
	inPods = map[string][]string{
		"ConfigMap":             {"volumes/configMap/name", "volumes/projected/sources/configMap/name"},
		"Secret":                {"volumes/secret/secretName", "volumes/projected/sources/secret/name", "imagePullSecrets/name"},
		"ServiceAccount":        {"serviceAccountName"},
		"PersistentVolumeClaim": {"volumes/persistentVolumeClaim/claimName"},
		"PriorityClass":         {"priorityClassName"},
	}
)

// podReferents are what pods name, wherever Kruise's kinds hold pods or parts of
// them.
func podReferents() []referent {
	var out []referent
	for _, r := range []referent{
		{Kind: "ConfigMap"},
		{Kind: "Secret"},
		{Kind: "ServiceAccount"},
		{Kind: "PersistentVolumeClaim"},
		{Kind: "PriorityClass", Group: "scheduling.k8s.io"},
		{Kind: "Service"},
	} {
		for _, k := range kruise.Kinds() {
			for _, at := range podSpecs(k) {
				r.inPod(k, at)
			}
			for _, path := range otherFields[r.Kind][k.Kind] {
				r.FieldSpecs = append(r.FieldSpecs, of(k, path, false))
			}
		}
		out = append(out, r)
	}
	return out
}

// inPod adds the fields of a pod spec; a kind whose own spec is taken for one
// has only some of them.
func (r *referent) inPod(k kruise.Registered, at string) {
	for _, list := range []string{"containers", "initContainers"} {
		for _, path := range inContainers[r.Kind] {
			r.FieldSpecs = append(r.FieldSpecs, of(k, at+"/"+list+"/"+path, false))
		}
	}
	for _, path := range inPods[r.Kind] {
		if first, _, _ := strings.Cut(path, "/"); at != "spec" || hasField(k, first) {
			r.FieldSpecs = append(r.FieldSpecs, of(k, at+"/"+path, false))
		}
	}
}

// podSpecs are the paths to pod specs; a SidecarSet's own spec has the fields of
// one that it adds to pods.
func podSpecs(k kruise.Registered) []string {
	if k.Kind == kruise.KindSidecarSet {
		return []string{"spec"}
	}
	var out []string
	for _, t := range stage.TemplatePaths(k.Group, k.Kind) {
		out = append(out, slashed(t)+"/spec")
	}
	return out
}

// otherFields name objects outside of pods, by the kind that is named and the
// kind that names it.
var otherFields = map[string]map[string][]string{
	"Secret": {kruise.KindImagePullJob: {"spec/pullSecrets"}, kruise.KindImageListPullJob: {"spec/pullSecrets"}},
	"Service": {
		kruise.KindStatefulSet: {"spec/serviceName"},
		kruise.KindUnitedDeployment: {
			"spec/template/statefulSetTemplate/spec/serviceName", "spec/template/advancedStatefulSetTemplate/spec/serviceName",
		},
	},
}

// workloadReferents are workloads that others name by kind and name.
func workloadReferents(places []references.Place) []referent {
	out := []referent{
		{Kind: kruise.KindCloneSet, Group: kruise.Group},
		{Kind: kruise.KindStatefulSet, Group: kruise.Group},
		{Kind: kruise.KindDaemonSet, Group: kruise.Group},
		{Kind: kruise.KindUnitedDeployment, Group: kruise.Group},
		{Kind: kruise.KindDeployment, Group: "apps"},
		{Kind: kruise.KindStatefulSet, Group: "apps"},
		{Kind: kruise.KindDaemonSet, Group: "apps"},
		{Kind: kruise.KindReplicaSet, Group: "apps"},
		{Kind: "Job", Group: "batch"},
	}
	for i := range out {
		for _, p := range places {
			if p.Accepts(out[i].Kind) {
				out[i].FieldSpecs = append(out[i].FieldSpecs, fieldSpec{Path: strings.Join(p.Path, "/") + "/name", Group: p.Group, Kind: p.Kind})
			}
		}
	}
	return slices.DeleteFunc(out, func(r referent) bool { return len(r.FieldSpecs) == 0 })
}
