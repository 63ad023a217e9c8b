package commands

import (
	"strings"
	"testing"
)

// serving is a document of a workload whose container has two ports.
func serving(apiVersion, kind, name string) string {
	return strings.Replace(workload(apiVersion, kind, name, ""), `image: "registry.example.com/web:1"`,
		`image: "registry.example.com/web:1", ports: [{containerPort: 80}, {containerPort: 53, protocol: UDP}]`, 1)
}

// TestDefectExpose_FindsPorts: ports are those of the object, of every kind.
func TestDefectExpose_FindsPorts(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, strings.Join([]string{
		serving(kruiseV1, "CloneSet", "web"), serving(kruiseV1, "StatefulSet", "db"), serving("apps/v1", "Deployment", "api"),
		"{apiVersion: apps.kruise.io/v1beta1, kind: SidecarSet, metadata: {name: " + b.namespace + "-mesh}, spec: {selector: {matchLabels: {mesh: nowhere}}, containers: [{name: proxy, image: 'a:1', ports: [{containerPort: 9090}]}]}}",
	}, "\n---\n"))
	b.call(t, "expose", "cloneset", "web").prints(t, "service/web exposed")
	b.call(t, "expose", "asts/db", "--cluster-ip", "None").prints(t, "service/db exposed")
	b.call(t, "expose", "deploy/api").prints(t, "service/api exposed")
	b.call(t, "expose", "sidecarset/"+b.namespace+"-mesh", "--name", "mesh").prints(t, "service/mesh exposed")
	b.call(t, "expose", "svc/web", "--name", "again", "--port", "8080", "--target-port", "80").prints(t, "service/again exposed")
	for name, want := range map[string]map[string]string{
		"web":  {"spec.ports.0.port": "80", "spec.ports.1.port": "53", "spec.ports.1.protocol": "UDP", "spec.selector.app": "web"},
		"db":   {"spec.clusterIP": "None", "spec.selector.app": "db"},
		"api":  {"spec.ports.0.port": "80", "spec.selector.app": "api"},
		"mesh": {"spec.ports.0.port": "9090", "spec.selector.mesh": "nowhere"},
	} {
		u := b.get(t, "v1", "Service", name)
		if u == nil {
			t.Fatalf("there is no Service %s", name)
		}
		for path, value := range want {
			if got := at(u, path); got != value {
				t.Errorf("%s: %s is %q, want %q", name, path, got, value)
			}
		}
	}
}

func TestExpose_MakesAService(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.pipe(t, serving(kruiseV1, "CloneSet", "web"), "expose", "-f", "-", "--generator=service/v1", "--port", "80", "--container-port", "8080", "--dry-run=client", "-o", "yaml").
		ends(t, 0, "name: default", "targetPort: 8080", "app: web")
	b.pipe(t, serving(kruiseV1, "CloneSet", "one")+serving(kruiseV1, "DaemonSet", "two"), "expose", "-f", "-", "--dry-run=client").
		prints(t, "service/one exposed (dry run)", "service/two exposed (dry run)")
	b.Apply(t, b.namespace, cloneSet("bare", "")+"\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")
	b.call(t, "expose", "clone", "bare").ends(t, 1, "couldn't find port via --port flag or introspection")
	b.call(t, "expose", "clone", "bare", "--port", "80").prints(t, "service/bare exposed")
	b.call(t, "expose", "clone", "bare", "--port", "80").ends(t, 1, `services "bare" already exists`)
	b.call(t, "expose", "clone", "bare", "--port", "80", "--name", "x", "--dry-run=server").prints(t, "service/x exposed (server dry run)")
	b.call(t, "protect", "clone/bare").ends(t, 0)
	b.call(t, "expose", "clone", "bare", "--port", "80", "--name", "y").prints(t, "service/y exposed")
	if labels := b.get(t, "v1", "Service", "y").GetLabels(); labels["policy.kruise.io/delete-protection"] != "" {
		t.Errorf("the Service is protected, too: %v", labels)
	}
	b.call(t, "unprotect", "clone/bare").ends(t, 0)
	b.call(t, "expose", "cm/a", "--port", "80").ends(t, 1, "cannot expose a ConfigMap")
	b.call(t, "expose", "clone/none", "--port", "80").ends(t, 1, `"none" not found`)
	b.call(t, "expose").ends(t, 2, "You must provide one or more resources by argument or filename")
	b.call(t, "expose", "clone/bare", "--generator", "run/v1").ends(t, 2, "--generator: unknown value")
	b.terminal(t, "", "expose", "clone/bare", "--port", "x").ends(t, 1, "error: ")
}
