package inject

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// maxNesting bounds the depth of parentheses, signs and calls in an
// expression, so that no input exhausts the stack.
const maxNesting = 200

// Expression is one parsed expression of a resourcesPolicy
// (docs/kruise/sidecarset.md#resources-policy): + - * /, unary minus, parentheses, max(a,b),
// min(a,b), one variable, numbers, percentages and quantities.
type Expression struct {
	text string
	root term
}

// term is a node of the parsed expression.
type term interface {
	eval(variable value) (value, error)
}

type (
	literal  struct{ v value }
	variable struct{}
	negate   struct{ of term }
	binary   struct {
		op          byte
		left, right term
	}
	// extreme is max (greater true) or min.
	extreme struct {
		greater     bool
		left, right term
	}
)

// ParseExpression parses text, in which name (cpu or memory, in any case) is the variable. The
// error has the reason and the column.
func ParseExpression(text, name string) (*Expression, error) {
	p := &parser{lexer: lexer{text: text}, name: name}
	if err := p.next(); err != nil {
		return nil, err
	}
	root, err := p.sum(0)
	if err != nil {
		return nil, err
	}
	if p.tok.kind != end {
		return nil, p.unexpected()
	}
	return &Expression{text: text, root: root}, nil
}

// parser is a recursive descent over one token of look-ahead; depth counts the
// nesting.
type parser struct {
	lexer
	name string
	tok  token
}

func (p *parser) next() (err error) {
	p.tok, err = p.scan()
	return err
}

func (p *parser) unexpected() error {
	if p.tok.kind == end {
		return fmt.Errorf("syntax error: the expression %q ends too early", p.text)
	}
	return fmt.Errorf("syntax error at column %d of %q: unexpected %q", p.tok.at+1, p.text, p.tok.text)
}

func (p *parser) sum(depth int) (term, error) {
	return p.chain(depth, "+-", p.product)
}

func (p *parser) product(depth int) (term, error) {
	return p.chain(depth, "*/", p.unary)
}

// chain reads operands joined by operators of one rank, left to right.
func (p *parser) chain(depth int, ops string, operand func(int) (term, error)) (term, error) {
	left, err := operand(depth)
	for err == nil && p.tok.kind == symbol && strings.Contains(ops, p.tok.text) {
		op := p.tok.text[0]
		if err = p.next(); err != nil {
			break
		}
		var right term
		if right, err = operand(depth); err == nil {
			left = binary{op, left, right}
		}
	}
	return left, err
}

func (p *parser) unary(depth int) (term, error) {
	if depth > maxNesting {
		return nil, fmt.Errorf("the expression is nested deeper than %d levels", maxNesting)
	}
	if !p.is("-") {
		return p.primary(depth)
	}
	if err := p.next(); err != nil {
		return nil, err
	}
	of, err := p.unary(depth + 1)
	return negate{of}, err
}

func (p *parser) primary(depth int) (term, error) {
	tok := p.tok
	switch {
	case tok.kind == number:
		return literal{tok.value}, p.next()
	case tok.kind == word && (tok.text == "max" || tok.text == "min"):
		return p.call(depth)
	case tok.kind == word && strings.EqualFold(tok.text, p.name):
		return variable{}, p.next()
	case tok.kind == word:
		return nil, fmt.Errorf("unknown name %q at column %d of %q: only %s, max and min are known here", tok.text, tok.at+1, p.text, p.name)
	case p.is("("):
		if err := p.next(); err != nil {
			return nil, err
		}
		inner, err := p.sum(depth + 1)
		if err != nil {
			return nil, err
		}
		return inner, p.expect(")")
	}
	return nil, p.unexpected()
}

// call reads max(a,b) or min(a,b), exactly two arguments.
func (p *parser) call(depth int) (term, error) {
	e := extreme{greater: p.tok.text == "max"}
	if err := p.next(); err != nil {
		return nil, err
	}
	if err := p.expect("("); err != nil {
		return nil, err
	}
	var err error
	if e.left, err = p.sum(depth + 1); err != nil {
		return nil, err
	}
	if err := p.expect(","); err != nil {
		return nil, err
	}
	if e.right, err = p.sum(depth + 1); err != nil {
		return nil, err
	}
	return e, p.expect(")")
}

func (p *parser) is(text string) bool { return p.tok.kind == symbol && p.tok.text == text }

func (p *parser) expect(text string) error {
	if !p.is(text) {
		return p.unexpected()
	}
	return p.next()
}

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

// numeric reads a number with its suffix. An invalid suffix makes the value 0, silently, as in
// Kruise.
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
func (t binary) eval(v value) (value, error)  { return evaluateBoth(t.left, t.right, v, t.apply) }
func (t extreme) eval(v value) (value, error) { return evaluateBoth(t.left, t.right, v, t.apply) }

func (t negate) eval(v value) (value, error) {
	out, err := t.of.eval(v)
	if err != nil || out.quantity == nil {
		return plain(-out.number), err
	}
	q := out.quantity.DeepCopy()
	q.Neg()
	return amount(q), nil
}

func evaluateBoth(left, right term, v value, apply func(a, b value) (value, error)) (value, error) {
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
