package secretive

import (
	"encoding/base64"
	"strings"
	"testing"
)

// TestShown: every secret of the objects is found, in plain text and as a Secret has it.
func TestShown(t *testing.T) {
	text := Secrets("shop", "one") + Plain("registry.example.com/web:1") + Wordy("one", "registry.example.com/web:1")
	if got, want := strings.Count(Shown(text), Word), strings.Count(text, Word); got != want || want < 10 {
		t.Errorf("%d of %d secrets were found:\n%s", got, want, Shown(text))
	}
	if encoded := base64.StdEncoding.EncodeToString([]byte(Word + "-one-secret")); Shown("a line\ndata: "+encoded) == "" {
		t.Errorf("%s was not found", encoded)
	}
	if got := Shown(strings.ReplaceAll(text, Word, "***")); got != "" {
		t.Errorf("found %q where there is none", got)
	}
	for _, left := range []string{"VALUE", "NAMESPACE", "IMAGE"} {
		if strings.Contains(text, left) {
			t.Errorf("%s was not filled in", left)
		}
	}
}
