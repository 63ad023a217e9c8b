package releases

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/checkout"
)

// seed is what people of every release write: v1alpha1, and StatefulSets as v1beta1.
const seed = `
apiVersion: apps.kruise.io/v1alpha1
kind: CloneSet
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  updateStrategy: {type: InPlaceIfPossible, partition: 1, maxUnavailable: 1}
  scaleStrategy: {maxUnavailable: 1}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "registry.example.com/web:1", ports: [{containerPort: 80}]}]}
---
apiVersion: apps.kruise.io/v1beta1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 3
  serviceName: db
  reserveOrdinals: [1]
  selector: {matchLabels: {app: db}}
  updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 1}}
  template:
    metadata: {labels: {app: db}}
    spec:
      readinessGates: [{conditionType: InPlaceUpdateReady}]
      containers: [{name: main, image: "registry.example.com/db:1"}]
---
apiVersion: apps.kruise.io/v1alpha1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  updateStrategy: {rollingUpdate: {rollingUpdateType: Standard, maxUnavailable: 1, partition: 1}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: main, image: "registry.example.com/agent:1"}]}
---
apiVersion: apps.kruise.io/v1alpha1
kind: UnitedDeployment
metadata: {name: zones}
spec:
  replicas: 4
  selector: {matchLabels: {app: zones}}
  topology: {subsets: [{name: a, replicas: 1}, {name: b}]}
  template:
    cloneSetTemplate:
      metadata: {labels: {app: zones}}
      spec:
        selector: {matchLabels: {app: zones}}
        updateStrategy: {type: InPlaceIfPossible, partition: 1}
        template:
          metadata: {labels: {app: zones}}
          spec: {containers: [{name: main, image: "registry.example.com/zones:1"}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: api}
spec:
  replicas: 1
  progressDeadlineSeconds: 60
  selector: {matchLabels: {app: api}}
  template: {metadata: {labels: {app: api}}, spec: {containers: [{name: main, image: "registry.example.com/api:1"}]}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: cache}
spec:
  replicas: 1
  serviceName: cache
  selector: {matchLabels: {app: cache}}
  template: {metadata: {labels: {app: cache}}, spec: {containers: [{name: main, image: "registry.example.com/cache:1"}]}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: node}
spec:
  selector: {matchLabels: {app: node}}
  template: {metadata: {labels: {app: node}}, spec: {containers: [{name: main, image: "registry.example.com/node:1"}]}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {mode: prod}
`

// writes are calls that write objects of Kruise, after the seed. NS is the
// namespace, whose name makes those of objects without one differ.
var writes = []string{
	"set image cloneset/web main=registry.example.com/web:2",
	"set image statefulset.apps.kruise.io/db main=registry.example.com/db:2",
	"set image ads/agent main=registry.example.com/agent:2",
	"set env cloneset/web A=b",
	"set resources statefulset.apps.kruise.io/db --limits cpu=1",
	"set serviceaccount ads/agent default",
	"scale cloneset/web --replicas 2",
	"scale statefulset.apps.kruise.io/db --replicas 2",
	"scale uniteddeployment/zones --replicas 3",
	"autoscale cloneset/web --min 2 --max 4 --cpu 80%",
	"expose cloneset/web --port 80",
	"protect cloneset/web statefulset.apps.kruise.io/db",
	"unprotect cloneset/web",
	"rollout pause cloneset/web",
	"rollout resume cloneset/web",
	"rollout pause ads/agent",
	"rollout resume ads/agent",
	"rollout pause statefulset.apps.kruise.io/db",
	"rollout resume statefulset.apps.kruise.io/db",
	"create sidecarset NS-logs --selector app=NS --container agent=registry.example.com/agent:1",
	"create broadcastjob clean --image registry.example.com/clean:1 --ttl-seconds-after-finished 600 --paused",
	"create imagepulljob warm --image registry.example.com/web:2 --node-selector pool=gpu --parallelism 5 --ttl-seconds-after-finished 600",
	"create imagelistpulljob warm --images registry.example.com/web:2,registry.example.com/api:7",
	"create podunavailablebudget web --target cloneset/web --max-unavailable 1",
	"create pub other --selector app=other --min-available 80%",
	"create resourcedistribution NS-settings --configmap NS-settings --from-literal mode=prod --include NS",
	"create job report --image registry.example.com/report:1 --suspend -- /report",
	"distribute configmap/settings --include default --name NS-copy",
	"pull registry.example.com/web:2 --node-selector kubernetes.io/os=linux --dry-run=server",
	"migrate deployment/api --to CloneSet --dst-name api-moved --create --yes",
	"migrate statefulset/cache --to StatefulSet.apps.kruise.io --create --yes",
	"migrate daemonset/node --to DaemonSet.apps.kruise.io --dry-run=server",
}

