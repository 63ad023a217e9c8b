package patches

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// Typed is TYPE.VERSION.GROUP/NAME, which kubectl never takes for another kind of
// the same name; kinds of the core group have their own name alone.
func (t Target) Typed() string {
	kind := strings.ToLower(t.Kind)
	if group, version, ok := strings.Cut(t.APIVersion, "/"); ok {
		kind += "." + version + "." + group
	}
	return kind + "/" + t.Name
}

// String names the target as in messages: CloneSet shop/web.
func (t Target) String() string {
	if t.Namespace == "" {
		return t.Kind + " " + t.Name
	}
	return t.Kind + " " + t.Namespace + "/" + t.Name
}

// at is the target as arguments of kubectl.
func (t Target) at() string { return quoted(t.Typed()) + t.in() }

// in is the flag of the namespace.
func (t Target) in() string {
	if t.Namespace == "" {
		return ""
	}
	return " -n " + quoted(t.Namespace)
}

// Command is how kubectl sends the patch that a file holds.
func (p *Patch) Command(file string) string {
	sub := ""
	if p.Subresource != "" {
		sub = " --subresource " + p.Subresource
	}
	return "kubectl patch " + p.Target.at() + sub + " --type " + p.Type + " --patch-file " + quoted(file)
}

// waitFor is a command that waits until a field has a value.
func (t Target) waitFor(field, value, timeout string) string {
	return fmt.Sprintf("kubectl wait %s --for=jsonpath='{%s}'=%s --timeout=%s", t.at(), field, value, timeout)
}

// fieldInShell is a value that the object itself gives, in the shell.
func (t Target) fieldInShell(field string) string {
	return fmt.Sprintf(`"$(kubectl get %s -o jsonpath='{%s}')"`, t.at(), field)
}

// retryInShell asks again and again until a test of the shell holds, for so many seconds at
// most. It is a shell of its own, which may end without harm.
func retryInShell(test string, seconds int) string {
	return fmt.Sprintf("( n=0; until [ %s ]; do n=$((n+1)); [ $n -le %d ] || exit 1; sleep 1; done )", test, seconds)
}

// patient is for how many seconds to ask where a step has no limit of its own.
const patient = 600

// atLeast waits until a number of the object is so great; one that is not there is 0.
func (t Target) atLeast(field string, n, seconds int) string {
	return retryInShell(fmt.Sprintf(`"0$(kubectl get %s -o jsonpath='{%s}')" -ge %d`, t.at(), field, n), seconds)
}

// quoted makes one word of the shell of a text.
func quoted(s string) string {
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
func (t Target) Available() string {
	if t.Kind == kruise.KindDeployment {
		return "kubectl rollout status " + t.at() + " --timeout=10m"
	}
	return t.waitFor(".status.availableReplicas", t.fieldInShell(".spec.replicas"), "10m")
}

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
	return retryInShell(fmt.Sprintf(`"$(kubectl get %s --ignore-not-found -o jsonpath='{.metadata.uid}')" != %s`, t.at(), quoted(uid)), patient)
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
