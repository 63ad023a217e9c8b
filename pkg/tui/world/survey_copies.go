package world

import (
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// SurveyCopies is a ResourceDistribution with the namespaces that there are and their
// labels: one target for each namespace that should have a copy. The status names only
// those with trouble, so all others have their copy once it is of the newest spec.
func SurveyCopies(rd *kruise.ResourceDistribution, namespaces map[string]labels.Set) *Distribution {
	out := &Distribution{Ref: of(kruise.KindResourceDistribution, "", rd.Name), Created: rd.CreationTimestamp.Time, Target: resourceName(rd)}
	// The release is not known here: copies in the system's namespaces, which only
	// some make, are not missed.
	names, err := rd.Spec.Targets.Names(namespaces, kruise.Next)
	if err != nil {
		return withError(out, err)
	}
	fresh, failed := rd.Status.ObservedGeneration == rd.Generation, troubles(rd)
	for _, name := range names {
		out.Places = append(out.Places, copyPlace(name, failed[name], fresh))
	}
	for _, p := range out.Places {
		out.Wanted += p.Wanted
		out.Got += p.Got
	}
	switch {
	case !fresh:
		out.Problems = append(out.Problems, "the controller has not processed the latest change yet")
	case len(names) == 0:
		out.Problems = append(out.Problems, "its targets are no namespace that there is")
	}
	return withHealth(out)
}

func resourceName(rd *kruise.ResourceDistribution) string {
	var object struct {
		Kind     string
		Metadata struct{ Name string }
	}
	if json.Unmarshal(rd.Spec.Resource.Raw, &object) != nil || object.Kind == "" {
		return ""
	}
	return strings.ToLower(object.Kind) + "/" + object.Metadata.Name
}

func copyPlace(namespace, trouble string, fresh bool) Place {
	p := Place{Name: namespace, Wanted: 1, Why: trouble}
	switch {
	case trouble != "":
		p.Health = Blocked
	case !fresh:
		p.Health = Progressing
	default:
		p.Health, p.Got, p.Ready, p.Updated = Healthy, 1, 1, 1
	}
	return p
}

// words are the conditions of trouble (docs/kruise/distribution.md#resourcedistribution), the most
// telling first.
var words = []struct{ condition, says string }{
	{"ConflictOccurred", "conflict: the object exists and is not managed by this ResourceDistribution"},
	{"NamespaceNotExists", "there is no such namespace, or it is being deleted"},
	{"GetResourceFailed", "the copy could not be read"},
	{"CreateResourceFailed", "the copy could not be made"},
	{"UpdateResourceFailed", "the copy could not be updated"},
	{"DeleteResourceFailed", "the copy could not be deleted"},
}

// troubles are what conditions say, by namespace.
func troubles(rd *kruise.ResourceDistribution) map[string]string {
	out := map[string]string{}
	for _, w := range words {
		i := slices.IndexFunc(rd.Status.Conditions, func(c kruise.ResourceDistributionCondition) bool { return c.Type == w.condition })
		if i < 0 || rd.Status.Conditions[i].Status != corev1.ConditionTrue {
			continue
		}
		c := rd.Status.Conditions[i]
		for _, namespace := range c.FailedNamespaces {
			if out[namespace] == "" {
				out[namespace] = w.says
				if strings.Contains(c.Reason, " ") {
					out[namespace] += ": " + c.Reason
				}
			}
		}
	}
	return out
}
