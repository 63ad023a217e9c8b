package load

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// budget bounds what all files of an input hold together, before any of it is parsed: a
// file may be as large as MaxFileBytes, but not each of a hundred.
type budget struct {
	opt              Options
	bytes, documents atomic.Int64
	// over is set once there is more.
	over atomic.Bool
}

// read reads a source, no further than the input may be long.
func (b *budget) read(s source) ([]byte, error) {
	limit := min(b.opt.MaxFileBytes, max(b.opt.MaxInputBytes-b.bytes.Load(), 0))
	text, err := s.read(limit)
	_, large := errors.AsType[sizeError](err)
	// Others may have read meanwhile what this source was given, too.
	together := b.bytes.Add(int64(len(text)))
	if large && limit < b.opt.MaxFileBytes || together > b.opt.MaxInputBytes {
		b.over.Store(true)
		return nil, b.fault()
	}
	return text, err
}

func (b *budget) fault() error {
	return &resource.Error{
		Err:  fmt.Errorf("all files together are larger than %s", size(b.opt.MaxInputBytes)),
		Hint: "read parts of them apart, or raise the limit with --limit input-bytes=N",
	}
}

// values counts the values and keys of all documents of an input, and the bytes of these with
// aliases written out, against limits, on all cores.
type values struct {
	most        int
	mostBytes   int64
	seen, bytes atomic.Int64
}

func (v *values) exceeded() bool {
	return v.seen.Load() > int64(v.most) || v.bytes.Load() > v.mostBytes
}

func (v *values) fault() error {
	if v.seen.Load() <= int64(v.most) {
		return &resource.Error{
			Err:  fmt.Errorf("all files together are larger than %s with their aliases written out", size(v.mostBytes)),
			Hint: "read parts of them apart, or raise the limit with --limit input-bytes=N",
		}
	}
	return &resource.Error{
		Err:  fmt.Errorf("the input holds more than %d values and keys", v.most),
		Hint: "read parts of it apart, or raise the limit with --limit values=N",
	}
}

// large is from which size on a document is counted before a parser sees it, too: those
// below add little beyond the limit.
const large = 1 << 18

// parseCounted parses the document unless the input holds too much already.
func (d document) parseCounted(opt Options, v *values) ([]*resource.Resource, error) {
	if v.exceeded() {
		return nil, nil
	}
	beforehand := int64(0)
	if len(d.text) >= large {
		beforehand = int64(min(tree.Separators(d.text), opt.MaxNodes))
		if v.seen.Add(beforehand); v.exceeded() {
			return nil, nil
		}
	}
	rs, err := d.parse(opt)
	var w tree.Weight
	for _, r := range rs {
		w = w.Add(tree.Count(r.Node()))
	}
	v.seen.Add(w.Nodes - beforehand)
	v.bytes.Add(w.Bytes)
	return rs, err
}
