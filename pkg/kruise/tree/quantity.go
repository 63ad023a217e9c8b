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

// Quantity reads an amount of a resource, such as 500m or 1Gi. What no cluster could hold is
// an error, as is what [resource.ParseQuantity] refuses.
func Quantity(text string) (resource.Quantity, error) {
	if boundless([]byte(text)) {
		return resource.Quantity{}, errBoundless
	}
	return resource.ParseQuantity(text)
}

var errBoundless = fmt.Errorf("the exponent has more than %d digits", exponentDigits)

// boundless reports whether something in a text may be a number with an exponent that is
// too long.
func boundless(text []byte) bool {
	for i := 1; i < len(text); i++ {
		if (text[i] == 'e' || text[i] == 'E') && (isDigit(text[i-1]) || text[i-1] == '.') && exponent(text[i+1:]) > exponentDigits {
			return true
		}
	}
	return false
}

// exponent counts the digits of an exponent at the beginning of a text.
func exponent(text []byte) (digits int) {
	if len(text) > 0 && (text[0] == '+' || text[0] == '-') {
		text = text[1:]
	}
	for digits < len(text) && isDigit(text[digits]) {
		digits++
	}
	return digits
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// bounded refuses a document in which such a number stands where t has a quantity.
func bounded(n *Node, t reflect.Type) error {
	f := locate(n, t, "", func(n *Node, t reflect.Type) error {
		if t == reflect.TypeFor[resource.Quantity]() && boundless([]byte(Str(n))) {
			return errBoundless
		}
		return nil
	})
	if f == nil {
		return nil
	}
	return Errorf(n, f.path, "write the amount out, such as 500m or 1Gi", "%v", f.err)
}
