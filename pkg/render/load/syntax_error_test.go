package load

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// TestOddBreaks_MatchesTheExpression holds the scan against the expression that says what is meant.
func TestOddBreaks_MatchesTheExpression(t *testing.T) {
	meant := regexp.MustCompile("\r[^\n]|[\u0085\u2028\u2029]")
	parts := []string{"a", "\r", "\n", "\r\n", "é", "\u0085", "\u2028", "\u2029", "\xe2\x80"}
	random := rand.New(rand.NewPCG(1, 2))
	odd := 0
	for range 20000 {
		text := ""
		for range random.IntN(8) {
			text += parts[random.IntN(len(parts))]
		}
		want := meant.MatchString(text)
		if got := oddBreaks([]byte(text)); got != want {
			t.Fatalf("%q: %v, want %v", text, got, want)
		}
		if want {
			odd++
		}
	}
	if odd == 0 || odd == 20000 {
		t.Errorf("%d texts of 20000 are odd: nothing was compared", odd)
	}
}

// TestSyntaxError_OfLargeTextHasTheLineOfTheParser: the line at which a large text is broken is the parser's own.
func TestSyntaxError_OfLargeTextHasTheLineOfTheParser(t *testing.T) {
	text := "a: 1\n# " + strings.Repeat("x", maxReread) + "\nb: \"c\n"
	if n := (document{text: []byte(text), line: 1}).syntaxErrorLine(); n != 0 {
		t.Errorf("line %d", n)
	}
	if _, err := Parse("f", []byte(text)); err == nil || !strings.Contains(err.Error(), "the YAML is broken") {
		t.Error(err)
	}
}
