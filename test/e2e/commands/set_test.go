package commands

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

const (
	native      = "apps/v1"
	sidecarSet  = "\napiVersion: apps.kruise.io/v1beta1\nkind: SidecarSet\nmetadata: {name: %s}\nspec:\n  selector: {matchLabels: {app: none}}\n  containers: [{name: main, image: 'registry.example.com/web:1'}]\n---\n"
	templateDoc = "{metadata: {labels: {app: web}}, spec: {restartPolicy: %s, containers: [{name: main, image: 'registry.example.com/web:1'}]}}"
)

// templated is one object of each kind that has a pod template, with the path to it.
func templated() (documents string, paths map[string]string) {
	once, always := fmt.Sprintf(templateDoc, "Never"), fmt.Sprintf(templateDoc, "Always")
	union := `
apiVersion: apps.kruise.io/v1beta1
kind: UnitedDeployment
metadata: {name: web}
spec:
  replicas: 0
  selector: {matchLabels: {app: web}}
  template:
    cloneSetTemplate: {metadata: {labels: {app: web}}, spec: {selector: {matchLabels: {app: web}}, template: ` + always + `}}
  topology: {subsets: [{name: a}]}
---
apiVersion: apps.kruise.io/v1beta1
kind: BroadcastJob
metadata: {name: web}
spec: {paused: true, template: ` + once + `}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: web}
spec: {schedule: "0 0 1 1 *", jobTemplate: {spec: {template: ` + once + `}}}
---
apiVersion: v1
kind: ReplicationController
metadata: {name: web}
spec: {replicas: 0, selector: {app: other}, template: ` + strings.Replace(always, "app: web", "app: other", 1) + `}
---
`
	none := "updateStrategy: {type: OnDelete}"
	documents = cloneSet("web", "") + workload(kruiseV1, "StatefulSet", "asts", "") + strings.Replace(workload(kruiseV1, "DaemonSet", "ads", ""), "replicas: 3", "", 1) +
		workload(native, "Deployment", "web", "") + workload(native, "StatefulSet", "sts", none) + workload(native, "ReplicaSet", "rs", "") + union
	return documents, map[string]string{
		kruiseV1 + " CloneSet web": "", kruiseV1 + " StatefulSet asts": "", kruiseV1 + " DaemonSet ads": "",
		native + " Deployment web": "", native + " StatefulSet sts": "", native + " ReplicaSet rs": "",
		kruiseV1 + " BroadcastJob web":     "",
		kruiseV1 + " UnitedDeployment web": "spec.template.cloneSetTemplate.",
		"batch/v1 CronJob web":             "spec.jobTemplate.",
		"v1 ReplicationController web":     "",
	}
}

// typed is how a command names an object of a kind.
func typed(object string) (apiVersion, kind, name, arg string) {
	f := strings.Fields(object)
	group, _, grouped := strings.Cut(f[0], "/")
	arg = strings.ToLower(f[1])
	if grouped {
		arg += "." + group
	}
	return f[0], f[1], f[2], arg + "/" + f[2]
}

// TestSet_EveryKindWithATemplate: every kind with a pod template, each thing that can be set there.
func TestSet_EveryKindWithATemplate(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	documents, paths := templated()
	b.Apply(t, b.namespace, documents)
	for object, prefix := range paths {
		t.Run(object, func(t *testing.T) {
			t.Parallel()
			apiVersion, kind, name, arg := typed(object)
			b.call(t, "set", "image", arg, "main=registry.example.com/web:2").prints(t, arg+" image updated")
			b.call(t, "set", "image", arg, "main=registry.example.com/web:2").prints(t)
			b.call(t, "set", "env", arg, "MODE=fast").prints(t, arg+" env updated")
			b.call(t, "set", "resources", arg, "--limits=cpu=1,memory=1Gi").prints(t, arg+" resource requirements updated")
			b.call(t, "set", "serviceaccount", arg, "shop").prints(t, arg+" serviceaccount updated")
			u := b.get(t, apiVersion, kind, name)
			spec := prefix + "spec.template.spec."
			main := spec + "containers.0."
			got := []string{at(u, main+"image"), at(u, main+"env.0.value"), at(u, main+"resources.limits.memory"), at(u, spec+"serviceAccountName")}
			if fmt.Sprint(got) != "[registry.example.com/web:2 fast 1Gi shop]" {
				t.Errorf("%s: %q", object, got)
			}
		})
	}
}

