package commands

import (
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

// renderedWeb is what rendering makes of the CloneSet web.
const renderedWeb = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {kubectl-kruise.dev/source: cloneset.web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "registry.example.com/web:1"}]}
`

// TestWithoutKruise_RolloutVerbsWork: where there is no Kruise, verbs do what they can with what was
// rendered, and say what is missing.
func TestWithoutKruise_RolloutVerbsWork(t *testing.T) {
	t.Parallel()
	c, namespace := cluster.Shared(t)
	b := &bed{c, namespace}
	b.settle(t, renderedWeb, webDeployment)
	b.call(t, "exec", "cloneset/web", "--", "hostname").ends(t, 0, "web-")
	b.call(t, "logs", "clone/web", "--all-pods").ends(t, 0, "main started")
	b.call(t, "debug", "cloneset/web", "--image", "busybox", "--", "date").ends(t, 0, "no Kruise here: container debugger-")
	b.call(t, "debug", "-l", "app=web", "--image", "busybox", "--dry-run=client").ends(t, 2, "this cluster has no Kruise")
	b.call(t, "rollout", "pause", "cloneset/web").prints(t, "deployment.apps/web paused")
	b.call(t, "rollout", "resume", "cloneset/web").prints(t, "deployment.apps/web resumed")
	b.call(t, "get", "all").ends(t, 0, "this cluster serves no kind of Kruise")
	b.call(t, "describe", "deployment/web").ends(t, 0, "Replicas:               2 desired")
	b.call(t, "create", "bcj", "x", "--image", "a:1").ends(t, 1, "the cluster has no kind BroadcastJob", "--dry-run=client -o yaml needs no cluster")
	b.call(t, "create", "bcj", "x", "--image", "a:1", "--dry-run=client").prints(t, "broadcastjob.apps.kruise.io/x created (dry run)")
	for _, args := range []string{
		"get clone/missing", "describe cloneset/missing", "set image cloneset/missing main=a:1", "scale cloneset/missing --replicas=3", "protect cloneset/missing",
		"logs clone/missing", "wait clone/web --for=delete", "get sidecarsets", "set env clonesets --all A=b", "get clone -A",
		"patch cloneset/web -p {}", "expose cloneset/web --port=80", "autoscale cloneset/web --max=3", "delete cloneset/web",
		"spread uniteddeployment/web", "create job x --from acj/y", "migrate deployment/web --to CloneSet --dry-run",
	} {
		b.call(t, strings.Fields(args)...).ends(t, 1, "hint: this cluster has no Kruise, or not that kind")
	}
	b.call(t, "get", "nonsense").ends(t, 1, "hint: 'kubectl kruise api-resources")
}

// TestWithoutKruise_VerbsUseTheRenderedObject: verbs that look at an object, or change a field of it, do so
// with what was rendered for it, and say with what.
func TestWithoutKruise_VerbsUseTheRenderedObject(t *testing.T) {
	t.Parallel()
	c, namespace := cluster.Shared(t)
	b := &bed{c, namespace}
	subset := strings.NewReplacer("{name: web,", "{name: ud-a,", "cloneset.web", "uniteddeployment.ud", "app: web", "app: ud", "replicas: 2", "replicas: 0").Replace(renderedWeb)
	b.settle(t, renderedWeb+"---"+subset+"---"+strings.ReplaceAll(subset, "ud-a", "ud-b"), webDeployment)
	const says = "no Kruise here: cloneset/web is deployment.apps/web\n"
	b.call(t, "get", "cloneset/web").ends(t, 0, says, "UP-TO-DATE")
	b.call(t, "get", "clone").ends(t, 0, "no Kruise here: clone are deployment.apps/web\n", "web ")
	b.call(t, "get", "clone", "web", "-o", "name").prints(t, "deployment.apps/web")
	b.call(t, "get", "ud/ud", "-o", "name").prints(t, "deployment.apps/ud-a", "deployment.apps/ud-b")
	b.call(t, "describe", "cloneset", "web").ends(t, 0, says, "Replicas:               2 desired")
	b.call(t, "set", "image", "cloneset/web", "main=registry.example.com/web:2").ends(t, 0, says).prints(t, "deployment.apps/web image updated")
	b.call(t, "set", "env", "ud/ud", "A=b").prints(t, "deployment.apps/ud-a env updated", "deployment.apps/ud-b env updated")
	b.call(t, "set", "env", "cloneset/web", "--list").ends(t, 0, says, "# Deployment web, container main")
	b.call(t, "scale", "cloneset/web", "--replicas=3").ends(t, 0, says).prints(t, "deployment.apps/web scaled")
	b.call(t, "scale", "ud/ud", "--replicas=3").ends(t, 2, "ud/ud was rendered into 2 objects", "hint: scale each of them by its own name")
	if u := b.get(t, "apps/v1", "Deployment", "web"); at(u, "spec.replicas") != "3" || at(u, "spec.template.spec.containers.0.image") != "registry.example.com/web:2" {
		t.Errorf("spec %v", u.Object["spec"])
	}
	b.terminal(t, "", "get", "clone").ends(t, 0, "no Kruise here: ", "UP-TO-DATE")
}
