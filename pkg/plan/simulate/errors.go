package simulate

import "errors"

// ErrStuck is what waiting ends with when nothing will ever happen again.
var ErrStuck = errors.New("nothing moves any more")
