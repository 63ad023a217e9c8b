package clusterread

import "testing"

// FuzzSelector: any text after -l is a selector or an error.
func FuzzSelector(f *testing.F) {
	for _, text := range []string{"a=b,c!=d", "a in (b,c),!d", "a notin ()", "((", ",,", "a gt 9999999999999999999999", "x in (,)"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 64 {
			return
		}
		if ParseSelector(text) == nil && ParseSelector(joinSelectors(text, "x=y")) != nil {
			t.Errorf("%q alone is one, and not with another", text)
		}
	})
}
