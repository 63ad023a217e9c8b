package release

import "fmt"

// at is a map below an object, nil where there is none.
func at(o map[string]any, path ...string) map[string]any {
	for _, key := range path {
		o, _ = o[key].(map[string]any)
	}
	return o
}

// text is a string or a number as text, "" for anything else.
func text(o map[string]any, key string) string {
	switch v := o[key].(type) {
	case string:
		return v
	case int64, float64:
		return fmt.Sprint(v)
	}
	return ""
}

func flag(o map[string]any, key string) bool {
	v, _ := o[key].(bool)
	return v
}

func number(v any) int64 {
	switch n := v.(type) {
	case int64:
		return n
	case float64:
		return int64(n)
	}
	return 0
}