// TestSet_ExplainsOnStderr: what a change does to pods is said before it is made, and not on the
// stream that programs read.
func TestSet_ExplainsOnStderr(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, cloneSet("web", "updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible, partition: 2}}"))
	b.await(t, kruiseV1, "CloneSet", "web", ready)
	a := b.call(t, "set", "image", "cloneset/web", "main=registry.example.com/web:2", "--explain", "--dry-run=server", "-o", "name").ends(t, 0, "in place, main restarts inside the pod", "pods: 1 of 3 are updated")
	if a.out != "cloneset.apps.kruise.io/web\n" {
		t.Errorf("standard output: %q", a.out)
	}
	b.call(t, "set", "env", "cloneset/web", "A=b", "--explain", "--dry-run=client").ends(t, 0, "recreate: each pod is deleted, and its controller creates a new one", "env updated (dry run)")
	b.terminal(t, "", "set", "sa", "cloneset/web", "shop", "--explain").ends(t, 0, "recreate", "serviceaccount updated")
	b.call(t, "set", "image", "cloneset/web", "main=registry.example.com/web:1", "other=registry.example.com/web:1").ends(t, 1, `unable to find container named "other"`, "hint: it has main")
	b.call(t, "set", "image", "cloneset/missing", "main=registry.example.com/web:1").ends(t, 1, `"missing" not found`)
	b.call(t, "set", "image", "nothings/web", "main=registry.example.com/web:1").ends(t, 1, "doesn't have a resource type", "hint:")
	b.call(t, "set", "image", "cloneset/web", "main=Not:An:Image").ends(t, 2, "is not an image")
	b.call(t, "set", "image", "cloneset/web").ends(t, 2, "at least one image update is required")
	b.call(t, "set", "resources", "cloneset/web", "--limits=cpu=lots").ends(t, 2, `"lots" is not a quantity`)
	b.call(t, "set", "env", "cloneset/web", "A=b", "--all", "-l", "a=b").ends(t, 2, "cannot set --all and --selector")
	b.call(t, "set", "selector", "cloneset/web", "a=b").ends(t, 1, "only supported for Services")
}

const cron = `
apiVersion: apps.kruise.io/v1beta1
kind: AdvancedCronJob
metadata: {name: nightly}
spec:
  schedule: "0 0 1 1 *"
  template: {broadcastJobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: "registry.example.com/web:1"}]}}}}}
`

// TestSet_RefusesTheTemplateOfAnAdvancedCronJob: Kruise lets no template of one change, which is said before;
// another can take its place.
func TestSet_RefusesTheTemplateOfAnAdvancedCronJob(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, cron)
	image := []string{"set", "image", "acj/nightly", "main=registry.example.com/web:2"}
	b.call(t, append(image, "--explain")...).ends(t, 1, "Kruise refuses a new template", "is immutable")
	a := b.call(t, append(image, "--dry-run=client", "-o", "yaml")...).ends(t, 0, "image: registry.example.com/web:2")
	b.pipe(t, a.out, "replace", "--force", "-f", "-").ends(t, 0, "replaced")
	if got := at(b.get(t, kruiseV1, "AdvancedCronJob", "nightly"), "spec.template.broadcastJobTemplate.spec.template.spec.containers.0.image"); got != "registry.example.com/web:2" {
		t.Errorf("the image is %s", got)
	}
}

// TestSet_FieldsOutsideOfTemplates: what is set elsewhere than in templates.
func TestSet_FieldsOutsideOfTemplates(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, `
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{port: 80}], selector: {app: web, track: old}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: web}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: ada}]
`)
	b.call(t, "set", "selector", "service/web", "app=api").prints(t, "service/web selector updated")
	b.call(t, "set", "selector", "service/web", "app=web", "--resource-version", "1").ends(t, 1, "the object has been modified")
	if got := at(b.get(t, "v1", "Service", "web"), "spec.selector"); got != "map[app:api]" {
		t.Errorf("the selector is %s", got)
	}
	b.call(t, "set", "subject", "rolebinding/web", "--user=ada", "--serviceaccount", "shop:web").prints(t, "rolebinding.rbac.authorization.k8s.io/web subjects updated")
	u := b.get(t, "rbac.authorization.k8s.io/v1", "RoleBinding", "web")
	if got := at(u, "subjects.0.name") + at(u, "subjects.1.name") + at(u, "subjects.2.name"); got != "adaweb" {
		t.Errorf("the subjects are %s", got)
	}
	b.call(t, "set", "subject", "service/web", "--user=ada").ends(t, 1, "only supported for RoleBinding")
	b.call(t, "set", "subject", "rolebinding/web", "--serviceaccount=web").ends(t, 2, "is not <namespace>:<name>")
}

// TestSet_CompletesFromTheCluster: the shell is offered what the cluster has.
func TestSet_CompletesFromTheCluster(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, cloneSet("web", ""))
	b.call(t, "__complete", "set", "image", "cloneset/w").ends(t, 0, "cloneset/web\n")
	b.call(t, "__complete", "set", "image", "cloneset/web", "").ends(t, 0, "main=\n")
	b.call(t, "__complete", "set", "env", "cloneset/web", "-c", "").ends(t, 0, "main\n")
	b.call(t, "__complete", "set", "image", "cloneset/missing", "").ends(t, 0)
}

