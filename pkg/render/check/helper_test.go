package check_test

import (
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/check"
)

// ruling is a question with its answer.
type ruling struct {
	name string
	// edit replaces parts of the kind's good object, in pairs of old and new.
	edit []string
	// want is the rule and the field of the one fault, with "(accepted)" where Kruise takes
	// the object all the same; "" for none.
	want string
	// old is edited likewise from the good object, and is then replaced.
	old []string
	// around is what else there is.
	around string
	// unsure: there may be more than is known.
	unsure bool
}

// edited returns the good object with parts replaced.
func edited(t *testing.T, good string, pairs []string) string {
	t.Helper()
	for i := 0; i+1 < len(pairs); i += 2 {
		if !strings.Contains(good, pairs[i]) {
			t.Fatalf("the good object has no %q", pairs[i])
		}
		good = strings.Replace(good, pairs[i], pairs[i+1], 1)
	}
	return good
}

// rulings asks all questions about edits of one good object.
func rulings(t *testing.T, good string, list []ruling) {
	t.Helper()
	rulingsAround(t, good, list, "")
}

// rulingsAround does so beside objects that exist in every question.
func rulingsAround(t *testing.T, good string, list []ruling, around string) {
	t.Helper()
	for _, tt := range append(list, ruling{name: "good"}) {
		t.Run(tt.name, func(t *testing.T) {
			in := golden.Parse(t, edited(t, good, tt.edit))
			known := golden.Parse(t, around+tt.around)
			q := check.Request{Object: in[0], Known: !tt.unsure}
			if tt.old != nil {
				q.Old = golden.Parse(t, edited(t, good, tt.old))[0]
				known = append(known, q.Old)
			}
			var got []string
			for _, f := range check.Object(newContext(in, known), q) {
				text := f.Rule + " " + f.Field
				if f.Accepted {
					text += " (accepted)"
				}
				got = append(got, text)
			}
			if strings.Join(got, ", ") != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

const podOf = "template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: 'example.com/web:1'}]}}"

// faultsOf are the rules and fields of all that is found in an object.
func faultsOf(t *testing.T, manifest string) string {
	t.Helper()
	in := golden.Parse(t, manifest)
	var got []string
	// As the command asks: there may be more in the cluster than is known.
	for _, f := range check.Object(newContext(in, nil), check.Request{Object: in[0]}) {
		text := f.Rule + " " + f.Field
		if f.Accepted {
			text += " (accepted)"
		}
		got = append(got, text)
	}
	return strings.Join(got, ", ")
}
