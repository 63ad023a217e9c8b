package inject

import (
	"encoding/json"
	"reflect"
	"strings"
)

// sameJSON reports whether two texts mean the same when members that are null
// do not count. Text that is not JSON equals nothing.
func sameJSON(a, b string) bool {
	x, okA := parseJSON(a)
	y, okB := parseJSON(b)
	return okA && okB && reflect.DeepEqual(withoutNulls(x), withoutNulls(y))
}

func parseJSON(s string) (v any, ok bool) {
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	return v, d.Decode(&v) == nil
}

func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, member := range v {
			if member == nil {
				delete(v, key)
				continue
			}
			v[key] = withoutNulls(member)
		}
	case []any:
		for i := range v {
			v[i] = withoutNulls(v[i])
		}
	}
	return v
}
