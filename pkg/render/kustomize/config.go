package kustomize

import (
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/references"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// fieldSpec is a field that a transformer of kustomize changes.
type fieldSpec struct {
	Path   string `json:"path"`
	Create bool   `json:"create,omitempty"`
	Group  string `json:"group,omitempty"`
	// Version is empty in what is made here.
	Version string `json:"version,omitempty"`
	Kind    string `json:"kind,omitempty"`
}

// referent is a kind, and the fields that name objects of it.
type referent struct {
	Group      string      `json:"group,omitempty"`
	Version    string      `json:"version,omitempty"`
	Kind       string      `json:"kind"`
	FieldSpecs []fieldSpec `json:"fieldSpecs"`
}

// configuration is the configuration of kustomize's transformers.
type configuration struct {
	CommonLabels              []fieldSpec `json:"commonLabels"`
	TemplateLabels            []fieldSpec `json:"templateLabels"`
	VolumeClaimTemplateLabels []fieldSpec `json:"volumeClaimTemplateLabels"`
	CommonAnnotations         []fieldSpec `json:"commonAnnotations"`
	Images                    []fieldSpec `json:"images"`
	Replicas                  []fieldSpec `json:"replicas"`
	NameReference             []referent  `json:"nameReference"`
}

// Configuration returns the file for the field configurations of a
// kustomization.
func Configuration() ([]byte, error) {
	known, err := builtInConfiguration()
	if err != nil {
		return nil, err
	}
	ours := configured()
	ours.without(known)
	b, err := yaml.Marshal(ours)
	return append([]byte("# What kustomize's transformers must know of OpenKruise's kinds. List this file\n# under \"configurations:\" in each kustomization whose labels, images, replicas or\n# names should reach them.\n"), b...), err
}

func configured() configuration {
	var c configuration
	for _, k := range kruise.Kinds() {
		templates := stage.TemplatePaths(k.Group, k.Kind)
		for _, t := range templates {
			c.template(k, slashed(t), len(templates) == 1)
		}
		c.selector(k)
		c.claims(k)
		c.otherImages(k)
		if hasField(k, "replicas") && k.Kind != kruise.KindEphemeralJob { // which counts pods of others
			c.Replicas = append(c.Replicas, of(k, "spec/replicas", true))
		}
	}
	c.NameReference = append(podReferents(), workloadReferents(references.Places())...)
	return c
}

func slashed(path string) string { return strings.ReplaceAll(path, ".", "/") }

func of(k kruise.Registered, path string, create bool) fieldSpec {
	return fieldSpec{Path: path, Create: create, Group: k.Group, Kind: k.Kind}
}

// template is for one pod template. What is missing is made only where the kind
// has one template: with several, the object should have one of them.
func (c *configuration) template(k kruise.Registered, at string, only bool) {
	labels := of(k, at+"/metadata/labels", only)
	c.CommonLabels = append(c.CommonLabels, labels)
	c.TemplateLabels = append(c.TemplateLabels, labels)
	c.CommonAnnotations = append(c.CommonAnnotations, of(k, at+"/metadata/annotations", only))
	for _, path := range spreading {
		c.CommonLabels = append(c.CommonLabels, of(k, at+"/spec/"+path+"/matchLabels", false))
	}
	for _, path := range []string{"containers[]/image", "initContainers[]/image", "volumes[]/image/reference"} {
		c.Images = append(c.Images, of(k, at+"/spec/"+path, true))
	}
}

// spreading are the selectors of a pod that mean pods of its own workload, as
// kustomize takes them.
var spreading = []string{
	"affinity/podAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector",
	"affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector",
	"affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector",
	"affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector",
	"topologySpreadConstraints/labelSelector",
}

// selector is for the selectors that mean pods of the object, or of objects
// beside it. A SidecarSet's is left alone: it mostly means pods of others.
func (c *configuration) selector(k kruise.Registered) {
	switch k.Kind {
	case kruise.KindCloneSet, kruise.KindStatefulSet, kruise.KindDaemonSet, kruise.KindUnitedDeployment:
		c.CommonLabels = append(c.CommonLabels, of(k, "spec/selector/matchLabels", true))
	case kruise.KindPodUnavailableBudget, kruise.KindPodProbeMarker:
		c.CommonLabels = append(c.CommonLabels, of(k, "spec/selector/matchLabels", false))
	}
	if k.Kind != kruise.KindUnitedDeployment {
		return
	}
	for _, t := range stage.TemplatePaths(k.Group, k.Kind) {
		workload := slashed(strings.TrimSuffix(t, ".spec.template"))
		c.CommonLabels = append(c.CommonLabels,
			of(k, workload+"/metadata/labels", false), of(k, workload+"/spec/selector/matchLabels", false))
	}
}

// claims is for the labels of volume claims, which kustomize treats so in
// StatefulSets.
func (c *configuration) claims(k kruise.Registered) {
	if hasField(k, "volumeClaimTemplates") {
		labels := of(k, "spec/volumeClaimTemplates[]/metadata/labels", true)
		c.CommonLabels = append(c.CommonLabels, labels)
		c.VolumeClaimTemplateLabels = append(c.VolumeClaimTemplateLabels, labels)
	}
}

// otherImages are images outside of pod templates. Kustomize knows no lists of
// images, such as an ImageListPullJob's.
func (c *configuration) otherImages(k kruise.Registered) {
	switch k.Kind {
	case kruise.KindEphemeralJob:
		c.Images = append(c.Images, of(k, "spec/template/ephemeralContainers[]/image", false))
	case kruise.KindImagePullJob:
		c.Images = append(c.Images, of(k, "spec/image", false))
	}
}

// hasField reports whether the spec of a kind has a field.
func hasField(k kruise.Registered, name string) bool {
	spec, _ := k.Type.FieldByName("Spec")
	for f := range spec.Type.Fields() {
		if key, _, _ := strings.Cut(f.Tag.Get("json"), ","); key == name {
			return true
		}
	}
	return false
}

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

// ofKruise reports whether a group is one of Kruise's. What others name of others is not for this
// configuration to say.
func ofKruise(group string) bool { return strings.HasSuffix(group, "kruise.io") }

// workloadReferents are workloads that others name by kind and name, where one of both is of Kruise.
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
			if p.Accepts(out[i].Kind) && (ofKruise(out[i].Group) || ofKruise(p.Group)) {
				out[i].FieldSpecs = append(out[i].FieldSpecs, fieldSpec{Path: strings.Join(p.Path, "/") + "/name", Group: p.Group, Kind: p.Kind})
			}
		}
	}
	return slices.DeleteFunc(out, func(r referent) bool { return len(r.FieldSpecs) == 0 })
}
