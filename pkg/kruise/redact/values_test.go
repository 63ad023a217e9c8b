package redact_test

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/redact"
)

func TestValues_AreMaskedInMessages(t *testing.T) {
	v := redact.NewValues([]string{"hunter2-Tiger", "swordfish", "0755", "no", "user:open/sesame", "a\nline of its own\n", "tab\there", "replicas"})
	for said, want := range map[string]string{
		`"hunter2-Tiger" is none of Always, Never`:         `"***" is none of Always, Never`,
		`hunter2-Tiger is no number`:                       `*** is no number`,
		`cannot parse xhunter2-Tigerx`:                     `cannot parse x***x`,
		`"https://hunter2-Tiger/x" is no image`:            `"https://***/x" is no image`,
		`"swordfish" and 'swordfish' are none`:             `"***" and '***' are none`,
		`a swordfish is a word here`:                       `a swordfish is a word here`,
		`"a swordfish here", "swordfishes"`:                `"a *** here", "swordfishes"`,
		`mode 0755, not 10755`:                             `mode ***, not 10755`,
		`"no" has no meaning`:                              `"***" has no meaning`,
		`"sesame" came by a delimiter, "open" did as well`: `"***" came by a delimiter, "***" did as well`,
		`"line of its own" and "a\nline of its own"`:       `"***" and "***"`,

		`"tab\there"`:        `"***"`,
		`spec.replicas is 3`: `spec.replicas is 3`,
		`an end "without`:    `an end "without`,
		``:                   ``,
	} {
		if got := v.Masked(said); got != want {
			t.Errorf("%s:\n got %s\nwant %s", said, got, want)
		}
	}
	for text, want := range map[string]string{
		"--dsn=hunter2-Tiger": "--dsn=***", "swordfish": "swordfish", "0755": "0755", "open/sesame": "open/sesame", "user:open/sesame": "***", "line of its own": "***",
	} {
		if got := v.Content(text); got != want {
			t.Errorf("the field %s is shown as %s, want %s", text, got, want)
		}
	}
	for _, none := range []*redact.Values{nil, {}, redact.NewValues(nil), redact.NewValues([]string{"", " \n"})} {
		if got := none.Masked(`"no"`); got != `"no"` {
			t.Errorf("got %s", got)
		}
	}
}
