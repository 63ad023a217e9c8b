package tree

import "sigs.k8s.io/kustomize/kyaml/yaml"

// Sync returns a tree that means want and is dst wherever dst already means
// it: comments, key order and quoting of what did not change stay. dst is
// edited and must not be used afterwards, except through the result.
//
// It is how the result of a calculation on plain values (a strategic merge,
// a type's defaulting) goes back into a document of the user.
func Sync(dst *Node, want any) *Node {
	switch w := want.(type) {
	case map[string]any:
		if IsMap(dst) {
			return syncMap(dst, w)
		}
	case []any:
		if IsSeq(dst) {
			return syncSeq(dst, w)
		}
	}
	fresh := FromValue(want)
	if dst != nil && Equal(dst, fresh) {
		return dst
	}
	return fresh
}

func syncMap(dst *Node, want map[string]any) *Node {
	kept := dst.Content[:0:0]
	seen := make(map[string]bool, len(want))
	for i := 0; i+1 < len(dst.Content); i += 2 {
		key := dst.Content[i].Value
		if w, ok := want[key]; ok {
			seen[key] = true
			kept = append(kept, dst.Content[i], Sync(dst.Content[i+1], w))
		}
	}
	fresh := map[string]any{}
	for k, v := range want {
		if !seen[k] {
			fresh[k] = v
		}
	}
	kept = append(kept, FromValue(fresh).Content...)
	dst.Content = kept
	return dst
}

// syncSeq pairs elements by the key that Kubernetes merges such lists by, else
// by position.
func syncSeq(dst *Node, want []any) *Node {
	old := dst.Content
	used := make([]bool, len(old))
	out := make([]*Node, len(want))
	for i, w := range want {
		j := partner(old, used, i, w)
		if j < 0 {
			out[i] = FromValue(w)
			continue
		}
		used[j] = true
		out[i] = Sync(old[j], w)
	}
	dst.Content = out
	return dst
}

// mergeKeys are the fields that identify an element, the most specific first.
var mergeKeys = []string{"name", "mountPath", "devicePath", "containerPort", "topologyKey", "key", "type", "conditionType", "ip"}

func partner(old []*Node, used []bool, i int, want any) int {
	m, ok := want.(map[string]any)
	if !ok {
		if i < len(old) && !used[i] && old[i].Kind == yaml.ScalarNode {
			return i
		}
		return -1
	}
	for _, key := range mergeKeys {
		if v, ok := m[key]; ok {
			value := FromValue(v)
			for j, n := range old {
				if !used[j] && Equal(field(n, key), value) {
					return j
				}
			}
			return -1
		}
	}
	if i < len(old) && !used[i] {
		return i
	}
	return -1
}
