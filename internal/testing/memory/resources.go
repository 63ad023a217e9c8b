package memory

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// Resource is one that is served.
type Resource struct {
	schema.GroupVersionKind

	Plural string
	Short  []string
	// Cluster resources live in no namespace.
	Cluster bool
	// Status is whether the status is written apart from the rest, Scale whether there is a subresource of that name.
	Status, Scale bool
	// Generations is whether changes of the spec are counted.
	Generations bool
}

// key tells resources apart.
func (r *Resource) key() schema.GroupVersionResource {
	return r.GroupVersion().WithResource(r.Plural)
}

// native is whether the type is one of Kubernetes' own.
func (r *Resource) native() bool { return scheme.Scheme.Recognizes(r.GroupVersionKind) }

// what a resource of Kubernetes has.
const (
	cluster = 1 << iota
	status
	scale
	generations
)

func native(group, version, kind, short string, has int) *Resource {
	plural := strings.ToLower(kind) + "s"
	if stem, ok := strings.CutSuffix(plural, "ys"); ok {
		plural = stem + "ies"
	} else if stem, ok := strings.CutSuffix(plural, "sss"); ok {
		plural = stem + "sses"
	}
	return &Resource{
		GroupVersionKind: schema.GroupVersionKind{Group: group, Version: version, Kind: kind}, Plural: plural, Short: strings.Fields(short),
		Cluster: has&cluster != 0, Status: has&status != 0, Scale: has&scale != 0, Generations: has&generations != 0,
	}
}

// natives are the resources of Kubernetes that programs here ask for.
func natives() []*Resource {
	const workload = status | scale | generations
	return []*Resource{
		native("", "v1", "Pod", "po", status|generations),
		native("", "v1", "Node", "no", cluster|status),
		native("", "v1", "Namespace", "ns", cluster|status),
		native("", "v1", "ConfigMap", "cm", 0),
		native("", "v1", "Secret", "", 0),
		native("", "v1", "Service", "svc", status),
		native("", "v1", "ServiceAccount", "sa", 0),
		native("", "v1", "Event", "ev", 0),
		native("", "v1", "PersistentVolumeClaim", "pvc", status),
		native("", "v1", "PersistentVolume", "pv", cluster|status),
		native("", "v1", "ReplicationController", "rc", workload),
		native("apps", "v1", kruise.KindDeployment, "deploy", workload),
		native("apps", "v1", kruise.KindReplicaSet, "rs", workload),
		native("apps", "v1", kruise.KindStatefulSet, "sts", workload),
		native("apps", "v1", kruise.KindDaemonSet, "ds", status|generations),
		native("apps", "v1", "ControllerRevision", "", 0),
		native("batch", "v1", "Job", "", status|generations),
		native("batch", "v1", "CronJob", "cj", status|generations),
		native("policy", "v1", "PodDisruptionBudget", "pdb", status|generations),
		native("autoscaling", "v2", "HorizontalPodAutoscaler", "hpa", status),
		native("coordination.k8s.io", "v1", "Lease", "", 0),
		native("events.k8s.io", "v1", "Event", "ev", 0),
		native("networking.k8s.io", "v1", "Ingress", "ing", status|generations),
		native("rbac.authorization.k8s.io", "v1", "Role", "", 0),
		native("rbac.authorization.k8s.io", "v1", "RoleBinding", "", 0),
		native("rbac.authorization.k8s.io", "v1", "ClusterRole", "", cluster),
		native("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "", cluster),
		native("admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration", "", cluster),
		native("admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration", "", cluster),
		native("authorization.k8s.io", "v1", "SelfSubjectAccessReview", "", cluster),
		native("authorization.k8s.io", "v1", "SelfSubjectRulesReview", "", cluster),
	}
}

// Kruise are the kinds of OpenKruise, each in its newest version.
func Kruise() []*Resource {
	var out []*Resource
	for _, k := range kruise.Kinds() {
		out = append(out, &Resource{
			GroupVersionKind: schema.GroupVersionKind{Group: k.Group, Version: k.Newest(), Kind: k.Kind}, Plural: k.Resource(), Short: k.ShortNames,
			Cluster: k.ClusterScoped, Status: true, Generations: true,
			Scale: slices.Contains([]string{kruise.KindCloneSet, kruise.KindStatefulSet, kruise.KindUnitedDeployment}, k.Kind),
		})
	}
	return out
}

// Rollout is the kind of Kruise Rollout, which nothing controls here.
func Rollout() *Resource {
	return &Resource{GroupVersionKind: schema.GroupVersionKind{Group: "rollouts.kruise.io", Version: "v1beta1", Kind: "Rollout"}, Plural: "rollouts", Status: true, Generations: true}
}

// versions are the group versions that are served, each once.
func (s *Server) versions() []schema.GroupVersion {
	var out []schema.GroupVersion
	for _, r := range s.list {
		if !slices.Contains(out, r.GroupVersion()) {
			out = append(out, r.GroupVersion())
		}
	}
	return out
}

// discover answers what is served.
func (s *Server) discover(path []string) (any, bool) {
	switch {
	case len(path) == 1 && path[0] == "version":
		return map[string]any{"major": "1", "minor": "37", "gitVersion": "v1.37.0"}, true
	case len(path) == 1 && path[0] == "api":
		return metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}}, true
	case len(path) == 1 && path[0] == "apis":
		out := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: []metav1.APIGroup{}}
		for _, v := range s.versions() {
			if one := (metav1.GroupVersionForDiscovery{GroupVersion: v.String(), Version: v.Version}); v.Group != "" {
				out.Groups = append(out.Groups, metav1.APIGroup{Name: v.Group, Versions: []metav1.GroupVersionForDiscovery{one}, PreferredVersion: one})
			}
		}
		return out, true
	case len(path) == 2 && path[0] == "api":
		return s.discoverVersion(schema.GroupVersion{Version: path[1]})
	case len(path) == 3 && path[0] == "apis":
		return s.discoverVersion(schema.GroupVersion{Group: path[1], Version: path[2]})
	}
	return nil, false
}

func (s *Server) discoverVersion(v schema.GroupVersion) (any, bool) {
	out := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: v.String()}
	verbs := metav1.Verbs{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
	for _, r := range s.list {
		if r.GroupVersion() != v {
			continue
		}
		one := metav1.APIResource{Name: r.Plural, SingularName: strings.ToLower(r.Kind), Namespaced: !r.Cluster, Kind: r.Kind, Verbs: verbs, ShortNames: r.Short}
		if r.Group == "authorization.k8s.io" {
			one.Verbs = metav1.Verbs{"create"}
		}
		out.APIResources = append(out.APIResources, one)
		sub := func(name, group, version, kind string, verbs ...string) {
			out.APIResources = append(out.APIResources, metav1.APIResource{
				Name: r.Plural + "/" + name, Namespaced: !r.Cluster, Group: group, Version: version, Kind: kind, Verbs: verbs,
			})
		}
		if r.Status {
			sub("status", "", "", r.Kind, "get", "patch", "update")
		}
		if r.Scale {
			sub("scale", "autoscaling", "v1", "Scale", "get", "patch", "update")
		}
		if r.Plural == "pods" {
			sub("eviction", "policy", "v1", "Eviction", "create")
		}
	}
	return out, len(out.APIResources) > 0
}
