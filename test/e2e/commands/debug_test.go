package commands

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const ephemeralJobs = "apps.kruise.io/v1alpha1"

// TestDebug_OnePodOrMany: an EphemeralJob for many pods, kubectl's own way for one.
func TestDebug_OnePodOrMany(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, cloneSet("web", ""))
	b.await(t, kruiseV1, "CloneSet", "web", ready)
	pod := b.podsOf(t, "web")[0]
	b.call(t, "debug", "cloneset/web", "--image", "busybox", "--job-name", "look", "-c", "eye", "--parallelism", "2", "--", "sh", "-c", "date").
		prints(t, "ephemeraljob.apps.kruise.io/look created")
	u := b.get(t, ephemeralJobs, "EphemeralJob", "look")
	if u == nil {
		t.FailNow()
	}
	for path, want := range map[string]string{
		"spec.selector.matchLabels.app": "web", "spec.parallelism": "2", "spec.replicas": "",
		"spec.template.ephemeralContainers.0.name": "eye", "spec.template.ephemeralContainers.0.command": "[sh -c date]",
	} {
		if got := at(u, path); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
	b.call(t, "debug", "-l", "app=web", "--image", "busybox", "--job-name", "dry", "--dry-run=client", "-o", "yaml").ends(t, 0, "kind: EphemeralJob", "app: web")
	b.call(t, "debug", "-l", "app=web", "--image", "busybox", "--job-name", "dry", "--dry-run=server").prints(t, "ephemeraljob.apps.kruise.io/dry created (server dry run)")
	if b.get(t, ephemeralJobs, "EphemeralJob", "dry") != nil {
		t.Error("a dry run wrote")
	}
	b.call(t, "debug", pod, "--image", "busybox", "-c", "eye", "--target", "main").ends(t, 0)
	p, err := b.Client().CoreV1().Pods(b.namespace).Get(t.Context(), pod, metav1.GetOptions{})
	must(t, err)
	if len(p.Spec.EphemeralContainers) == 0 || p.Spec.EphemeralContainers[0].Image != "busybox" {
		t.Errorf("%+v", p.Spec.EphemeralContainers)
	}
}

// TestDebug_RefusesWrongCalls: what cannot be is said, with the exit code.
func TestDebug_RefusesWrongCalls(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, cloneSet("web", ""))
	for args, want := range map[string]string{
		"debug --image busybox":                              "name a pod, a workload, or a selector",
		"debug cloneset/web":                                 "you must specify --image",
		"debug cloneset/web -it --image busybox":             "are for one pod",
		"debug cloneset/web --image busybox --dry-run=maybe": "--dry-run",
		"debug x -l app=web --image busybox":                 "a selector cannot be combined with names",
		"debug -l =,= --image busybox":                       "-l: ",
		"debug x --image busybox --replicas 2":               "are for an EphemeralJob",
	} {
		b.call(t, strings.Fields(args)...).ends(t, 2, want)
	}
	b.call(t, "debug", "missing", "--image", "busybox").ends(t, 1, `pods "missing" not found`)
	b.call(t, "debug", "cloneset/missing", "--image", "busybox").ends(t, 1, `"missing" not found`)
}
