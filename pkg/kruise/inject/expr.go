package inject

import (
	"fmt"
	"strings"
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

// ParseExpression parses text, in which name (cpu or memory, in any case) is
// the variable. The error says what is wrong and at which column.
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
