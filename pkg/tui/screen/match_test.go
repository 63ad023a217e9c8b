package screen

import "testing"

func TestMatch_FindsNamesWordsAndLabels(t *testing.T) {
	labels := map[string]string{"app": "web", "team": "shop"}
	for text, want := range map[string]bool{
		"": true, "sfr": true, "FRONT": true, "frs": false, "clone": true, "clne": false, "stuck front": true, "healthy": false,
		"app=web": true, "app=web,team!=shop": false, "app!=db front": true, "app=db": false, "=": false, "a=b=c": false,
	} {
		if got := NewMatch(text).Row(labels, "storefront", "cloneset/storefront", "stuck"); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
