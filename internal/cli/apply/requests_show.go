package apply

import (
	"encoding/json"
	"fmt"
	"io"
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
	var own any // decoded JSON, whatever it was made of
	if err != nil || utiljson.Unmarshal(text, &own) != nil {
		return rules.Masked
	}
	return rules.MaskPatch(own, nil)
}
