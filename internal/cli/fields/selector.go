package fields

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// operators are those of kubectl's words that an object's selector has.
var operators = map[selection.Operator]metav1.LabelSelectorOperator{
	selection.NotEquals: metav1.LabelSelectorOpNotIn, selection.In: metav1.LabelSelectorOpIn, selection.NotIn: metav1.LabelSelectorOpNotIn,
	selection.Exists: metav1.LabelSelectorOpExists, selection.DoesNotExist: metav1.LabelSelectorOpDoesNotExist,
}

// selector reads kubectl's words; what asks for one value becomes matchLabels.
func selector(text string) (*tree.Node, error) {
	parsed, err := labels.Parse(text)
	if err != nil {
		return nil, err
	}
	asked, _ := parsed.Requirements()
	if len(asked) == 0 {
		return nil, errors.New("selects nothing in particular")
	}
	var out metav1.LabelSelector
	for _, r := range asked {
		switch op, ok := operators[r.Operator()]; {
		case r.Operator() == selection.Equals || r.Operator() == selection.DoubleEquals:
			metav1.AddLabelToSelector(&out, r.Key(), r.Values().List()[0])
		case ok:
			out.MatchExpressions = append(out.MatchExpressions, metav1.LabelSelectorRequirement{Key: r.Key(), Operator: op, Values: r.Values().List()})
		default:
			return nil, fmt.Errorf("an object's selector knows no %q", r.Operator())
		}
	}
	return tree.FromValue(out), nil
}
