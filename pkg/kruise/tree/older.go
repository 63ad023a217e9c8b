package tree

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
	kubectl "sigs.k8s.io/yaml"
)

// Reread is a plain scalar that readers of YAML 1.1 take for something else than those
// of YAML 1.2 do.
type Reread struct {
	// Path is the field, with the key as it is read where Key is set.
	Path string
	// Was is what is written there, Is what it is read as.
	Was, Is string
	// Key: it is the key of a mapping.
	Key bool
}

// OldBool reports whether n is one of the plain words that are booleans to YAML 1.1 and
// text to YAML 1.2.
func OldBool(n *Node) bool {
	if !IsScalar(n) || n.Style != 0 || len(n.Value) > 3 {
		return false
	}
	switch n.Value {
	case "y", "Y", "yes", "Yes", "YES", "n", "N", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF":
		return true
	}
	return false
}

// Older makes n, in place, what kubectl reads: a plain yes is true, and a key is the
// text of the number or boolean that it is. It returns what it changed. What kubectl
// cannot read, keys that become one and numbers without end, is a *Error.
func Older(n *Node) ([]Reread, error) {
	o := older{}
	err := o.walk(Root(n))
	return o.found, err
}

type older struct {
	steps []olderStep
	found []Reread
}

// olderStep is one step of the path to a node: a key, or the place in a list where key is nil.
type olderStep struct {
	key   *Node
	index int
}

func (o *older) walk(n *Node) error {
	switch {
	case n == nil:
		return nil
	case n.Kind == yaml.ScalarNode:
		return o.value(n)
	case n.Kind == yaml.MappingNode:
		return o.mapping(n)
	}
	for i, item := range n.Content {
		o.steps = append(o.steps, olderStep{index: i})
		err := o.walk(item)
		o.steps = o.steps[:len(o.steps)-1]
		if err != nil {
			return err
		}
	}
	return nil
}

func (o *older) mapping(n *Node) error {
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		was := k.Value
		if is := oldKey(k); is != was {
			if Has(n, is) {
				return &Error{Path: o.path(), Line: k.Line, Msg: "kubectl reads two keys as " + strconv.Quote(is), Hint: "put them in quotes"}
			}
			k.Value, k.Tag, k.Style = is, yaml.NodeTagString, yaml.DoubleQuotedStyle
			o.steps = append(o.steps, olderStep{key: k})
			o.note(Reread{Was: was, Is: is, Key: true})
			o.steps = o.steps[:len(o.steps)-1]
		}
		o.steps = append(o.steps, olderStep{key: k})
		err := o.walk(n.Content[i+1])
		o.steps = o.steps[:len(o.steps)-1]
		if err != nil {
			return err
		}
	}
	return nil
}

func (o *older) value(n *Node) error {
	switch {
	case n.Style != 0 || n.Value == "":
		return nil
	case OldBool(n):
		is := oldTruth(n.Value)
		o.note(Reread{Was: n.Value, Is: is})
		n.Value, n.Tag = is, yaml.NodeTagBool
	case oldNumber(n) != "":
		is := oldNumber(n)
		o.note(Reread{Was: n.Value, Is: is})
		n.Value, n.Tag = is, yaml.NodeTagInt
		if strings.ContainsAny(is, ".e") {
			n.Tag = yaml.NodeTagFloat
		}
	case strings.ContainsRune(".+-", rune(n.Value[0])) && n.ShortTag() == yaml.NodeTagFloat:
		if _, text := floating(n.Value).(string); text {
			return &Error{Path: o.path(), Line: n.Line, Msg: n.Value + " is not a number that JSON has: kubectl cannot read it", Hint: "put the value in quotes"}
		}
	}
	return nil
}

func (o *older) note(r Reread) {
	r.Path = o.path()
	o.found = append(o.found, r)
}

func (o *older) path() string {
	var b strings.Builder
	for _, s := range o.steps {
		if s.key == nil {
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		} else {
			b.WriteString(step(s.key.Value))
		}
	}
	return strings.TrimPrefix(b.String(), ".")
}

// step is a key in a path.
func step(key string) string {
	if strings.ContainsAny(key, "./[]") {
		return "[" + key + "]"
	}
	return "." + key
}

func oldTruth(word string) string {
	switch word[0] {
	case 'y', 'Y':
		return "true"
	case 'n', 'N':
		return "false"
	}
	return strconv.FormatBool(len(word) == len("on"))
}

// oldKey is the text that kubectl makes of a key, which must be one for JSON.
func oldKey(k *Node) string {
	if k.Style != 0 || k.Value == "" || !strings.ContainsRune("yYnNtTfFoO.+-0123456789", rune(k.Value[0])) {
		return k.Value
	}
	if OldBool(k) {
		return oldTruth(k.Value)
	}
	if tag := k.ShortTag(); oldNumber(k) == "" && tag != yaml.NodeTagBool && tag != yaml.NodeTagInt && tag != yaml.NodeTagFloat {
		return k.Value
	}
	var out map[string]any
	if err := kubectl.Unmarshal([]byte(k.Value+": x\n"), &out); err != nil || len(out) != 1 {
		return k.Value
	}
	return slices.Collect(maps.Keys(out))[0]
}

// oldNumber is the number that kubectl reads where this package reads text or another number, such
// as 0x11_, 01__0 and 0b-11; it is empty if there is none.
func oldNumber(n *Node) string {
	if !strings.ContainsRune("+-.0123456789", rune(n.Value[0])) || !strings.Contains(n.Value, "_") && !strings.Contains(n.Value, "0b") {
		return ""
	}
	b, err := kubectl.YAMLToJSON([]byte(n.Value))
	if err != nil || len(b) == 0 || b[0] != '-' && !isDigit(b[0]) {
		return ""
	}
	if here, err := json.Marshal(scalar(n)); err == nil && string(here) == string(b) {
		return ""
	}
	return string(b)
}
