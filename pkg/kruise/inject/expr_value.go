package inject

import (
	"errors"
	"fmt"
	"math"

	"k8s.io/apimachinery/pkg/api/resource"
)

// value is a plain number, or a quantity when quantity is not nil.
type value struct {
	number   float64
	quantity *resource.Quantity
}

func plain(f float64) value            { return value{number: f} }
func amount(q resource.Quantity) value { return value{quantity: &q} }

// asQuantity turns a number into a quantity, at milli precision.
func (v value) asQuantity() (resource.Quantity, error) {
	if v.quantity != nil {
		return v.quantity.DeepCopy(), nil
	}
	return milli(v.number*1000, resource.DecimalSI)
}

// milli truncates f thousandths to a quantity.
func milli(f float64, format resource.Format) (resource.Quantity, error) {
	if math.IsNaN(f) || math.Abs(f) >= math.MaxInt64 {
		return resource.Quantity{}, errors.New("the result is out of range")
	}
	return *resource.NewMilliQuantity(int64(f), format), nil
}

// Evaluate computes the expression for the variable's value. A negative result
// is an error.
func (e *Expression) Evaluate(v resource.Quantity) (resource.Quantity, error) {
	return e.evaluate(amount(v))
}

// Check evaluates the expression as Kruise's validation does: with the plain
// number 1 for the variable. It therefore refuses some expressions that would
// work (memory-100Mi) and accepts some that fail at pod creation (cpu*cpu).
func (e *Expression) Check() error {
	_, err := e.evaluate(plain(1))
	return err
}

func (e *Expression) evaluate(v value) (resource.Quantity, error) {
	out, err := e.root.eval(v)
	if err != nil {
		return resource.Quantity{}, fmt.Errorf("expression %q: %w", e.text, err)
	}
	q, err := out.asQuantity()
	if err != nil {
		return q, fmt.Errorf("expression %q: %w", e.text, err)
	}
	if q.Sign() < 0 {
		return q, fmt.Errorf("expression %q: calculation result is negative: %s", e.text, q.String())
	}
	return q, nil
}

func (t literal) eval(value) (value, error)   { return t.v, nil }
func (variable) eval(v value) (value, error)  { return v, nil }
func (t negate) eval(v value) (value, error)  { return unaryMinus(t.of.eval(v)) }
func (t binary) eval(v value) (value, error)  { return both(t.left, t.right, v, t.apply) }
func (t extreme) eval(v value) (value, error) { return both(t.left, t.right, v, t.apply) }

func both(left, right term, v value, apply func(a, b value) (value, error)) (value, error) {
	a, err := left.eval(v)
	if err != nil {
		return value{}, err
	}
	b, err := right.eval(v)
	if err != nil {
		return value{}, err
	}
	return apply(a, b)
}

func unaryMinus(v value, err error) (value, error) {
	if err != nil || v.quantity == nil {
		return plain(-v.number), err
	}
	q := v.quantity.DeepCopy()
	q.Neg()
	return amount(q), nil
}

func (t binary) apply(a, b value) (value, error) {
	switch t.op {
	case '*':
		return multiply(a, b)
	case '/':
		return divide(a, b)
	}
	if a.quantity == nil && b.quantity == nil {
		if t.op == '-' {
			return plain(a.number - b.number), nil
		}
		return plain(a.number + b.number), nil
	}
	return quantities(a, b, func(x, y resource.Quantity) resource.Quantity {
		if t.op == '-' {
			x.Sub(y)
		} else {
			x.Add(y)
		}
		return x
	})
}

func multiply(a, b value) (value, error) {
	switch {
	case a.quantity != nil && b.quantity != nil:
		return value{}, errors.New("a quantity cannot be multiplied by a quantity")
	case a.quantity != nil:
		return scaled(*a.quantity, func(m float64) float64 { return m * b.number })
	case b.quantity != nil:
		return scaled(*b.quantity, func(m float64) float64 { return m * a.number })
	}
	return plain(a.number * b.number), nil
}

func divide(a, b value) (value, error) {
	switch {
	case b.quantity != nil:
		return value{}, errors.New("nothing can be divided by a quantity")
	case b.number == 0:
		return value{}, errors.New("division by zero")
	case a.quantity != nil:
		return scaled(*a.quantity, func(m float64) float64 { return m / b.number })
	}
	return plain(a.number / b.number), nil
}

// scaled computes on milli-units as float64 and truncates.
func scaled(q resource.Quantity, f func(float64) float64) (value, error) {
	out, err := milli(f(float64(q.MilliValue())), q.Format)
	return amount(out), err
}

func (t extreme) apply(a, b value) (value, error) {
	if a.quantity == nil && b.quantity == nil {
		if t.greater {
			return plain(max(a.number, b.number)), nil
		}
		return plain(min(a.number, b.number)), nil
	}
	return quantities(a, b, func(x, y resource.Quantity) resource.Quantity {
		if (x.Cmp(y) < 0) == t.greater {
			return y
		}
		return x
	})
}

func quantities(a, b value, f func(x, y resource.Quantity) resource.Quantity) (value, error) {
	x, err := a.asQuantity()
	if err != nil {
		return value{}, err
	}
	y, err := b.asQuantity()
	if err != nil {
		return value{}, err
	}
	return amount(f(x, y)), nil
}
