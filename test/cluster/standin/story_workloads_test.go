package standin_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const web1, web2 = "registry.example.com/web:1", "registry.example.com/web:2"

// newImage is the change that most stories make.
const newImage = `{"spec": {"template": {"spec": {"containers": [{"name": "app", "image": "` + web2 + `"}]}}}}`

// cloneSet is a CloneSet of four with a policy and a partition.
func cloneSet(policy, partition string) string {
	return `
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  updateStrategy: {rollingUpdate: {podUpdatePolicy: ` + policy + `, maxUnavailable: 2, partition: ` + partition + `}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, image: "` + web1 + `"}]}
`
}

func TestCloneSet_UpdatesByPolicyAndPartition(t *testing.T) {
	for name, story := range map[string]struct {
		policy, partition   string
		updated, stay, runs int
	}{
		"in place":  {"InPlaceIfPossible", "0", 4, 4, 4},
		"recreate":  {"ReCreate", "0", 4, 0, 4},
		"partition": {"InPlaceIfPossible", "3", 1, 4, 1},
		"percent":   {"ReCreate", "50%", 2, 2, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			b.apply(t, cloneSet(story.policy, story.partition))
			sets := b.of(t, "clonesets")
			b.await(t, sets, "web", map[string]int64{"availableReplicas": 4, "updatedReplicas": 4})
			before := b.pods(t, "app=web")
			b.patch(t, "clonesets", "web", newImage)
			b.await(t, sets, "web", map[string]int64{"updatedAvailableReplicas": int64(story.updated), "availableReplicas": 4, "replicas": 4})
			after := b.pods(t, "app=web")
			if same(before, after) != story.stay || running(after, web2) != story.runs {
				t.Errorf("%d pods stayed and %d run the new image, want %d and %d", same(before, after), running(after, web2), story.stay, story.runs)
			}
		})
	}
}

func TestCloneSet_KeepsClaims(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.apply(t, `
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, image: "`+web1+`", volumeMounts: [{name: data, mountPath: /data}]}]}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`)
	sets := b.of(t, "clonesets")
	b.await(t, sets, "web", map[string]int64{"availableReplicas": 2})
	b.patch(t, "clonesets", "web", `{"spec": {"replicas": 1}}`)
	b.await(t, sets, "web", map[string]int64{"replicas": 1, "availableReplicas": 1})
	for name := range b.pods(t, "app=web") {
		if _, err := b.Client().CoreV1().PersistentVolumeClaims(b.namespace).Get(t.Context(), "data-"+name, metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
	}
}

func TestRevisions_AreThoseOfKruise(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.apply(t, cloneSet("InPlaceIfPossible", "0"))
	o := b.await(t, b.of(t, "clonesets"), "web", map[string]int64{"availableReplicas": 4})
	status, _ := o.Object["status"].(map[string]any)
	name, _ := status["updateRevision"].(string)
	r, err := b.Client().AppsV1().ControllerRevisions(b.namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !metav1.IsControlledBy(r, o) || r.Labels["app"] != "web" || r.Revision != 1 {
		t.Errorf("%+v", r.ObjectMeta)
	}
	for _, p := range b.pods(t, "app=web") {
		if p.Labels["controller-revision-hash"] != name || p.Labels["apps.kruise.io/cloneset-instance-id"] == "" {
			t.Errorf("labels of a pod: %v", p.Labels)
		}
	}
}

func TestStatefulSet_UpdatesInOrder(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.apply(t, `
apiVersion: apps.kruise.io/v1beta1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 3
  serviceName: db
  podManagementPolicy: Parallel
  reserveOrdinals: [1]
  selector: {matchLabels: {app: db}}
  updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible, partition: 1}}
  template:
    metadata: {labels: {app: db}}
    spec:
      readinessGates: [{conditionType: InPlaceUpdateReady}]
      containers: [{name: app, image: "`+web1+`"}]
`)
	sets := b.of(t, "statefulsets")
	b.await(t, sets, "db", map[string]int64{"availableReplicas": 3})
	before := b.pods(t, "app=db")
	b.patch(t, "statefulsets", "db", newImage)
	b.await(t, sets, "db", map[string]int64{"updatedReplicas": 2, "updatedAvailableReplicas": 2, "availableReplicas": 3})
	after := b.pods(t, "app=db")
	_, lowest := after["db-0"]
	_, reserved := after["db-1"]
	if same(before, after) != 3 || running(after, web2) != 2 || after["db-0"].Spec.Containers[0].Image != web1 || !lowest || reserved {
		t.Errorf("%d pods stayed, %d run the new image: %v", same(before, after), running(after, web2), names(after))
	}
	if p := after["db-3"]; p.Spec.Hostname != "db-3" || p.Spec.Subdomain != "db" {
		t.Errorf("db-3 is called %s in %s", p.Spec.Hostname, p.Spec.Subdomain)
	}
}

func TestDaemonSet_UpdatesNodeByNode(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.apply(t, `
apiVersion: apps.kruise.io/v1beta1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  updateStrategy: {rollingUpdate: {rollingUpdateType: InPlaceIfPossible, maxUnavailable: 1, partition: 1}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: app, image: "`+web1+`"}]}
`)
	sets := b.of(t, "daemonsets")
	b.await(t, sets, "agent", map[string]int64{"desiredNumberScheduled": 3, "numberAvailable": 3})
	before := b.pods(t, "app=agent")
	b.patch(t, "daemonsets", "agent", newImage)
	b.await(t, sets, "agent", map[string]int64{"updatedNumberScheduled": 2, "numberAvailable": 3})
	after := b.pods(t, "app=agent")
	on := map[string]bool{}
	for _, p := range after {
		on[p.Spec.NodeName] = true
	}
	if same(before, after) != 3 || running(after, web2) != 2 || len(on) != 3 {
		t.Errorf("%d pods stayed, %d run the new image, on %v", same(before, after), running(after, web2), on)
	}
}

func TestEnvFromMetadata_RestartsTheContainer(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.apply(t, `
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible}}
  template:
    metadata: {labels: {app: web}, annotations: {mode: slow}}
    spec:
      containers:
      - {name: app, image: "`+web1+`", env: [{name: MODE, valueFrom: {fieldRef: {fieldPath: "metadata.annotations['mode']"}}}]}
`)
	sets := b.of(t, "clonesets")
	b.await(t, sets, "web", map[string]int64{"availableReplicas": 1})
	before := b.pods(t, "app=web")
	b.patch(t, "clonesets", "web", `{"spec": {"template": {"metadata": {"annotations": {"mode": "fast"}}}}}`)
	b.await(t, sets, "web", map[string]int64{"updatedAvailableReplicas": 1})
	for name, p := range b.pods(t, "app=web") {
		if p.UID != before[name].UID || p.Annotations["mode"] != "fast" || p.Status.ContainerStatuses[0].RestartCount != 1 {
			t.Errorf("%s: %v, %d restarts", name, p.Annotations, p.Status.ContainerStatuses[0].RestartCount)
		}
	}
}

func TestScale_ThroughTheSubresource(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.apply(t, cloneSet("ReCreate", "0"))
	sets := b.of(t, "clonesets")
	b.await(t, sets, "web", map[string]int64{"availableReplicas": 4})
	if _, err := sets.Patch(t.Context(), "web", types.MergePatchType, []byte(`{"spec": {"replicas": 2}}`), metav1.PatchOptions{}, "scale"); err != nil {
		t.Fatal(err)
	}
	b.await(t, sets, "web", map[string]int64{"replicas": 2, "availableReplicas": 2})
}
