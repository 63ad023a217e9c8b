package live

import "strings"

// prune returns what the kind keeps of an object, and always its identity.
// Lists are gone through item by item; what is left empty is left out.
func (k *kind) prune(object map[string]any) map[string]any {
	wanted, unwanted := paths{}, paths{}
	for _, path := range append([]string{"apiVersion", "kind", "metadata name", "metadata namespace"}, k.keep...) {
		wanted.add(strings.Fields(path))
	}
	for _, path := range k.drop {
		unwanted.add(strings.Fields(path))
	}
	out, _ := wanted.pick(object, unwanted).(map[string]any)
	if k.tidy != nil {
		k.tidy(out)
	}
	return out
}

// paths is a tree of field names; one without children means the whole field.
type paths map[string]paths

func (p paths) add(path []string) {
	for _, name := range path {
		if p[name] == nil {
			p[name] = paths{}
		}
		p = p[name]
	}
}

// pick returns the part of v that p names, less what without names.
func (p paths) pick(v any, without paths) any {
	switch v := v.(type) {
	case map[string]any:
		return p.pickMap(v, without)
	case []any:
		out := make([]any, 0, len(v))
		for _, item := range v {
			if picked := p.pick(item, without); picked != nil {
				out = append(out, picked)
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	}
	if len(p) > 0 {
		return nil // a field below something that has none
	}
	return v
}

func (p paths) pickMap(v map[string]any, without paths) any {
	out := map[string]any{}
	for name, value := range v {
		below, named := p[name]
		minus, less := without[name]
		if !named && len(p) > 0 || less && len(minus) == 0 {
			continue
		}
		if picked := below.pick(value, minus); picked != nil {
			out[name] = picked
		}
	}
	if len(out) == 0 && (len(p) > 0 || len(v) > 0) {
		return nil
	}
	return out
}

// addressless takes an address away that says no more than that there is one.
func addressless(service map[string]any) {
	if spec, ok := service["spec"].(map[string]any); ok && spec["clusterIP"] != "None" {
		delete(spec, "clusterIP")
	}
}
