package create

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// Shape is how the text of a flag becomes a value.
type Shape string

// The shapes; their text is shown in the help.
const (
	// Text is a string.
	Text Shape = "string"
	// Number is a whole number.
	Number Shape = "int"
	// Amount is a number or a percentage.
	Amount Shape = "number|percent"
	// Truth is true without a value.
	Truth Shape = "bool"
	// Texts are strings with commas; each call of the flag adds to them.
	Texts Shape = "strings"
	// Names are objects that have a name only.
	Names Shape = "names"
	// Pairs are keys with values, with commas.
	Pairs Shape = "key=value"
	// Terms are keys with values, each an element of a list: {key: a, value: b}.
	Terms Shape = "label=value"
	// Selector is a label selector, such as app=web,tier!=db.
	Selector Shape = "selector"
	// Containers are containers by name with their images.
	Containers Shape = "name=image"
)

// fieldValue is what a flag was given.
type fieldValue struct {
	shape Shape
	legal []string
	text  string
	node  *tree.Node
}

func (v *fieldValue) String() string { return v.text }

// Type is shown in the help.
func (v *fieldValue) Type() string { return string(v.shape) }

// Set reads the text that one call of the flag has.
func (v *fieldValue) Set(text string) error {
	n, err := v.parse(text)
	if err != nil {
		return err
	}
	v.node, v.text = n, text
	return nil
}

func (v *fieldValue) parse(text string) (*tree.Node, error) {
	switch v.shape {
	case Number:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, errors.New("not a whole number")
		}
		return tree.Int64(n), nil
	case Amount:
		return parseAmount(text)
	case Truth:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return nil, errors.New("neither true nor false")
		}
		return tree.Boolean(b), nil
	case Texts, Names, Containers, Terms:
		return v.list(text)
	case Pairs:
		return v.pairs(text)
	case Selector:
		return parseSelector(text)
	}
	return tree.String(text), v.check(text)
}

// parseAmount reads a number or a percentage.
func parseAmount(text string) (*tree.Node, error) {
	digits, percent := strings.CutSuffix(text, "%")
	n, err := strconv.ParseInt(digits, 10, 32)
	switch {
	case err != nil:
		return nil, errors.New("neither a number nor a percentage")
	case percent:
		return tree.String(text), nil
	}
	return tree.Int64(n), nil
}

func (v *fieldValue) check(text string) error {
	if len(v.legal) > 0 && !slices.Contains(v.legal, text) {
		return errors.New("one of: " + strings.Join(v.legal, ", "))
	}
	return nil
}

// list adds to what calls before this one gave.
func (v *fieldValue) list(text string) (*tree.Node, error) {
	list := tree.Seq(tree.Items(v.node)...)
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			return nil, errors.New("holds an empty element")
		}
		n, err := v.element(part)
		if err != nil {
			return nil, err
		}
		tree.Append(list, []*tree.Node{n})
	}
	return list, nil
}

// element is one of a list.
func (v *fieldValue) element(part string) (*tree.Node, error) {
	first, second, ok := strings.Cut(part, "=")
	switch v.shape {
	case Names:
		return tree.Map("name", part), nil
	case Containers:
		if !ok || first == "" || second == "" {
			return nil, fmt.Errorf("%q is not NAME=IMAGE", part)
		}
		return tree.Map("name", first, "image", second), nil
	case Terms:
		if !ok || first == "" {
			return nil, fmt.Errorf("%q is not LABEL=VALUE", part)
		}
		return tree.Map("key", first, "value", tree.String(second)), nil
	}
	return tree.String(part), v.check(part)
}

func (v *fieldValue) pairs(text string) (*tree.Node, error) {
	out := tree.Map()
	tree.Each(v.node, func(k, n *tree.Node) { tree.Set(out, k.Value, n) })
	for part := range strings.SplitSeq(text, ",") {
		key, given, ok := strings.Cut(part, "=")
		if key = strings.TrimSpace(key); !ok || key == "" {
			return nil, fmt.Errorf("%q is not KEY=VALUE", part)
		}
		tree.Set(out, key, tree.String(given))
	}
	return out, nil
}

// parseYAML is a value of --set.
func parseYAML(text string) (*tree.Node, error) {
	if text == "" {
		return tree.String(""), nil
	}
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		return nil, errors.New("the value is not YAML")
	}
	return tree.FromValue(v), nil
}

// selectorOperators are those of kubectl's words that an object's selector has.
var selectorOperators = map[selection.Operator]metav1.LabelSelectorOperator{
	selection.NotEquals: metav1.LabelSelectorOpNotIn, selection.In: metav1.LabelSelectorOpIn, selection.NotIn: metav1.LabelSelectorOpNotIn,
	selection.Exists: metav1.LabelSelectorOpExists, selection.DoesNotExist: metav1.LabelSelectorOpDoesNotExist,
}

// parseSelector reads kubectl's words; what asks for one value becomes matchLabels.
func parseSelector(text string) (*tree.Node, error) {
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
		switch op, ok := selectorOperators[r.Operator()]; {
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
