package patches

import (
	"cmp"
	"fmt"
	"strings"
)

// Quote makes one word of the shell of a text.
func Quote(s string) string { return quoted(s) }

// Exec runs a command in a container of the target, a pod.
func (t Target) Exec(container string, command ...string) string {
	words := []string{"kubectl exec", t.at(), "-c", quoted(container), "--"}
	for _, word := range command {
		words = append(words, quoted(word))
	}
	return strings.Join(words, " ")
}

// WaitFor is a command that waits until a field, a JSONPath, has a value.
func (t Target) WaitFor(field, value, timeout string) string { return t.waitFor(field, value, timeout) }

// Above is a command that waits until a field, a JSONPath of a number, is greater.
func (t Target) Above(field string, n int32) string {
	return t.atLeast(field, int(n)+1, patient)
}

// Gone is a command that waits until the object with this uid is not there any
// more; its successor may have its name.
func (t Target) Gone(uid string) string {
	if uid == "" {
		return "kubectl wait " + t.at() + " --for=delete --timeout=10m"
	}
	return until(fmt.Sprintf(`"$(kubectl get %s --ignore-not-found -o jsonpath='{.metadata.uid}')" != %s`, t.at(), quoted(uid)), patient)
}

// Evict is a command that evicts the target, a pod: kubectl has none of its own.
func (t Target) Evict() string {
	namespace := cmp.Or(t.Namespace, "default")
	return fmt.Sprintf(`echo '{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":%q,"namespace":%q}}' | kubectl create --raw %s -f -`,
		t.Name, namespace, quoted("/api/v1/namespaces/"+namespace+"/pods/"+t.Name+"/eviction"))
}

// There is a command that waits until a field, a JSONPath, is there at all.
func (t Target) There(field, timeout string) string {
	return fmt.Sprintf("kubectl wait %s --for=jsonpath='{%s}' --timeout=%s", t.at(), field, timeout)
}
