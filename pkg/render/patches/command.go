package patches

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// Typed is TYPE.VERSION.GROUP/NAME, which kubectl never takes for another kind of
// the same name; kinds of the core group have their own name alone.
func Typed(t Target) string {
	kind := strings.ToLower(t.Kind)
	if group, version, ok := strings.Cut(t.APIVersion, "/"); ok {
		kind += "." + version + "." + group
	}
	return kind + "/" + t.Name
}

// Named names the target as in messages: CloneSet shop/web.
func Named(t Target) string {
	if t.Namespace == "" {
		return t.Kind + " " + t.Name
	}
	return t.Kind + " " + t.Namespace + "/" + t.Name
}

// at is the target as arguments of kubectl.
func arguments(t Target) string { return Quote(Typed(t)) + inNamespace(t) }

// in is the flag of the namespace.
func inNamespace(t Target) string {
	if t.Namespace == "" {
		return ""
	}
	return " -n " + Quote(t.Namespace)
}

// Command is how kubectl sends the patch that a file holds.
func (p *Patch) Command(file string) string {
	sub := ""
	if p.Subresource != "" {
		sub = " --subresource " + p.Subresource
	}
	return "kubectl patch " + arguments(p.Target) + sub + " --type " + p.Type + " --patch-file " + Quote(file)
}

// waitFor is a command that waits until a field, a JSONPath, has a value.
func waitFor(t Target, field, value, timeout string) string {
	return fmt.Sprintf("kubectl wait %s --for=jsonpath='{%s}'=%s --timeout=%s", arguments(t), field, value, timeout)
}

// fieldInShell is a value that the object itself gives, in the shell.
func fieldInShell(t Target, field string) string {
	return fmt.Sprintf(`"$(kubectl get %s -o jsonpath='{%s}')"`, arguments(t), field)
}

// retryInShell asks again and again until a test of the shell holds, for so many seconds at
// most. It is a shell of its own, which may end without harm.
func retryInShell(test string, seconds int) string {
	return fmt.Sprintf("( n=0; until [ %s ]; do n=$((n+1)); [ $n -le %d ] || exit 1; sleep 1; done )", test, seconds)
}

// patient is for how many seconds to ask where a step has no limit of its own.
const patient = 600

// atLeast waits until a number of the object is so great; one that is not there is 0.
func atLeast(t Target, field string, n, seconds int) string {
	return retryInShell(fmt.Sprintf(`"0$(kubectl get %s -o jsonpath='{%s}')" -ge %d`, arguments(t), field, n), seconds)
}

// Quote makes one word of the shell of a text.
func Quote(s string) string {
	plain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-._/%=:,+@", c)
	}
	if s != "" && strings.IndexFunc(s, func(c rune) bool { return !plain(c) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Available is a command that waits until all pods of a Deployment or ReplicaSet
// that was just applied are available.
func Available(t Target) string {
	if t.Kind == kruise.KindDeployment {
		return "kubectl rollout status " + arguments(t) + " --timeout=" + usual
	}
	return waitFor(t, ".status.availableReplicas", fieldInShell(t, ".spec.replicas"), usual)
}

// Exec runs a command in a container of the target, a pod.
func Exec(t Target, container string, command ...string) string {
	words := []string{"kubectl exec", arguments(t), "-c", Quote(container), "--"}
	for _, word := range command {
		words = append(words, Quote(word))
	}
	return strings.Join(words, " ")
}

// Above is a command that waits until a field, a JSONPath of a number, is greater.
func Above(t Target, field string, n int32) string {
	return atLeast(t, field, int(n)+1, patient)
}

// Gone is a command that waits until the object with this uid is not there any
// more; its successor may have its name.
func Gone(t Target, uid string) string {
	if uid == "" {
		return "kubectl wait " + arguments(t) + " --for=delete --timeout=" + usual
	}
	return retryInShell(fmt.Sprintf(`"$(kubectl get %s --ignore-not-found -o jsonpath='{.metadata.uid}')" != %s`, arguments(t), Quote(uid)), patient)
}

// Evict is a command that evicts the target, a pod: kubectl has none of its own.
func Evict(t Target) string {
	namespace := cmp.Or(t.Namespace, "default")
	return fmt.Sprintf(`echo '{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":%q,"namespace":%q}}' | kubectl create --raw %s -f -`,
		t.Name, namespace, Quote("/api/v1/namespaces/"+namespace+"/pods/"+t.Name+"/eviction"))
}

// There is a command that waits until a field, a JSONPath, is there at all.
func There(t Target, field, timeout string) string {
	return fmt.Sprintf("kubectl wait %s --for=jsonpath='{%s}' --timeout=%s", arguments(t), field, timeout)
}
