package view

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/redact"
)

// Requests writes requests in their order, without what is secret, for people; note
// says what is written besides.
func Requests(out io.Writer, note string, list []event.Request) error {
	b := builder{st: Style{Width: text.Columns(out)}}
	b.line("%s:", strings.TrimSuffix("requests, in this order; "+note, "; "))
	for i, r := range list {
		if err := request(&b, i+1, r); err != nil {
			return err
		}
	}
	return b.write(out)
}

func request(b *builder, number int, r event.Request) error {
	notes := strings.TrimSuffix(r.ContentType+": "+r.Why, ": ")
	b.line("%s", strings.TrimSpace(fmt.Sprintf("%d. %s %s  %s", number, r.Method, r.Path, notes)))
	if r.Body == nil {
		return nil
	}
	body, err := yaml.Marshal(masked(r.Body))
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(body)) {
		b.line("%s", b.st.whole("   "+strings.TrimSuffix(line, "\n")))
	}
	return nil
}

// RequestsJSON writes them as JSON, one a line.
func RequestsJSON(out io.Writer, list []event.Request) error {
	enc := json.NewEncoder(out)
	for _, r := range list {
		r.Type, r.Body = "request", masked(r.Body)
		if err := enc.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

// masked is a body without the values of Secrets, at whichever depth, and without
// what is likely to be secret elsewhere.
func masked(body any) any {
	encoded, err := utiljson.Marshal(body)
	var own any // decoded JSON, whatever it was made of
	if err != nil || utiljson.Unmarshal(encoded, &own) != nil {
		return redact.Masked
	}
	return redact.Patch(own, nil)
}
