package get

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Summary is what the columns of an object's kind show of it, but for its name and
// age: titles with values, none for kinds that are not Kruise's.
func Summary(u *unstructured.Unstructured, now time.Time) [][2]string {
	var out [][2]string
	for _, c := range tables[u.GroupVersionKind().GroupKind()] {
		if value := c.show(u.Object, now); !c.wide && c.title != created.title && value != none && value != "" {
			out = append(out, [2]string{c.title, value})
		}
	}
	return out
}
