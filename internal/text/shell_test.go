package text

import "testing"

func TestShellWord_QuotesOnlyWhatAShellWouldRead(t *testing.T) {
	for in, want := range map[string]string{
		"shop": "shop", "arn:aws:eks:eu-1:42:cluster/prod": "arn:aws:eks:eu-1:42:cluster/prod", "user@prod": "user@prod",
		"": "''", "my cluster": "'my cluster'", "$(id)": "'$(id)'", "it's": `'it'\''s'`, "a;b": "'a;b'",
	} {
		if got := ShellWord(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}
