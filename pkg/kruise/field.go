package kruise

import (
	"strconv"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// field is one row of a kind's table: something that the two versions spell
// differently. up goes to the newest version, down to the older one.
type field interface {
	up(c *conversion)
	down(c *conversion)
}

// moved is a field with another name or place. in is where both paths start,
// with brackets for lists; it may be empty.
type moved struct{ in, older, newer string }

func (m moved) up(c *conversion)   { m.move(c, m.older, m.newer) }
func (m moved) down(c *conversion) { m.move(c, m.newer, m.older) }

func (m moved) move(c *conversion, from, to string) {
	c.each(m.in, func(n *tree.Node, at string) {
		if tree.Get(n, steps(to)...) != nil {
			c.stray(join(at, to))
			c.takeBelow(n, steps(to), m.keep())
		}
		c.forgetNull(n, steps(from))
		value := tree.Get(n, steps(from)...)
		switch {
		case value == nil:
		case strings.Contains(from+to, "."):
			if c.setBelow(n, steps(to), value) {
				c.takeBelow(n, steps(from), m.keep())
			}
		default:
			tree.Replace(n, from, to, value)
		}
	})
}

// keep is how many parents of the paths stay although empty: spec and status.
func (m moved) keep() int {
	if m.in == "" {
		return 1
	}
	return 0
}

// added is a field that only the newest version has.
type added struct{ in, field string }

func (a added) up(c *conversion)   { a.drop(c, c.stray) }
func (a added) down(c *conversion) { a.drop(c, c.absent) }

func (a added) drop(c *conversion, report func(path string)) {
	c.each(a.in, func(n *tree.Node, at string) {
		keys := steps(a.field)
		v := tree.Get(n, keys...)
		if v == nil && !c.forgetNull(n, keys) {
			return
		}
		c.takeBelow(n, keys, 1)
		switch {
		case v != nil && !empty(v):
			report(join(at, a.field))
		case c.deciding:
			c.unknown = append(c.unknown, join(at, a.field))
		}
	})
}

// empty reports a zero value, as Go's encoder writes them, and a mapping of nothing but explicit
// nulls, which says no more.
func empty(n *tree.Node) bool {
	if tree.IsMap(n) {
		some := false
		tree.Each(n, func(_, value *tree.Node) { some = some || !tree.IsNull(value) })
		return !some
	}
	return tree.IsSeq(n) && len(n.Content) == 0
}

// annotated is a field that the older version keeps in an annotation. The
// annotation stays where it is when the field is read from it.
type annotated struct {
	annotation, field string
	// fieldToo: the older version has the field beside the annotation.
	fieldToo bool
	as       form
}

func (a annotated) up(c *conversion) {
	if !a.fieldToo && c.get(a.field) != nil {
		c.stray(a.field)
		c.take(a.field)
	}
	text := tree.StrAt(c.get(annotationsPath), a.annotation)
	if v := a.as.parse(text); text != "" && v != nil {
		c.set(a.field, v)
	}
}

// down leaves an annotation as it is if the field is unset or false: in the older version the
// annotation then counts.
func (a annotated) down(c *conversion) {
	v := c.take(a.field)
	// A scalar as it was written, and a list with commas.
	var items []string
	for _, item := range tree.Items(v) {
		items = append(items, tree.Str(item))
	}
	said, before := tree.Str(v)+strings.Join(items, ","), tree.StrAt(c.get(annotationsPath), a.annotation)
	switch {
	case said != "" && said != "false":
		c.annotate(a.annotation, said)
	case v != nil && before != "" && a.as.parse(before) != nil:
		c.lose(a.field, "%s reads the annotation %s instead, which is %s", c.to, a.annotation, before)
	}
}

// form is how an annotation spells a value.
type form int

const (
	number form = iota
	// numberOrText takes text that is no number as it is.
	numberOrText
	commaList
	// whenTrue only means something when it is "true".
	whenTrue
)

// parse reads an annotation; nil is no value.
func (f form) parse(text string) *tree.Node {
	switch f {
	case commaList:
		list := tree.Seq()
		for item := range strings.SplitSeq(text, ",") {
			list.Content = append(list.Content, tree.String(strings.TrimSpace(item)))
		}
		return list
	case whenTrue:
		if text == "true" {
			return tree.Boolean(true)
		}
		return nil
	}
	v, err := strconv.ParseInt(text, 10, 32)
	switch {
	case err == nil:
		return tree.Int64(v)
	case f == numberOrText:
		return tree.String(text)
	}
	return nil
}

// refused is a field without which the older version would be another object:
// there is no such object in the older version.
type refused struct{ field string }

func (r refused) up(c *conversion) { added{"", r.field}.up(c) }

func (r refused) down(c *conversion) {
	if c.get(r.field) != nil {
		c.err = tree.Errorf(c.root, r.field, "keep the object in its version", "%s cannot express this", c.to)
	}
}

// inverted is a boolean whose opposite the older version has; both are false
// when left out.
type inverted struct{ older, newer string }

func (i inverted) up(c *conversion)   { i.turn(c, i.older, i.newer) }
func (i inverted) down(c *conversion) { i.turn(c, i.newer, i.older) }

func (i inverted) turn(c *conversion, from, to string) {
	if c.get(to) != nil {
		c.stray(to)
		c.take(to)
	}
	c.forgetNull(c.root, steps(from))
	v := c.take(from)
	switch {
	case v != nil && !tree.IsBool(v):
		c.set(to, v) // a wrong type stays one
	case !tree.Bool(v):
		c.set(to, tree.Boolean(true))
	}
}

// oneWay is part of a row that turns nothing back.
type oneWay struct{}

func (oneWay) down(*conversion) {}
