package spread_test

import (
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/spread"
)

func TestReplicas(t *testing.T) {
	for _, c := range []struct {
		name, target, paths string
		want                int
		err                 string
	}{
		{"given", "{kind: Deployment, spec: {replicas: 7}}", "", 7, ""},
		{"default", "{kind: CloneSet, spec: {}}", "", 1, ""},
		{"job (007)", "{kind: Job, spec: {parallelism: 5, completions: 9, replicas: 2}}", "", 5, ""},
		{"negative", "{kind: Deployment, spec: {replicas: -7}}", "", 0, ""},
		{"path (030)", "{spec: {replicas: 4}}", "spec.replicas", 4, ""},
		{"sum", "{spec: {parts: [{n: 2}, {n: 3}], replicas: 4}}", "spec.parts[0].n spec.parts[1].n", 5, ""},
		{"nowhere", "{spec: {replicas: 4}}", "spec.size", 0, "spec.size does not lead to a number"},
		{"text", "{spec: {size: many}}", "spec.size", 0, "spec.size does not lead to a number"},
		{"negative path", "{spec: {size: -1}}", "spec.size", 0, "spec.size does not lead to a number"},
		{"sum of the largest", "{spec: {a: 2147483647, b: 2147483647}}", "spec.a spec.b", 2147483647, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := spread.Replicas(node(t, c.target), strings.Fields(c.paths))
			if c.err == "" && (err != nil || got != c.want) {
				t.Errorf("got %d, %v, want %d", got, err, c.want)
			}
			if c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("got %d, %v, want %q", got, err, c.err)
			}
		})
	}
}
