package tree

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/resource"
)

// exponentDigits is how many digits an exponent of a quantity may have. Kubernetes caps
// amounts below 10^19 and rounds them up to 10^-9, but only after it has written them out:
// reading or comparing 1e2147483648 takes hours and all memory there is.
const exponentDigits = 3

// maxDigits is how many digits an amount may have: reading them takes time that grows with their
// square, seconds for a million. No amount that Kubernetes can hold needs more than 30.
const maxDigits = 1000

// Quantity reads an amount of a resource, such as 500m or 1Gi. What no cluster could hold is
// an error, as is what [resource.ParseQuantity] refuses.
func Quantity(text string) (resource.Quantity, error) {
	if err := oversized([]byte(text)); err != nil {
		return resource.Quantity{}, err
	}
	return resource.ParseQuantity(text)
}

var (
	errBoundless = fmt.Errorf("the exponent has more than %d digits", exponentDigits)
	errDigits    = fmt.Errorf("the amount has more than %d digits", maxDigits)
)

// oversized is why an amount in a text, which may be JSON, takes too long to read; nil if none does.
func oversized(text []byte) error {
	switch {
	case boundless(text):
		return errBoundless
	case manyDigits(text):
		return errDigits
	}
	return nil
}

// manyDigits reports whether a text has more digits in a row than an amount may have.
func manyDigits(text []byte) bool {
	if len(text) <= maxDigits {
		return false
	}
	run := 0
	for _, c := range text {
		if !isDigit(c) && c != '.' {
			run = 0
		} else if run++; run > maxDigits {
			return true
		}
	}
	return false
}

// boundless reports whether a text, which may be JSON, has a number, or a string that reads
// as one, with an exponent that is too long.
func boundless(text []byte) bool {
	for i := range text {
		if text[i]|0x20 != 'e' || !mantissa(text[:i]) {
			continue
		}
		from, to := i, i+1
		for from > 0 && (isDigit(text[from-1]) || text[from-1] == '.') {
			from--
		}
		if to < len(text) && isSign(text[to]) {
			to++
		}
		digits := to
		for to < len(text) && isDigit(text[to]) {
			to++
		}
		if to-digits > exponentDigits && begins(text[:from]) && ends(text[to:]) {
			return true
		}
	}
	return false
}

// mantissa reports whether an exponent may follow: behind digits, and also behind none,
// which [resource.ParseQuantity] reads as 0.
func mantissa(before []byte) bool {
	n := len(before)
	return n > 0 && (isDigit(before[n-1]) || before[n-1] == '.') || begins(before)
}

// begins and ends report whether a number can follow, or precede, a text.
func begins(before []byte) bool {
	n := len(before)
	if n > 0 && isSign(before[n-1]) {
		n--
	}
	return n == 0 || before[n-1] == '"' || before[n-1] == ':' || before[n-1] == ',' || before[n-1] == '['
}

func ends(behind []byte) bool {
	return len(behind) == 0 || behind[0] == '"' || behind[0] == ',' || behind[0] == ']' || behind[0] == '}'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isSign(c byte) bool  { return c == '+' || c == '-' }

// bounded refuses a document in which an oversized amount is where t has a quantity.
func bounded(n *Node, t reflect.Type) error {
	f := locate(n, t, "", func(n *Node, t reflect.Type) error {
		if t != reflect.TypeFor[resource.Quantity]() {
			return nil
		}
		return oversized([]byte(Str(n)))
	})
	if f == nil {
		return nil
	}
	return Errorf(n, f.path, "write the amount out, such as 500m or 1Gi", "%v", f.err)
}
