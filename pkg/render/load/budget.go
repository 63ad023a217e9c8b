package load

import (
	"fmt"
	"sync/atomic"

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

func newBudget(opt Options) *budget { return &budget{opt: opt.withDefaults()} }

// left is how many bytes may still be read.
func (b *budget) left() int64 { return max(b.opt.MaxInputBytes-b.bytes.Load(), 0) }

// room is how many documents there may still be.
func (b *budget) room() int { return max(b.opt.MaxObjects-int(b.documents.Load()), 0) }

// read reads a source, no further than the input may be long.
func (b *budget) read(s source) ([]byte, error) {
	limit := min(b.opt.MaxFileBytes, b.left())
	text, err := s.read(limit)
	_, large := largeError(err)
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
