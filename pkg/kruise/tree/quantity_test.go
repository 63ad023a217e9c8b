package tree

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestQuantity_RefusesLongAmountsAtOnce: amounts that take hours to read are refused at once, and only where
// an amount is meant.
func TestQuantity_RefusesLongAmountsAtOnce(t *testing.T) {
	for text, ok := range map[string]bool{
		"500m": true, "1Gi": true, "2E": true, "1e3": true, "1.5e-9": true, "1E+18": true, "7e999": true,
		"7e9999": false, "7e99779999": false, "7e2147483648": false, "7E-2147483648": false, "7.e+2147483648": false, "-7e99999": false, "E75777775": false, "-e99999": false, "": false, "many": false,
	} {
		if _, err := Quantity(text); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
	long := strings.Repeat("9", 3_000_000)
	for _, text := range []string{long, long + "Gi", "0." + long, "-" + long} {
		if _, err := Quantity(text); err == nil || err.Error() != "the amount has more than 1000 digits" {
			t.Errorf("%d digits: %v", len(text), err)
		}
	}
	if _, err := Quantity(long[:900] + "m"); err != nil {
		t.Error(err)
	}
	for text, want := range map[string]bool{
		`{"cpu":"7e99999"}`: true, `{"cpu":7e99999}`: true, `[1,-.5E+99999,2]`: true, `7e99999`: true,
		`{"image":"a@sha256:7e99999f"}`: false, `{"image":"a:1-7e99999"}`: false, `{"cpu":"7e9"}`: false, `e99999`: true, `{"cpu":"-E99999"}`: true, `{"commit":"fe99999"}`: false, `7e99999m`: false,
	} {
		if got := boundless([]byte(text)); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
	for text, want := range map[string]string{
		"image: x\nenv:\n- {name: COMMIT, value: 7e99779999}":          "",
		"resources:\n  limits:\n    cpu: 7e2147483648":                 "resources.limits[cpu]: the exponent has more than 3 digits",
		"resources:\n  limits:\n    cpu: " + long:                      "resources.limits[cpu]: the amount has more than 1000 digits",
		"resources: {limits: {cpu: \"" + long + "\"}}":                 "resources.limits[cpu]: the amount has more than 1000 digits",
		"resources: {requests: {memory: 1Gi, cpu: \"1e-2147483648\"}}": "resources.requests[cpu]: the exponent has more than 3 digits",
	} {
		var c corev1.Container
		_, err := Decode(document(t, text), &c)
		if want == "" {
			if err != nil || c.Env[0].Value != "7e99779999" {
				t.Errorf("%.80s: %v, %v", text, err, c.Env)
			}
			continue
		}
		var te *Error
		if !errors.As(err, &te) || te.Error() != want || te.Line == 0 || te.Hint == "" {
			t.Errorf("%.80s: %.80v", text, err)
		}
	}
}
