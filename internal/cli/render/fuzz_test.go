package render

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/distort"
)

// elsewhere is a reference that does not begin in the schema itself, in JSON without spaces.
var elsewhere = regexp.MustCompile(`"\$(ref|dynamicRef|recursiveRef)":"[^#"]`)

// FuzzSchema: no schema of a chart that Helm is given refers to something outside of itself.
func FuzzSchema(f *testing.F) {
	texts := []string{
		`{"$schema":"https://json-schema.org/draft/2020-12/schema","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"string"}}}`,
		`{"$ref":"file:///etc/passwd"}`, `[{"allOf":[{"$dynamicRef":"http://x/y"},{"$recursiveRef":"other.json"}]}]`, "\x1f\x8b\x08",
	}
	distort.Fuzz(f, texts, func(t *testing.T, text string) {
		t.Helper()
		left := int64(1 << 20)
		if checkChartFile("chart/"+valuesSchemaName, []byte(text), 0, &left) != nil {
			return
		}
		_ = checkChartFile("chart/charts/x.tgz", []byte(text), 0, &left)
		var all any
		if json.Unmarshal([]byte(text), &all) != nil {
			return // Helm does not take it
		}
		plain, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		if to := elsewhere.FindString(string(plain)); to != "" {
			t.Errorf("%s", to)
		}
	})
}
