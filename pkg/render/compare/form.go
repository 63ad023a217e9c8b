package compare

import (
	"encoding/base64"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/redact"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/check"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// natives are the types of Kubernetes' own kinds, by GROUP/KIND, whose objects get all defaults that a
// cluster would have stored, as those of Kruise's kinds do.
var natives = map[string]any{
	"/Pod": corev1.Pod{}, "apps/DaemonSet": appsv1.DaemonSet{}, "apps/Deployment": appsv1.Deployment{}, "apps/ReplicaSet": appsv1.ReplicaSet{},
	"apps/StatefulSet": appsv1.StatefulSet{}, "batch/CronJob": batchv1.CronJob{}, "batch/Job": batchv1.Job{},
}

// form is an object as it is compared: decoded JSON in the newest version of its
// kind, with defaults, without what a cluster writes, secrets sealed.
type form struct {
	value map[string]any
	// unknown are paths of fields that the kind does not have.
	unknown []string
	// typed is whether value went through the object's type.
	typed bool
}

// forms brings both sides of a pair into the same form: a type that fits only
// one of them would make differences of its own.
func (c *comparison) forms(p pair) (old, now form) {
	old, now = formOf(p.old, true), formOf(p.now, true)
	if old.typed != now.typed {
		old, now = formOf(p.old, false), formOf(p.now, false)
	}
	for _, f := range []form{old, now} {
		normalise(p.now, f.value)
		maskSecrets(p.now, f.value)
	}
	return old, now
}

func formOf(r *resource.Resource, byType bool) form {
	obj := check.NewObject(r.Group(), r.Kind())
	if native := natives[kindOf(r)]; native != nil {
		obj = reflect.New(reflect.TypeOf(native)).Interface()
	}
	if obj != nil && byType {
		if unknown, err := kruise.Decode(r.Node(), obj); err == nil {
			kruise.DefaultStored(obj)
			if v, ok := plain(obj); ok {
				return form{value: v, unknown: unknown, typed: true}
			}
		}
	}
	node := r.Node()
	if hub, _, err := kruise.ToHub(node); err == nil {
		node = hub
	}
	v, _ := tree.Value(node).(map[string]any)
	if v == nil {
		v = map[string]any{}
	}
	return form{value: v}
}

func kindOf(r *resource.Resource) string { return r.Group() + "/" + r.Kind() }

// plain is an object as decoded JSON.
func plain(obj any) (v map[string]any, ok bool) {
	v, err := tree.Plain(obj)
	return v, err == nil
}

// recorded are fields of metadata that only a cluster writes; the namespace is
// part of the identity.
var recorded = []string{
	"creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation", "managedFields", "namespace",
	"resourceVersion", "selfLink", "uid",
}

// bookkeeping are annotations that follow from the rest of an object. One of them
// repeats it whole, another is a hash over it: neither may be shown of a Secret.
var bookkeeping = []string{
	"deployment.kubernetes.io/revision", "deprecated.daemonset.template.generation", corev1.LastAppliedConfigAnnotation,
	kruise.ResourceHashCodeAnnotation, kruise.SidecarSetHashAnnotation, kruise.SidecarSetHashWithoutImageAnnotation,
}

// normalise takes out what does not count and fills in defaults.
func normalise(r *resource.Resource, v map[string]any) {
	for _, key := range []string{"apiVersion", "kind", "status"} {
		delete(v, key)
	}
	if meta, ok := v["metadata"].(map[string]any); ok {
		for _, key := range recorded {
			delete(meta, key)
		}
		delete(meta, "name")
		if held, ok := meta["finalizers"].([]any); ok {
			meta["finalizers"] = slices.DeleteFunc(held, func(f any) bool { return f == kruise.ImagePullJobFinalizer })
		}
		if annotations, ok := meta["annotations"].(map[string]any); ok {
			for _, key := range bookkeeping {
				delete(annotations, key)
			}
			// The fields of a strategy are compared, and not its text.
			text, _ := annotations[kruise.StrategyAnnotation].(string)
			var inside map[string]any
			if json.Unmarshal([]byte(text), &inside) == nil && inside != nil {
				annotations[kruise.StrategyAnnotation] = inside
			}
		}
	}
	for _, d := range defaults[kindOf(r)] {
		d.fill(v, strings.Split(d.path, "."))
	}
}

// defaultValue is a value that an API server writes where there is none. The path
// leads through maps by key and through every item of lists marked with [].
type defaultValue struct {
	path  string
	value any
	// like names a field beside it whose value is taken instead.
	like string
}

// defaults are those of kinds that have no type here or whose type comes without
// them, by GROUP/KIND: what people write out as often as not.
var defaults = map[string][]defaultValue{
	"/Service": {
		{path: "spec.type", value: "ClusterIP"},
		{path: "spec.sessionAffinity", value: "None"},
		{path: "spec.internalTrafficPolicy", value: "Cluster"},
		{path: "spec.ports[].protocol", value: "TCP"},
		{path: "spec.ports[].targetPort", like: "port"},
	},
	"/Secret":                {{path: "type", value: "Opaque"}},
	"/PersistentVolumeClaim": {{path: "spec.volumeMode", value: "Filesystem"}},
	"/PersistentVolume": {
		{path: "spec.volumeMode", value: "Filesystem"}, {path: "spec.persistentVolumeReclaimPolicy", value: "Retain"},
	},
	"batch/Job": append([]defaultValue{
		{path: "spec.parallelism", value: 1.0}, {path: "spec.completions", like: "parallelism"},
	}, job("spec")...),
	"batch/CronJob": append([]defaultValue{
		{path: "spec.concurrencyPolicy", value: "Allow"},
		{path: "spec.suspend", value: false},
		{path: "spec.successfulJobsHistoryLimit", value: 3.0},
		{path: "spec.failedJobsHistoryLimit", value: 1.0},
	}, job("spec.jobTemplate.spec")...),
	"/Pod":                                append(pod("spec"), defaultValue{path: "spec.enableServiceLinks", value: true}),
	"autoscaling/HorizontalPodAutoscaler": {{path: "spec.minReplicas", value: 1.0}},
	"storage.k8s.io/StorageClass":         {{path: "reclaimPolicy", value: "Delete"}, {path: "volumeBindingMode", value: "Immediate"}},
	"networking.k8s.io/NetworkPolicy": {
		{path: "spec.ingress[].ports[].protocol", value: "TCP"}, {path: "spec.egress[].ports[].protocol", value: "TCP"},
	},
	"apps.kruise.io/CloneSet":                      inPlace,
	"apps.kruise.io/StatefulSet":                   inPlace,
	"rbac.authorization.k8s.io/RoleBinding":        binding,
	"rbac.authorization.k8s.io/ClusterRoleBinding": binding,
}

var binding = []defaultValue{{path: "roleRef.apiGroup", value: "rbac.authorization.k8s.io"}}

// inPlace: the webhook writes an empty strategy, which has no effect.
var inPlace = []defaultValue{{path: "spec.updateStrategy.rollingUpdate.inPlaceUpdateStrategy", value: map[string]any{}}}

func job(spec string) []defaultValue {
	return append([]defaultValue{
		{path: spec + ".backoffLimit", value: 6.0},
		{path: spec + ".completionMode", value: "NonIndexed"},
		{path: spec + ".suspend", value: false},
		{path: spec + ".podReplacementPolicy", value: "TerminatingOrFailed"},
	}, pod(spec+".template.spec")...)
}

// pod are the defaults that are written out most of a pod that no workload of
// package kruise holds.
func pod(spec string) []defaultValue {
	out := []defaultValue{
		{path: spec + ".dnsPolicy", value: "ClusterFirst"},
		{path: spec + ".schedulerName", value: "default-scheduler"},
		{path: spec + ".terminationGracePeriodSeconds", value: 30.0},
		{path: spec + ".restartPolicy", value: "Always"},
	}
	for _, list := range []string{".containers[]", ".initContainers[]"} {
		out = append(out,
			defaultValue{path: spec + list + ".terminationMessagePath", value: "/dev/termination-log"},
			defaultValue{path: spec + list + ".terminationMessagePolicy", value: "File"},
			defaultValue{path: spec + list + ".ports[].protocol", value: "TCP"},
		)
	}
	return out
}

// fill sets the value where the maps that would hold it are there and it is not.
func (d defaultValue) fill(v any, steps []string) {
	m, ok := v.(map[string]any)
	if !ok {
		return
	}
	key, list := strings.CutSuffix(steps[0], "[]")
	switch {
	case list:
		items, _ := m[key].([]any)
		for _, item := range items {
			d.fill(item, steps[1:])
		}
	case len(steps) > 1:
		d.fill(m[key], steps[1:])
	case m[key] == nil:
		if m[key] = d.value; d.like != "" {
			m[key] = m[d.like]
		}
	}
}

// masked is a secret value: it can be compared, and whatever shows it shows
// [redact.Masked].
type masked struct{ content string }

func (masked) String() string { return redact.Masked }

func (masked) GoString() string { return redact.Masked }

// MarshalJSON writes the mask.
func (masked) MarshalJSON() ([]byte, error) { return json.Marshal(redact.Masked) }

// maskSecrets replaces all that a Secret holds, also one that a ResourceDistribution
// distributes. stringData and data are one, as they are once stored.
func maskSecrets(r *resource.Resource, v map[string]any) {
	switch {
	case r.Is("", "Secret"):
		maskSecret(v)
	case r.Is(kruise.Group, kruise.KindResourceDistribution):
		spec, _ := v["spec"].(map[string]any)
		if inner, ok := spec["resource"].(map[string]any); ok && inner["kind"] == "Secret" {
			maskSecret(inner)
		}
	}
}

// open are the fields of a Secret that are not secret.
var open = map[string]bool{"apiVersion": true, "kind": true, "metadata": true, "type": true, "immutable": true}

func maskSecret(v map[string]any) {
	data := map[string]any{}
	for _, key := range []string{"data", "stringData"} {
		held, ok := v[key].(map[string]any)
		if !ok {
			continue
		}
		for name, value := range held {
			data[name] = masked{content(value, key == "data")}
		}
		delete(v, key)
	}
	for key, value := range v {
		if !open[key] && value != nil {
			v[key] = masked{text(value)}
		}
	}
	if meta, ok := v["metadata"].(map[string]any); ok {
		if annotations, ok := meta["annotations"].(map[string]any); ok {
			delete(annotations, corev1.LastAppliedConfigAnnotation)
		}
	}
	if len(data) > 0 {
		v["data"] = data
	}
}

// content is what a value holds: base64 is decoded, so that line breaks in it and
// the choice of the field do not count.
func content(value any, encoded bool) string {
	s := text(value)
	if !encoded {
		return s
	}
	if plain, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(s), "")); err == nil {
		return string(plain)
	}
	return "not base64: " + s
}

func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}

// shown is a value as it may be read: sealed ones as their mask, and what is
// likely to be secret elsewhere masked as in plans.
func shown(path []string, v any, object map[string]any) any {
	if v == nil {
		return nil
	}
	last := path[len(path)-1]
	switch _, text := v.(string); {
	case path[0] == "data" && redact.Name(last):
		return redact.Masked
	case text && redact.Name(last) && !names(last):
		return redact.Masked
	}
	for i, step := range slices.Backward(path) {
		if step == "metadata" {
			return withMasks(redact.Value(path[i:], v, nil))
		}
	}
	return withMasks(redact.Value(path, v, object))
}

// names reports whether a field has the name of a secret rather than its value.
func names(key string) bool {
	key = strings.ToLower(key)
	return slices.ContainsFunc([]string{"name", "names", "ref", "refs", "path", "namespace", "seconds", "audience", "type"}, func(end string) bool {
		return strings.HasSuffix(key, end)
	})
}

func withMasks(v any) any {
	switch v := v.(type) {
	case masked:
		return redact.Masked
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = withMasks(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = withMasks(item)
		}
		return out
	}
	return v
}
