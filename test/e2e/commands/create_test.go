package commands

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestCreate_FromAFile(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	const both = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n---\n{apiVersion: v1, kind: Secret, metadata: {name: a}}\n"
	b.pipe(t, both, "create", "-f", "-").prints(t, "configmap/a created", "secret/a created")
	b.pipe(t, both, "create", "-f", "-").ends(t, 1, `configmaps "a" already exists`, `secrets "a" already exists`)
	b.pipe(t, both, "create", "-f", "-", "--dry-run").prints(t, "configmap/a created (dry run)", "secret/a created (dry run)")
	b.call(t, "create").ends(t, 2, "must specify one of -f and -k")
	b.call(t, "create", "-f", "/nonexistent.yaml").ends(t, 1, "/nonexistent.yaml")
}

// TestCreate_EveryFormIsAccepted: the server takes what each form makes.
func TestCreate_EveryFormIsAccepted(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.call(t, "create", "bcj", "clean", "--image", "registry.example.com/clean:1", "--paused").prints(t, "broadcastjob.apps.kruise.io/clean created")
	b.call(t, "create", "job", "report", "--image", "registry.example.com/report:1", "--suspend", "--", "run").prints(t, "job.batch/report created")
	b.call(t, "create", "ipj", "warm", "--image", "registry.example.com/web:1", "--node-selector", "no=node", "-o", "name").
		prints(t, "imagepulljob.apps.kruise.io/warm")
	b.call(t, "create", "pub", "web", "--selector", "app=web", "--max-unavailable", "1", "--dry-run=server").
		prints(t, "podunavailablebudget.policy.kruise.io/web created (server dry run)")
	if b.get(t, "policy.kruise.io/v1beta1", "PodUnavailableBudget", "web") != nil {
		t.Error("a dry run wrote")
	}
	name := b.namespace + "-logs"
	b.call(t, "create", "sidecarset", name, "-l", "app=none-such", "--container", "agent=registry.example.com/agent:1", "--api-version", "v1alpha1", "--save-config").
		prints(t, "sidecarset.apps.kruise.io/"+name+" created")
	b.call(t, "create", "sidecarset", name, "-l", "app=x", "--container", "agent=a:1").ends(t, 1, "already exists", "hint: choose another name")
	b.call(t, "create", "pub", "web", "--selector", "app=web").ends(t, 1, "PodUnavailableBudget")

	u := b.get(t, kruiseV1, "ImagePullJob", "warm")
	ours := func(f metav1.ManagedFieldsEntry) bool { return f.Manager == "kubectl-kruise" }
	if !slices.ContainsFunc(u.GetManagedFields(), ours) || at(u, "spec.selector.matchLabels.no") != "node" {
		t.Errorf("managers %v, spec %v", u.GetManagedFields(), u.Object["spec"])
	}
}

// twoContainers is a pod with a hook that has no preStop, which the older plugin
// stumbled over.
const twoContainers = `
apiVersion: v1
kind: Pod
metadata: {name: web-0}
spec:
  containers:
  - {name: app, image: "registry.example.com/web:1", ports: [{containerPort: 80}], lifecycle: {postStart: {exec: {command: [x]}}}}
  - {name: log, image: "registry.example.com/log:1"}
`

func TestDefectRecreateRequest_IsAccepted(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, twoContainers)
	// Kruise refuses requests for containers that have not been seen running.
	b.await(t, "v1", "Pod", "web-0", func(u *unstructured.Unstructured) bool { return at(u, "status.containerStatuses.1.containerID") != "" })
	b.call(t, "create", "ContainerRecreateRequest", "one", "-p", "web-0", "--containers", "log", "-u", "7", "-m", "8").
		prints(t, "containerrecreaterequest.apps.kruise.io/one created")
	u := b.get(t, kruiseV1, "ContainerRecreateRequest", "one")
	for path, want := range map[string]string{
		"spec.podName": "web-0", "spec.containers.0.name": "log", "spec.containers.1": "",
		"spec.strategy.unreadyGracePeriodSeconds": "7", "spec.strategy.minStartedSeconds": "8", "spec.ttlSecondsAfterFinished": "1800",
	} {
		if got := at(u, path); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
	b.call(t, "create", "crr", "all", "-p", "web-0").prints(t, "containerrecreaterequest.apps.kruise.io/all created")
	if u := b.get(t, kruiseV1, "ContainerRecreateRequest", "all"); at(u, "spec.containers.0.name")+at(u, "spec.containers.1.name") != "applog" {
		t.Errorf("containers %v", u.Object["spec"])
	}
	b.call(t, "create", "crr", "x", "-p", "web-0", "--containers", "web").ends(t, 1, `pod web-0 has no container "web"`, "hint: it has [app log]")
	b.call(t, "create", "crr", "x", "-p", "web-1").ends(t, 1, "there is no pod web-1 in namespace "+b.namespace)
}

