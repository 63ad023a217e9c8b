package commands

import (
	"strings"
	"testing"
)

const originals = `
apiVersion: v1
kind: Secret
metadata: {name: registry, labels: {app: web}, annotations: {note: text, kubectl.kubernetes.io/last-applied-configuration: '{"stringData":{"password":"hunter2"}}'}}
stringData: {password: hunter2}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {mode: prod}
---
apiVersion: v1
kind: Secret
metadata: {name: account, annotations: {kubernetes.io/service-account.name: default}}
type: kubernetes.io/service-account-token
`

func TestDistribute_CopiesToNamespaces(t *testing.T) {
	t.Parallel()
	b, other := newBed(t), newBed(t)
	b.Apply(t, b.namespace, originals)
	name := b.namespace + "-registry"
	a := b.call(t, "distribute", "secret/registry", "--include", other.namespace, "--name", name)
	a.prints(t, "resourcedistribution.apps.kruise.io/"+name+" created")
	u := b.get(t, kruiseV1, "ResourceDistribution", name)
	for path, want := range map[string]string{
		"spec.resource.data.password": "aHVudGVyMg==", "spec.resource.type": "Opaque", "spec.resource.metadata.labels.app": "web",
		"spec.resource.metadata.annotations": "map[note:text]", "spec.resource.metadata.namespace": "", "spec.resource.metadata.uid": "",
		"spec.targets.includedNamespaces.list.0.name": other.namespace,
	} {
		if got := at(u, path); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
	other.await(t, "v1", "Secret", "registry", exists)
	again := b.call(t, "distribute", "secret", "registry", "--include", other.namespace, "--name", name).ends(t, 1, "already exists")
	if said := a.out + a.err + again.out + again.err; strings.Contains(said, "hunter2") || strings.Contains(said, "aHVudGVyMg") {
		t.Errorf("a value was told:\n%s", said)
	}
}

// TestDistribute_KeepsTheOriginal: Kruise takes over nothing that is there.
func TestDistribute_KeepsTheOriginal(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, originals)
	all := b.call(t, "distribute", "cm/settings", "-A", "--dry-run=client", "-o", "yaml").ends(t, 0, "namespace "+b.namespace+" is left out: the original is there", "- name: "+b.namespace, "mode: prod")
	b.pipe(t, all.out, "lint", "-f", "-").ends(t, 0)
	b.call(t, "distribute", "cm/settings", "--include", b.namespace).ends(t, 2, "the original is in namespace "+b.namespace, "--resource-name")
	renamed := b.call(t, "distribute", "cm/settings", "-A", "--resource-name", "copy", "--dry-run=client", "-o", "yaml").ends(t, 0, "name: copy")
	if strings.Contains(renamed.out+renamed.err, b.namespace) {
		t.Errorf("the namespace was left out although the copies have another name:\n%s%s", renamed.out, renamed.err)
	}
}

func TestDistribute_RefusesWrongCalls(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, originals+"---\n"+cloneSet("web", ""))
	b.call(t, "distribute", "secret/registry").ends(t, 2, "no target namespaces given")
	b.call(t, "distribute", "secret/none", "-A").ends(t, 1, `secrets "none" not found`)
	b.call(t, "distribute", "clone/web", "-A").ends(t, 2, "Kruise distributes Secrets and ConfigMaps, not a CloneSet")
	b.call(t, "distribute", "secret/registry", "secret/account", "-A").ends(t, 2, "one Secret or ConfigMap is wanted, not 2 objects")
	b.call(t, "distribute", "secret/account", "-A").ends(t, 1, "cannot be distributed", "hint: its token is for one account")
	b.terminal(t, "", "distribute").ends(t, 2, "one Secret or ConfigMap is wanted")
}
