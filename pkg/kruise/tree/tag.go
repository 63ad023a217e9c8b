package tree

import (
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// PlainTag is the tag that yaml.v3 resolves a text without quotes to. It is asked about what
// could be a number or a date.
func PlainTag(v string) string {
	if v == "" {
		return yaml.NodeTagNull
	}
	switch c := v[0]; {
	case v == "<<":
		return mergeTag
	case strings.IndexByte("yYnNtTfFoO~", c) >= 0:
		switch v {
		case "true", "True", "TRUE", "false", "False", "FALSE":
			return yaml.NodeTagBool
		case "~", "null", "Null", "NULL":
			return yaml.NodeTagNull
		}
		return yaml.NodeTagString
	case isNumber(v):
		return yaml.NodeTagInt
	case c == '-' && len(v) > 1 && (v[1] == '-' || v[1]|0x20 >= 'a' && v[1]|0x20 <= 'z'):
		return yaml.NodeTagString
	case c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.':
		return (&Node{Kind: yaml.ScalarNode, Value: v}).ShortTag()
	}
	return yaml.NodeTagString
}

// isNumber reports decimal digits that are surely a number.
func isNumber(v string) bool {
	if len(v) > 18 || v[0] == '0' && len(v) > 1 {
		return false
	}
	for i := range len(v) {
		if v[i] < '0' || v[i] > '9' {
			return false
		}
	}
	return true
}
