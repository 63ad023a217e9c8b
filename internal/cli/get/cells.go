package get

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
)

// cell is what a column shows of an object, at a time.
type cell func(o map[string]any, now time.Time) string

// none stands where there is nothing to show.
const none = "<none>"

// at shows the first of some fields that is there: steps with dots between them.
func at(paths ...string) cell {
	return func(o map[string]any, _ time.Time) string {
		for _, path := range paths {
			if v := field(o, path); v != nil {
				return oneLine(fmt.Sprint(v))
			}
		}
		return none
	}
}

// count is at, where nothing means 0.
func count(path string) cell {
	return func(o map[string]any, _ time.Time) string {
		if v := field(o, path); v != nil {
			return fmt.Sprint(v)
		}
		return "0"
	}
}

// size is how many entries a list or a map has.
func size(path string) cell {
	return func(o map[string]any, _ time.Time) string {
		switch v := field(o, path).(type) {
		case []any:
			return strconv.Itoa(len(v))
		case map[string]any:
			return strconv.Itoa(len(v))
		}
		return "0"
	}
}

// each shows a field of every entry of a list, with commas between them.
func each(list, path string) cell {
	return func(o map[string]any, _ time.Time) string {
		var out []string
		entries, _ := field(o, list).([]any)
		for _, e := range entries {
			m, _ := e.(map[string]any)
			if v := field(m, path); v != nil {
				out = append(out, fmt.Sprint(v))
			}
		}
		if len(out) == 0 {
			return none
		}
		return strings.Join(out, ",")
	}
}

// age is how long ago a time was.
func age(path string) cell {
	return func(o map[string]any, now time.Time) string {
		text, _ := field(o, path).(string)
		t, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return none
		}
		return duration.HumanDuration(now.Sub(t))
	}
}

// selector shows the label selector in one line.
func selector(o map[string]any, _ time.Time) string {
	var s metav1.LabelSelector
	given, _ := field(o, "spec.selector").(map[string]any)
	if given == nil || runtime.DefaultUnstructuredConverter.FromUnstructured(given, &s) != nil {
		return none
	}
	return metav1.FormatLabelSelector(&s)
}

// field is a value below an object, nil where there is none.
func field(o map[string]any, path string) any {
	var v any = o
	for step := range strings.SplitSeq(path, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[step]
	}
	return v
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
