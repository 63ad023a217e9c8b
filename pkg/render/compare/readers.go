package compare

import (
	"fmt"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// source is a ConfigMap or Secret that a pod reads.
type source struct{ kind, namespace, name string }

// readers adds which workloads read the ConfigMaps and Secrets that change or are removed:
// their pods are not restarted.
func (c *comparison) readers() {
	used := map[source][]string{}
	for _, carrier := range c.now.carriers {
		name := strings.ToLower(carrier.r.Kind()) + "/" + carrier.r.Name()
		for s := range sourcesOf(carrier.template) {
			s.namespace = carrier.namespace
			used[s] = append(used[s], name)
		}
	}
	for _, ch := range c.changes {
		if ch.ID.Group != "" || ch.ID.Kind != "ConfigMap" && ch.ID.Kind != "Secret" {
			continue
		}
		namespace := ch.ID.Namespace
		if namespace == "" {
			namespace = c.now.facts.Namespace()
		}
		by := used[source{ch.ID.Kind, namespace, ch.ID.Name}]
		switch {
		case len(by) == 0:
		case ch.Verb == Removed:
			ch.add(Loss, "", fmt.Sprintf("%s still %s it: new pods do not start without", firstNames(by), counted.Word(len(by), "reads", "read")))
		case ch.Verb == Changed && ch.Was == "":
			ch.add(Note, "", fmt.Sprintf("%s %s it: variables keep their values until the pods are restarted, files follow within minutes", firstNames(by), counted.Word(len(by), "reads", "read")))
		}
	}
}

// references are the fields by which a pod names what it reads: the map that holds
// the name, the key of the name, and the kind.
var references = map[string][2]string{
	"configMap": {"name", "ConfigMap"}, "configMapRef": {"name", "ConfigMap"}, "configMapKeyRef": {"name", "ConfigMap"},
	"secretRef": {"name", "Secret"}, "secretKeyRef": {"name", "Secret"},
}

// sourcesOf finds what a pod template reads.
func sourcesOf(template *tree.Node) map[source]bool {
	out := map[source]bool{}
	var walk func(n *tree.Node)
	walk = func(n *tree.Node) {
		tree.Each(n, func(key, value *tree.Node) {
			if ref, ok := references[key.Value]; ok {
				out[source{kind: ref[1], name: tree.StrAt(value, ref[0])}] = true
			}
			if key.Value == "secret" {
				for _, field := range []string{"secretName", "name"} {
					if name := tree.StrAt(value, field); name != "" {
						out[source{kind: "Secret", name: name}] = true
					}
				}
			}
			walk(value)
		})
		for _, item := range tree.Items(n) {
			walk(item)
		}
	}
	walk(tree.Get(template, "spec"))
	return out
}