// TestSetEnv_ReadsReferencesAndRetriesConflicts: references, what they lead to, and writers at the same time.
func TestSetEnv_ReadsReferencesAndRetriesConflicts(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, cloneSet("web", "")+`
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {shop.color: blue, size: small}
`)
	b.call(t, "set", "env", "--from=configmap/settings", "--prefix=X_", "cloneset/web").ends(t, 0, "key shop.color transferred to SHOP_COLOR", "env updated")
	b.call(t, "set", "env", "cloneset/web", "--list").prints(t, "# CloneSet web, container main", "# X_SHOP_COLOR from configmap settings, key shop.color", "# X_SIZE from configmap settings, key size")
	b.call(t, "set", "env", "cloneset/web", "--list", "--resolve", "X_SIZE-", "A=b").prints(t, "# CloneSet web, container main", "X_SHOP_COLOR=blue", "A=b")
	b.call(t, "set", "env", "--from=configmap/settings", "--keys=none", "cloneset/web").ends(t, 1, `has no key "none"`)
	b.call(t, "set", "env", "--from=cloneset/web", "cloneset/web").ends(t, 1, "unsupported resource specified in --from")
	b.pipe(t, "C=d # no more\n\nE=f\n", "set", "env", "-e", "-", "cloneset/web", "X_SIZE-").prints(t, "cloneset.apps.kruise.io/web env updated")
	b.call(t, "set", "env", "cloneset/web", "C=e", "--overwrite=false").ends(t, 1, "already has a value, and --overwrite is false")
	var all sync.WaitGroup
	for i := range 3 {
		all.Go(func() {
			b.call(t, "set", "env", "cloneset/web", fmt.Sprintf("W%d=%d", i, i)).ends(t, 0)
		})
	}
	all.Wait()
	a := b.call(t, "set", "env", "cloneset/web", "--list").ends(t, 0)
	for _, want := range []string{"C=d \n", "E=f\n", "W0=0\n", "W1=1\n", "W2=2\n"} {
		if !strings.Contains(a.out, want) {
			t.Errorf("no %q in\n%s", want, a.out)
		}
	}
}

// TestDefectSet_DryRunAndListWriteNothing: the older plugin wrote under --list and --dry-run, could not
// --local, and changed the first object only.
func TestDefectSet_DryRunAndListWriteNothing(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	file := cloneSet("a", "") + cloneSet("b", "") + workload(kruiseV1, "StatefulSet", "c", "")
	b.Apply(t, b.namespace, file)
	before := b.get(t, kruiseV1, "CloneSet", "a").GetGeneration()
	b.call(t, "set", "env", "cloneset/a", "A=b", "--list").ends(t, 0, "A=b")
	b.call(t, "set", "env", "cloneset/a", "A=b", "--dry-run=client").prints(t, "cloneset.apps.kruise.io/a env updated (dry run)")
	b.call(t, "set", "resources", "cloneset/a", "--limits=cpu=1", "--dry-run=server").prints(t, "cloneset.apps.kruise.io/a resource requirements updated (server dry run)")
	b.pipe(t, file, "set", "env", "-f", "-", "--local", "A=b").prints(t, "cloneset.apps.kruise.io/a env updated", "cloneset.apps.kruise.io/b env updated", "statefulset.apps.kruise.io/c env updated")
	if got := b.get(t, kruiseV1, "CloneSet", "a").GetGeneration(); got != before {
		t.Errorf("generation %d, was %d: something was written", got, before)
	}
	b.call(t, "set", "env", "clonesets", "--all", "A=b").prints(t, "cloneset.apps.kruise.io/a env updated", "cloneset.apps.kruise.io/b env updated")
	b.pipe(t, file, "set", "resources", "-f", "-", "--limits=cpu=1").
		prints(t, "cloneset.apps.kruise.io/a resource requirements updated", "cloneset.apps.kruise.io/b resource requirements updated", "statefulset.apps.kruise.io/c resource requirements updated")
}

// TestDefectSet_WorksForSidecarSets: the older plugin panicked on everything but images.
func TestDefectSet_WorksForSidecarSets(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, fmt.Sprintf(sidecarSet, b.namespace))
	arg := "sidecarset.apps.kruise.io/" + b.namespace
	t.Cleanup(func() { _ = b.command(t, "delete", arg).Run() })
	b.call(t, "set", "image", arg, "main=registry.example.com/web:2", "--explain").ends(t, 0, "in place, main restarts inside the pod", arg+" image updated")
	b.call(t, "set", "env", arg, "A=b", "--explain").ends(t, 0, arg+" env updated")
	b.call(t, "set", "resources", arg, "--limits=cpu=1").prints(t, arg+" resource requirements updated")
	b.call(t, "set", "serviceaccount", arg, "shop").ends(t, 1, "sidecars run as the service account of the pod")
	u := b.get(t, kruiseV1, "SidecarSet", b.namespace)
	if got := at(u, "spec.containers.0.image") + at(u, "spec.containers.0.env.0.name") + at(u, "spec.containers.0.resources.limits.cpu"); got != "registry.example.com/web:2A1" {
		t.Errorf("%s", got)
	}
}