// TestVerbs_WriteWhatTheReleaseServes: what verbs write is served by the release, and has no field that it lacks. The
// API servers of 1.5, 1.8 and 1.9 have the definitions of those releases.
func TestVerbs_WriteWhatTheReleaseServes(t *testing.T) {
	for _, release := range []string{"1.5", "1.8", "1.9"} {
		t.Run(release, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, release)
			if _, ok := b.pipe(t, seed, "create", "-f", "-"); !ok {
				t.FailNow()
			}
			for _, call := range writes {
				b.call(t, strings.Fields(strings.ReplaceAll(call, "NS", b.namespace))...)
			}
			b.rolled(t)
			b.kept(t)
			b.converted(t)
		})
	}
}

// rolled: a rollout writes the template and its partition, and then waits for a controller
// that is not there.
func (b *bed) rolled(t *testing.T) {
	t.Helper()
	for _, c := range []struct{ typed, version, plural, name string }{
		{"cloneset/web", "v1alpha1", "clonesets", "web"},
		{"statefulset.apps.kruise.io/db", "v1beta1", "statefulsets", "db"},
		{"ads/agent", "v1alpha1", "daemonsets", "agent"},
	} {
		said := b.refused(t, "", "rollout", "run", c.typed, "--image", "main=registry.example.com/new:3", "--steps", "1,100%", "--pull-images", "never", "--yes", "--timeout", "4s")
		list, _, _ := unstructured.NestedSlice(b.get(t, c.version, c.plural, c.name).Object, "spec", "template", "spec", "containers")
		if len(list) != 1 || !strings.Contains(fmt.Sprint(list[0]), "registry.example.com/new:3") || !strings.Contains(said, "timed out after ") {
			t.Errorf("%s: %s: %v\n%s", b.release, c.typed, list, said)
		}
	}
}

// kept: the verbs have left alone what they were not asked to change.
func (b *bed) kept(t *testing.T) {
	t.Helper()
	for _, c := range []struct{ version, plural, name, path, want string }{
		{"v1alpha1", "clonesets", "web", "spec.updateStrategy.type", "InPlaceIfPossible"},
		{"v1alpha1", "daemonsets", "agent", "spec.updateStrategy.rollingUpdate.rollingUpdateType", "Standard"},
		{"v1beta1", "statefulsets", "db", "spec.updateStrategy.rollingUpdate.podUpdatePolicy", "InPlaceIfPossible"},
		{"v1alpha1", "uniteddeployments", "zones", "spec.template.cloneSetTemplate.spec.updateStrategy.type", "InPlaceIfPossible"},
	} {
		u := b.get(t, c.version, c.plural, c.name)
		if got, _, _ := unstructured.NestedString(u.Object, strings.Split(c.path, ".")...); got != c.want {
			t.Errorf("%s: %s of %s is %q, want %q", b.release, c.path, c.name, got, c.want)
		}
	}
	if got, _, _ := unstructured.NestedSlice(b.get(t, "v1beta1", "statefulsets", "db").Object, "spec", "reserveOrdinals"); len(got) != 1 {
		t.Errorf("%s: db reserves %v", b.release, got)
	}
}

// converted: what convert makes of native workloads for the release is taken by a strict
// server, and so is what render leaves as it is for it.
func (b *bed) converted(t *testing.T) {
	t.Helper()
	kruise := b.call(t, "convert", "-f", checkout.Path("examples", "convert", "native.yaml"), "--to", "kruise", "--kruise-version", b.release)
	own := strings.NewReplacer("namespace: shop", "namespace: "+b.namespace, "name: web", "name: moved")
	b.pipe(t, own.Replace(kruise), "create", "-f", "-", "--dry-run=server", "--validate=strict")
	kept, ok := b.pipe(t, seed, "render", "-f", "-", "--target", "kruise", "--kruise-version", b.release)
	if ok {
		b.pipe(t, kept, "replace", "-f", "-", "--dry-run=server", "--validate=strict")
	}
}

// TestApply_RefusesVersionsThatAreNotServed: manifests in a version that the release does not serve are refused with the
// one that it serves, and --target auto writes that one.
func TestApply_RefusesVersionsThatAreNotServed(t *testing.T) {
	b := newBed(t, "1.8")
	const newer = "{apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, metadata: {name: late}, spec: {replicas: 0, selector: {matchLabels: {app: late}}, template: {metadata: {labels: {app: late}}, spec: {containers: [{name: main, image: 'registry.example.com/late:1'}]}}}}"
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"apply", "-f", "-", "--target", "kruise", "--dry-run=server"}, "the cluster does not serve apps.kruise.io/v1beta1 CloneSet, but v1alpha1\nhint: 'kubectl kruise convert -f FILE --to-version v1alpha1' writes it in that version"},
		{[]string{"create", "-f", "-"}, "hint: CloneSet is served as v1beta1 only in versions after Kruise 1.9: 'kubectl kruise convert -f FILE --to-version v1alpha1'"},
	} {
		if said := b.refused(t, newer, c.args...); !strings.Contains(said, c.want) {
			t.Errorf("%q: %s\nwant %s", c.args, said, c.want)
		}
	}
	b.pipe(t, newer, "apply", "-f", "-", "--target", "auto", "--dry-run=server")
	older, _ := b.pipe(t, newer, "convert", "-f", "-", "--to-version", "v1alpha1")
	b.pipe(t, older, "create", "-f", "-", "--dry-run=server")
}
