package standin

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// byOwner is the index of what a controller owns, by the owner's uid.
const byOwner = "owner"

// acted are the kinds of Kruise that something here acts on, in the version that
// is stored.
var acted = map[string]schema.GroupVersionResource{
	kruise.KindCloneSet:                 hub(kruise.Group, "clonesets"),
	kruise.KindStatefulSet:              hub(kruise.Group, "statefulsets"),
	kruise.KindDaemonSet:                hub(kruise.Group, "daemonsets"),
	kruise.KindSidecarSet:               hub(kruise.Group, "sidecarsets"),
	kruise.KindUnitedDeployment:         hub(kruise.Group, "uniteddeployments"),
	kruise.KindResourceDistribution:     hub(kruise.Group, "resourcedistributions"),
	kruise.KindContainerRecreateRequest: hub(kruise.Group, "containerrecreaterequests"),
	kruise.KindImagePullJob:             hub(kruise.Group, "imagepulljobs"),
	kruise.KindNodeImage:                hub(kruise.Group, "nodeimages"),
	kruise.KindPodUnavailableBudget:     hub(kruise.PolicyGroup, "podunavailablebudgets"),
}

func hub(group, resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: kruise.V1beta1, Resource: resource}
}

// store is what the controllers know of the cluster: caches that watches keep up
// to date.
type store struct {
	pods, nodes, namespaces, claims, revisions cache.SharedIndexInformer
	replicaSets, deployments, statefulSets     cache.SharedIndexInformer
	configMaps, secrets                        cache.SharedIndexInformer
	// kruise holds the kinds of Kruise, by kind, as unstructured objects.
	kruise map[string]cache.SharedIndexInformer
	// read are workloads, as they were read last.
	read memory[*cluster.Workload]
}

func newStore(ctx context.Context, client kubernetes.Interface, d dynamic.Interface) (*store, error) {
	f := informers.NewSharedInformerFactory(client, 0)
	s := &store{
		pods: f.Core().V1().Pods().Informer(), nodes: f.Core().V1().Nodes().Informer(),
		namespaces: f.Core().V1().Namespaces().Informer(), claims: f.Core().V1().PersistentVolumeClaims().Informer(),
		revisions:   f.Apps().V1().ControllerRevisions().Informer(),
		replicaSets: f.Apps().V1().ReplicaSets().Informer(), deployments: f.Apps().V1().Deployments().Informer(),
		statefulSets: f.Apps().V1().StatefulSets().Informer(),
		configMaps:   f.Core().V1().ConfigMaps().Informer(), secrets: f.Core().V1().Secrets().Informer(),
		kruise: map[string]cache.SharedIndexInformer{},
	}
	all := []cache.SharedIndexInformer{
		s.pods, s.nodes, s.namespaces, s.claims, s.revisions, s.replicaSets, s.deployments, s.statefulSets, s.configMaps, s.secrets,
	}
	own := dynamicinformer.NewDynamicSharedInformerFactory(d, 0)
	for kind, resource := range acted {
		s.kruise[kind] = own.ForResource(resource).Informer()
		all = append(all, s.kruise[kind])
	}
	for _, i := range all {
		if err := i.AddIndexers(cache.Indexers{byOwner: ownerOf}); err != nil {
			return nil, err
		}
	}
	f.Start(ctx.Done())
	own.Start(ctx.Done())
	limit, cancel := context.WithTimeout(ctx, time.Minute*5)
	defer cancel()
	for _, i := range all {
		if !cache.WaitForCacheSync(limit.Done(), i.HasSynced) {
			return nil, errors.New("the caches of the stand-ins do not fill")
		}
	}
	return s, nil
}

func ownerOf(o any) ([]string, error) {
	m, ok := o.(metav1.Object)
	if !ok {
		return nil, nil
	}
	if ref := metav1.GetControllerOfNoCopy(m); ref != nil {
		return []string{string(ref.UID)}, nil
	}
	return nil, nil
}

// object returns an object of Kruise's, nil when it is gone.
func (s *store) object(kind string, key types.NamespacedName) *unstructured.Unstructured {
	o, _ := find[*unstructured.Unstructured](s.kruise[kind], key)
	return o
}

// pod returns the pod of a name, nil when there is none.
func (s *store) pod(namespace, name string) *corev1.Pod {
	p, _ := find[*corev1.Pod](s.pods, types.NamespacedName{Namespace: namespace, Name: name})
	return p
}

func find[T any](i cache.SharedIndexInformer, key types.NamespacedName) (T, bool) {
	name := key.Name
	if key.Namespace != "" {
		name = key.Namespace + "/" + key.Name
	}
	o, ok, _ := i.GetIndexer().GetByKey(name)
	t, is := o.(T)
	return t, ok && is
}

// owned returns what an owner controls.
func owned[T any](i cache.SharedIndexInformer, uid types.UID) []T {
	list, _ := i.GetIndexer().ByIndex(byOwner, string(uid))
	return typed[T](list)
}

// inNamespace returns what is in a namespace.
func inNamespace[T any](i cache.SharedIndexInformer, namespace string) []T {
	list, _ := i.GetIndexer().ByIndex(cache.NamespaceIndex, namespace)
	return typed[T](list)
}

// every returns all there is.
func every[T any](i cache.SharedIndexInformer) []T { return typed[T](i.GetStore().List()) }

func typed[T any](list []any) []T {
	out := make([]T, 0, len(list))
	for _, o := range list {
		if t, ok := o.(T); ok {
			out = append(out, t)
		}
	}
	return out
}
