package inject

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

type tokenKind int

const (
	end tokenKind = iota
	number
	word
	symbol
)

type token struct {
	kind  tokenKind
	text  string
	at    int
	value value
}

type lexer struct {
	text string
	pos  int
}

var (
	numeral = regexp.MustCompile(`^(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?`)
	letters = regexp.MustCompile(`^[A-Za-z_]+`)
)

// suffixes that make a number a quantity; E and Ei are not among them.
var suffixes = map[string]bool{
	"m": true, "k": true, "M": true, "G": true, "T": true, "P": true,
	"Ki": true, "Mi": true, "Gi": true, "Ti": true, "Pi": true,
}

func (l *lexer) scan() (token, error) {
	rest := strings.TrimLeft(l.text[l.pos:], " \t\r\n")
	l.pos = len(l.text) - len(rest)
	if rest == "" {
		return token{kind: end, at: l.pos}, nil
	}
	tok := token{at: l.pos}
	switch {
	case numeral.MatchString(rest):
		tok.kind = number
		tok.text, tok.value = numeric(rest)
	case letters.MatchString(rest):
		tok.kind, tok.text = word, letters.FindString(rest)
	case strings.IndexByte("+-*/(),", rest[0]) >= 0:
		tok.kind, tok.text = symbol, rest[:1]
	default:
		return tok, fmt.Errorf("syntax error at column %d of %q", l.pos+1, l.text)
	}
	l.pos += len(tok.text)
	return tok, nil
}

// numeric reads a number with what sticks to it. A suffix that is none makes
// the whole worth 0, silently, as in Kruise.
func numeric(s string) (string, value) {
	digits := numeral.FindString(s)
	suffix := letters.FindString(s[len(digits):])
	whole := digits + suffix
	if suffix == "" {
		f, err := strconv.ParseFloat(digits, 64)
		if err != nil {
			return whole, plain(0)
		}
		if strings.HasPrefix(s[len(digits):], "%") {
			return digits + "%", plain(f / 100)
		}
		return whole, plain(f)
	}
	if !suffixes[suffix] {
		return whole, plain(0)
	}
	q, err := tree.Quantity(whole)
	if err != nil {
		return whole, plain(0)
	}
	return whole, amount(q)
}
