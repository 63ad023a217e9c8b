package verify

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/distort"
)

// FuzzAnswer: whatever a server answers to a check, it is values or a fault, and a JSONPath of a plan
// finds something in it or not.
func FuzzAnswer(f *testing.F) {
	const end = "\x1e"
	texts := []string{
		`{"status": "success", "data": {"resultType": "vector", "result": [{"metric": {}, "value": [1, "2.5"]}]}}` + end + "{.data.result[0].value[1]}",
		`{"status": "success", "data": {"resultType": "scalar", "result": [1, "NaN"]}}` + end + "data.result[?(@.a>1)]",
		`[{"a": {"b": [null]}}]` + end + "{range .items[*]}{.a..b[-1:2:1]}{end}",
	}
	distort.Fuzz(f, texts, func(_ *testing.T, text string) {
		body, path, _ := strings.Cut(text, end)
		var a queryResponse
		if json.Unmarshal([]byte(body), &a) == nil {
			_, _ = valuesOf(a)
		}
		_, _ = evaluateJSONPath([]byte(body), path)
	})
}
