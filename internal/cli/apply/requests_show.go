package apply

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// showRequests writes requests, without what is secret.
func (w *work) showRequests(list []request) error {
	out := w.factory.Streams.Out
	if w.rollouts.JSON() {
		for _, r := range list {
			r.Body = masked(r.Body)
			_ = json.NewEncoder(out).Encode(r) // a reader that has gone is no matter to the cluster
		}
		return nil
	}
	_, _ = fmt.Fprintln(out, "\nrequests, in this order; beside them, a rollout writes its record and its lease:")
	for i, r := range list {
		if err := r.text(out, i+1); err != nil {
			return err
		}
	}
	return nil
}

func (r request) text(out io.Writer, number int) error {
	notes := strings.TrimSuffix(r.ContentType+": "+r.Why, ": ")
	_, _ = fmt.Fprintf(out, "%d. %s %s  %s\n", number, r.Method, r.Path, notes)
	if r.Body == nil {
		return nil
	}
	body, err := yaml.Marshal(masked(r.Body))
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(body)) {
		_, _ = io.WriteString(out, "   "+line)
	}
	return nil
}

// masked is a body without the values of Secrets, at whichever depth, and without
// what is likely to be secret elsewhere.
func masked(body any) any {
	text, err := utiljson.Marshal(body)
	var own any // the body belongs to whoever sends it
	if err != nil || utiljson.Unmarshal(text, &own) != nil {
		return rules.Masked
	}
	return rules.Mask([]string{"body"}, hideSecrets(own), nil)
}

func hideSecrets(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if v["kind"] == "Secret" {
			hideValues(v)
		}
		for key := range maps.Keys(v) {
			v[key] = hideSecrets(v[key])
		}
	case []any:
		for i := range v {
			v[i] = hideSecrets(v[i])
		}
	}
	return v
}

func hideValues(secret map[string]any) {
	for _, field := range []string{"data", "stringData"} {
		values, _ := secret[field].(map[string]any)
		for key := range values {
			values[key] = rules.Masked
		}
	}
	if meta, ok := secret["metadata"].(map[string]any); ok {
		if annotations, ok := meta["annotations"].(map[string]any); ok {
			delete(annotations, "kubectl.kubernetes.io/last-applied-configuration")
		}
	}
}