const schedules = `
apiVersion: apps.kruise.io/v1beta1
kind: AdvancedCronJob
metadata: {name: clean}
spec:
  schedule: "0 0 1 1 *"
  paused: true
  template:
    broadcastJobTemplate:
      spec: {paused: true, template: {spec: {restartPolicy: Never, containers: [{name: main, image: "registry.example.com/clean:1"}]}}}
---
apiVersion: apps.kruise.io/v1beta1
kind: AdvancedCronJob
metadata: {name: report}
spec:
  schedule: "0 0 1 1 *"
  paused: true
  template: {jobTemplate: {spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: main, image: "registry.example.com/report:1"}]}}}}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: old}
spec:
  schedule: "0 0 1 1 *"
  suspend: true
  jobTemplate: {metadata: {labels: {team: shop}, annotations: {note: text}}, spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: main, image: "registry.example.com/old:1"}]}}}}
`

func TestDefectCreate_FromAnotherObject(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, schedules)
	b.call(t, "create", "job", "a", "--from", "cronjob/old").prints(t, "job.batch/a created")
	b.call(t, "create", "job", "b", "--from", "acj/report").prints(t, "job.batch/b created")
	b.call(t, "create", "broadcastJob", "c", "--from", "acj/clean", "--labels", "more=x").prints(t, "broadcastjob.apps.kruise.io/c created")
	b.call(t, "create", "broadcastJob", "d", "--from", "acj/clean", "--dry-run=client").prints(t, "broadcastjob.apps.kruise.io/d created (dry run)")
	for _, c := range []struct{ version, kind, name, owner, image string }{
		{"batch/v1", "Job", "a", "batch/v1", "registry.example.com/old:1"},
		{"batch/v1", "Job", "b", kruiseV1, "registry.example.com/report:1"},
		{kruiseV1, "BroadcastJob", "c", kruiseV1, "registry.example.com/clean:1"},
	} {
		u := b.get(t, c.version, c.kind, c.name)
		if u == nil {
			t.Fatalf("there is no %s %s", c.kind, c.name)
		}
		if got := at(u, "metadata.ownerReferences.0.apiVersion"); got != c.owner || metav1.GetControllerOf(u) != nil {
			t.Errorf("%s: owners %v", c.name, u.GetOwnerReferences())
		}
		if got := at(u, "spec.template.spec.containers.0.image"); got != c.image || u.GetAnnotations()["cronjob.kubernetes.io/instantiate"] != "manual" {
			t.Errorf("%s: image %q, %v", c.name, got, u.GetAnnotations())
		}
	}
	if u := b.get(t, "batch/v1", "Job", "a"); u.GetAnnotations()["note"] != "text" || u.GetLabels()["team"] != "shop" {
		t.Errorf("annotations %v, labels %v", u.GetAnnotations(), u.GetLabels())
	}
	b.call(t, "create", "job", "x", "--from", "acj/clean").ends(t, 1, "from must be a job template, but got broadcastjob")
	b.call(t, "create", "broadcastJob", "x", "--from", "acj/report").ends(t, 1, "from must be a broadcastjob template, but got job")
	b.call(t, "create", "broadcastJob", "x", "--from", "cronjob/old").ends(t, 2, "from must be an existing advancedcronjob, but got cronjob")
	b.call(t, "create", "job", "x", "--from", "acj/none").ends(t, 1, `"none" not found`)
}

// TestCreate_SameOnATerminal: a person sees what a pipe gets.
func TestCreate_SameOnATerminal(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	a := b.terminal(t, "", "create", "ilpj", "warm", "--images", "a:1,b:2", "--dry-run=client")
	if a.code != 0 || strings.TrimSpace(a.out) != "imagelistpulljob.apps.kruise.io/warm created (dry run)" {
		t.Errorf("exit %d\n%s", a.code, a.out)
	}
}
