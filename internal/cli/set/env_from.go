package set

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// refFields are the references to keys, by the kind that has them.
var refFields = map[string]string{"ConfigMap": "configMapKeyRef", "Secret": "secretKeyRef"}

// takeFrom adds a reference for each key of the object in --from.
func (o *envSetting) takeFrom() error {
	if o.from == "" {
		return nil
	}
	if o.Local() {
		return command.Usagef("leave --local out", "--local does not ask the cluster for %s", o.from)
	}
	return o.Beside(o.from, o.references)
}

func (o *envSetting) references(u *unstructured.Unstructured) error {
	field := refFields[u.GetKind()]
	if field == "" || u.GroupVersionKind().Group != "" {
		return &tree.Error{Msg: "unsupported resource specified in --from", Hint: "configmap/NAME or secret/NAME"}
	}
	data, _, err := unstructured.NestedMap(u.Object, "data")
	if err != nil {
		return err
	}
	for _, key := range o.keys {
		if _, ok := data[key]; !ok {
			return &tree.Error{Msg: fmt.Sprintf("has no key %q", key), Hint: "it has " + strings.Join(slices.Sorted(maps.Keys(data)), ", ")}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(data)) {
		if len(o.keys) == 0 || slices.Contains(o.keys, key) {
			ref := map[string]any{"name": u.GetName(), "key": key}
			o.set = append(o.set, map[string]any{"name": o.envNameOf(key), "valueFrom": map[string]any{field: ref}})
		}
	}
	return nil
}

var notInEnv = regexp.MustCompile("[^a-zA-Z0-9_]")

// envNameOf is the name of the variable for a key, as kubectl makes it.
func (o *envSetting) envNameOf(key string) string {
	name := strings.ToUpper(notInEnv.ReplaceAllString(key, "_"))
	if name != key {
		_, _ = fmt.Fprintf(o.Factory.Streams.Err, "Warning: key %s transferred to %s\n", key, name)
	}
	return name
}
