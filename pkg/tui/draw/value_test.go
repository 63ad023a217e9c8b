package draw_test

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
)

// TestValue_IsOneLine: text as it is, and as JSON where it has lines or would act on a terminal.
func TestValue_IsOneLine(t *testing.T) {
	for want, v := range map[string]any{
		"web:2": "web:2", `""`: "", `"a\nb"`: "a\nb", `"\u001b[31m"`: "\x1b[31m", "3": 3, `{"a":[1,true]}`: map[string]any{"a": []any{1, true}}, "null": nil,
	} {
		if got := draw.Value(v); got != want {
			t.Errorf("%#v: %s, want %s", v, got, want)
		}
	}
}
